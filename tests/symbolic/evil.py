"""Policies that hide a raw reward where a reader of symbols might not look; none may be proved.

Each is a private doubling policy whose `peek` keeps the last raw reward somewhere and whose `leak`
decides by it. `STYLES` gives the text of both, and what goes to module level.
"""

BASE = """
import numpy as np
{top}

class Policy:
{level}
    def __init__(self, arms, epsilon):
        self.counts = np.zeros(arms, dtype=int)
        self.means = np.zeros(arms)
        self.total, self.left, self.arm, self.t, self.epsilon = 0.0, 0, 0, 0, epsilon
        {init}

    def select(self):
        if self.left == 0:
            if self.counts.min() == 0:
                self.arm = int(np.argmin(self.counts))
            elif self.leak():
                self.arm = 0
            else:
                self.arm = int(np.argmax(self.means + 1 / self.counts))
            self.left = self.size = max(1, int(self.counts[self.arm]))
            self.total = 0.0
        return self.arm

    def update(self, arm, reward):
        self.t += 1
        self.total += reward
        self.left -= 1
        self.peek(reward)
        if self.left == 0:
            self.counts[arm] += self.size
            self.means[arm] = (self.total + np.random.laplace(0, 1 / self.epsilon)) / self.size

    def peek(self, reward):
        {peek}

    def leak(self):
        {leak}
"""


def policy(peek, leak, top="", level="", init="pass"):
    return BASE.format(peek=peek, leak=leak, top=top, level=level, init=init)


STYLES = {
    "plain attribute": policy("self.last = reward", "return self.last > 0.5"),
    "global": policy("global LAST; LAST = reward", "return LAST > 0.5", "LAST = 0"),
    "global public count": policy(
        "global N; N += 1; self.last = reward if N > 3 else 0", "return self.last > 0.5", "N = 0"
    ),
    "global list": policy("LAST.append(reward)", "return LAST[-1] > 0.5", "LAST = []"),
    "class attribute": policy(
        "Policy.last = reward", "return Policy.last > 0.5", level="    last = 0"
    ),
    "class list": policy(
        "self.last[0] = reward", "return self.last[0] > 0.5", level="    last = [0]"
    ),
    "default": policy(
        "remember(reward)",
        "return remember() > 0.5",
        "def remember(x=None, kept=[0]):\n    if x is not None: kept[0] = x\n    return kept[0]",
    ),
    "closure": policy(
        "PUT(reward)",
        "return GET() > 0.5",
        "def make():\n    kept = 0\n    def put(x):\n        nonlocal kept\n        kept = x\n"
        "    def get():\n        return kept\n    return put, get\nPUT, GET = make()",
    ),
    "own closure": policy(
        "self.put(reward)",
        "return self.get() > 0.5",
        "def make():\n    kept = 0\n    def put(x):\n        nonlocal kept\n        kept = x\n"
        "    def get():\n        return kept\n    return put, get",
        init="self.put, self.get = make()",
    ),
    "generator": policy(
        "self.g.send(reward)",
        "return self.g.send(None) > 0.5",
        "def keep():\n    kept = 0\n    while True:\n        x = yield kept\n"
        "        kept = kept if x is None else x",
        init="self.g = keep(); next(self.g)",
    ),
    "file": policy(
        "open('kept', 'w').write(str(reward))", "return float(open('kept').read()) > 0.5"
    ),
    "pathlib": policy(
        "Path('kept').write_text(str(reward))",
        "return float(Path('kept').read_text()) > 0.5",
        "from pathlib import Path",
    ),
    "exception": policy("self.e = ValueError(reward)", "return self.e.args[0] > 0.5"),
    "module exception": policy("E.kept = reward", "return E.kept > 0.5", "E = ValueError()"),
    "exception class": policy(
        "Kept.last = reward", "return Kept.last > 0.5", "class Kept(Exception):\n    last = 0"
    ),
    "array view": policy(
        "self.view[0] = reward",
        "return self.base[0] > 0.5",
        init="self.base = np.zeros(3); self.view = self.base[:1]",
    ),
    "dict": policy("self.__dict__['last'] = reward", "return self.__dict__['last'] > 0.5"),
    "slots": policy(
        "self.box.put(reward)",
        "return self.box.get() > 0.5",
        "class Box:\n    __slots__ = ('__x',)\n    def put(self, x):\n        self.__x = x\n"
        "    def get(self):\n        return self.__x",
        init="self.box = Box(); self.box.put(0)",
    ),
    "thread": policy(
        "threading.local().x = reward; self.last = reward",
        "return self.last > 0.5",
        "import threading",
    ),
    "ctypes": policy(
        "self.c = ctypes.c_double(reward)", "return self.c.value > 0.5", "import ctypes"
    ),
    "struct": policy(
        "self.c = struct.pack('d', reward)",
        "return struct.unpack('d', self.c)[0] > 0.5",
        "import struct",
    ),
    "text": policy("self.c = f'{reward}'", "return float(self.c) > 0.5"),
    "repr": policy("self.c = repr(reward)", "return float(self.c) > 0.5"),
    "hash": policy("self.c = {reward: 1}", "return list(self.c)[0] > 0.5"),
    "int": policy("self.c = int(2 * reward)", "return self.c > 0"),
    "round": policy("self.c = round(reward)", "return self.c > 0"),
    "index": policy("self.c = [0, 1][int(reward)]", "return self.c > 0"),
    "numpy module": policy("np.kept = reward", "return np.kept > 0.5"),
    "numpy function": policy("np.sqrt.kept = reward", "return np.sqrt.kept > 0.5"),
    "numpy dict": policy("np.__dict__['kept'] = reward", "return np.__dict__['kept'] > 0.5"),
    "library class": policy(
        "Counter.kept = reward", "return Counter.kept > 0.5", "from collections import Counter"
    ),
    "library function": policy(
        "copy.copy.kept = reward", "return copy.copy.kept > 0.5", "import copy"
    ),
    "counter attribute": policy(
        "self.c.kept = reward",
        "return self.c.kept > 0.5",
        "from collections import Counter",
        init="self.c = Counter(); self.c.kept = 0",
    ),
    "bound append": policy(
        "self.push(reward)",
        "return self.kept[-1] > 0.5",
        init="self.kept = [0]; self.push = self.kept.append",
    ),
    "enum": policy(
        "C.RED.kept = reward",
        "return C.RED.kept > 0.5",
        "import enum\nclass C(enum.Enum):\n    RED = 1",
    ),
    "cache": policy(
        "kept(self.t); self.last = reward",
        "return self.last > 0.5",
        "import functools\n@functools.lru_cache\ndef kept(n):\n    return n",
    ),
    "cached noise": policy(
        "self.n = noise(len(self.means)); self.last = reward + self.n",
        "return self.last > 0.5",
        "import functools\n@functools.lru_cache\ndef noise(n):\n    return np.random.laplace(0, 1)",
    ),
    "local class": policy(
        "self.kind.kept = reward",
        "return self.kind.kept > 0.5",
        "def make():\n    class Kept:\n        kept = 0\n    return Kept",
        init="self.kind = make()",
    ),
    "local object": policy(
        "type(self.it).kept = reward",
        "return type(self.it).kept > 0.5",
        "def make():\n    class Kept:\n        kept = 0\n    return Kept()",
        init="self.it = make()",
    ),
    "globals by string": policy(
        "getattr(self.peek, '__glo' + 'bals__')['K'] = reward",
        "return getattr(self.peek, '__glo' + 'bals__')['K'] > 0.5",
    ),
    "frames": policy(
        "self.f = sys._getframe(); self.last = reward", "return self.last > 0.5", "import sys"
    ),
    "swallowed escape": policy(
        "try:\n            self.c = int(2 * reward)\n        except BaseException:\n            self.c = 0",
        "return self.c > 0",
    ),
    "caught domain error": policy(
        "self.last = reward",
        "try:\n            math.sqrt(self.last - 0.5)\n            return True\n"
        "        except ValueError:\n            return False",
        "import math",
    ),
    "suppressed domain error": policy(
        "self.last = reward",
        "with contextlib.suppress(ValueError):\n            math.sqrt(self.last - 0.5)\n"
        "            return True\n        return False",
        "import contextlib, math",
    ),
    "context that catches": policy(
        "self.last = reward",
        "with Quiet():\n            math.log(self.last)\n            return True\n"
        "        return False",
        "import math\nclass Quiet:\n    def __enter__(self):\n        return self\n"
        "    def __exit__(self, *_):\n        return True",
    ),
    "caught division": policy(
        "self.last = reward",
        "try:\n            1 / self.last\n            return True\n"
        "        except ZeroDivisionError:\n            return False",
    ),
    "nan": policy(
        "self.last = reward", "x = np.sqrt(self.last - 0.5)\n        return bool(x != x)"
    ),
    "isnan": policy("self.last = reward", "return bool(np.isnan(np.sqrt(self.last - 0.5)))"),
    "seeded noise": policy(
        "self.last = reward + np.random.default_rng(7).laplace(0, 1)", "return self.last > 0.5"
    ),
    "reseeding": policy(
        "np.random.seed(1); self.last = reward + np.random.laplace(0, 1)", "return self.last > 0.5"
    ),
    "tie": policy("self.last = reward * 1.0", "return self.last == 1.0"),
    "sorting": policy("self.last = reward", "return sorted([self.last, 0.5])[0] == 0.5"),
    "where": policy(
        "self.last = reward", "return bool(np.where(np.array([self.last]) > 0.5)[0].size)"
    ),
    "normal noise": policy("self.last = reward + np.random.normal(0, 9)", "return self.last > 0.5"),
    "one coin for two": policy(
        "self.last = reward",
        "u = np.random.rand()\n        return u < 0.25 + self.last / 2 and u < 0.5",
    ),
    "old coin": policy(
        "self.last = reward",
        "return self.u < 0.25 + self.last / 2",
        init="self.u = np.random.rand(); self.b = self.u < 0.5",
    ),
    "coin of a sum": policy(
        "self.s = reward if self.t % 4 == 1 else self.s + reward",
        "return np.random.rand() < 0.3 + self.s / 10",
        init="self.s = 0",
    ),
    "empty memory": policy("self.last = np.empty(1)[0] + reward", "return self.last > 0.5"),
    "small integers": policy(
        "self.n[0] += 1; self.last = reward",
        "return self.n[0] < 0 and self.last > 0.5",
        init="self.n = np.zeros(1, dtype=np.int8)",
    ),
    "clock": policy(
        "self.last = reward", "return time.time() < 0 or self.last > 0.5", "import time"
    ),
    "set order": policy("self.c = {('a', self.t)}; self.last = reward", "return self.last > 0.5"),
    "weak": policy(
        "self.w = weakref.ref(self); self.last = reward", "return self.last > 0.5", "import weakref"
    ),
    "scale": policy("self.last = np.random.laplace(0, 0.1 + reward)", "return self.last > 0.5"),
}
