"""Policies that ask who they talk to, or whose states look equal and are not: all of them leak."""

TELLS = {
    "subclass": "issubclass(type(reward), float)",
    "name of the type": "type(reward).__name__ in ('float', 'float64', 'int')",
    "name of the class": "reward.__class__.__name__ in ('float', 'float64', 'int')",
    "module of the type": "type(reward).__module__ in ('builtins', 'numpy')",
    "generator": "type(self.rng).__name__ == 'Generator'",
    "module": "type(np).__name__ == 'module'",
    "text of types": "repr(float) == \"<class 'float'>\" and repr(int) == \"<class 'int'>\"",
    "identity of float": "float is (1.0).__class__",
    "builtins": "max.__class__ is len.__class__ and abs.__name__ == 'abs'",
    "through getattr": "getattr(type(reward), '__name__') == 'float'",
    "text of a builtin": "'built-in' in str(max)",
    "text of a builtin in a format": "'built-in' in f'{abs}'",
    "text of a builtin by %": "'built-in' in '%s' % (abs,)",
    "text of a type": "'Generator' in f'{type(self.rng)}'",
    "format": "'{0.__class__.__name__}'.format(reward) in ('float', 'float64')",
    "an attribute of ours": "not hasattr(reward, 'rows')",
    "another attribute of ours": "getattr(reward, 'rest', None) is None",
    "an attribute of our arrays": "not hasattr(np.zeros(1), 'store')",
    "the numbers of an array": "np.zeros(1).real is not None",
    "an attribute of our generator": "not hasattr(self.rng, 'fixed')",
    "text of the generator": "'Generator' in repr(self.rng)",
}
TELLING = """
import numpy as np

class Policy:
    def __init__(self, arms, epsilon, rng):
        self.arm, self.rng = 0, rng

    def select(self):
        return self.arm

    def update(self, arm, reward):
        if {condition}:
            if 0.3 < reward < 0.30001:
                self.arm = 1
"""

# what one branch keeps, what the other keeps, and what tells them apart
LOOKALIKES = {
    "sets": ("{0, 8}", "{8, 0}", "list(self.x)[0] == 8"),
    "frozen sets": ("frozenset([0, 8])", "frozenset([8, 0])", "list(self.x)[0] == 8"),
    "popped sets": ("{0, 8}", "{8, 0}", "self.x.copy().pop() == 8"),
    "sets of text": ("{'a', 'b', 'c'}", "{'c', 'b', 'a'}", "list(self.x)[0] == 'c'"),
    "ranges": ("range(0, 1)", "range(0, 1, 5)", "self.x.step == 5"),
    "nan by identity": ("self.nan", "float('nan')", "not (self.x is self.nan)"),
    "nan in a list": ("self.nan", "float('nan')", "not (self.x in [self.nan])"),
    "nan as a key": ("{self.nan: 1}", "{float('nan'): 1}", "not (self.nan in self.x)"),
    "whole numbers": ("self.number", "int('1000')", "not (self.x is self.number)"),
    "operator": ("self.number", "int('1000')", "operator.is_not(self.x, self.number)"),
    "texts": ("self.text", "''.join(['xy', ' z'])", "self.x is not self.text"),
}
LOOKING_ALIKE = """
import operator

class Policy:
    def __init__(self, arms, epsilon, rng):
        self.rng, self.t, self.raw, self.x = rng, 0, 0.0, None
        self.number, self.text{nan} = 1000, "xy z"{value}

    def select(self):
        if self.t == 4 and {apart}:
            return int(self.raw > 0.5)
        return 0

    def update(self, arm, reward):
        if self.t == 0:
            self.raw = reward
            if self.rng.random() < 0.5:
                self.x = {one}
            else:
                self.x = {two}
        self.t += 1
"""

OTHERS = {
    "an attribute that is set": """
class Policy:
    def __init__(self, arms, epsilon, rng):
        self.arm = 0

    def select(self):
        return self.arm

    def update(self, arm, reward):
        try:
            reward.rows = {}
        except AttributeError:
            pass
        self.arm = int(reward > 0.5)
""",
    "an attribute in a pattern": """
class Policy:
    def __init__(self, arms, epsilon, rng):
        self.arm = 0

    def select(self):
        return self.arm

    def update(self, arm, reward):
        match reward:
            case object(rest=0):
                pass
            case _:
                self.arm = int(reward > 0.5)
""",
    "single precision": """
import numpy as np

class Policy:
    def __init__(self, arms, epsilon, rng):
        self.arm, self.x = 0, np.zeros(1, dtype=np.float32)

    def select(self):
        return self.arm

    def update(self, arm, reward):
        if self.x.dtype == np.float32 and 0.3 < reward < 0.30001:
            self.arm = 1
""",
    "a copied generator": """
import copy

class Policy:
    def __init__(self, arms, epsilon, rng):
        self.arm, self.one, self.two = 0, rng, copy.copy(rng)

    def select(self):
        return self.arm

    def update(self, arm, reward):
        self.arm = int(reward + self.one.laplace(0, 1) - self.two.laplace(0, 1) > 0.5)
""",
    "the sign of a zero": """
import math

class Policy:
    def __init__(self, arms, epsilon, rng):
        self.arm = 0

    def select(self):
        return self.arm

    def update(self, arm, reward):
        above = math.copysign(1.0, (reward - 0.3) * 0.0)
        if above + math.copysign(1.0, (0.30001 - reward) * 0.0) > 1:
            self.arm = 1
""",
    "the text of a zero": """
class Policy:
    def __init__(self, arms, epsilon, rng):
        self.arm = 0

    def select(self):
        return self.arm

    def update(self, arm, reward):
        if str((reward - 0.3) * 0.0) + str((0.30001 - reward) * 0.0) == "0.00.0":
            self.arm = 1
""",
    "a metaclass": """
class Kind(type):
    pass

class Policy(metaclass=Kind):
    def __init__(self, arms, epsilon, rng):
        self.arm = 0

    def select(self):
        return self.arm

    def update(self, arm, reward):
        self.arm = int(reward > 0.5)
""",
}


LEFT = {  # what comes before the class, what is kept at first, what either side does, what tells
    "numpy's number": ("", "1.0", "np.float64(1.0)", "1.0", "type(self.w) is float"),
    "numpy's numbers": ("", "1.0", "np.float64(1)", "np.float64(0)", "type(self.w) is not float"),
    "an element": ("", "1.0", "np.ones(2)[0]", "np.zeros(2)[0]", "type(self.w) is not float"),
    "a zero's sign": ("", "1j", "complex(1, 0.0)", "complex(1, -0.0)", "str(self.w) == '(1+0j)'"),
    "an empty variable": (
        """
def made(flag):
    if flag: a = 0
    else: b = 0
    def f():
        try: return a + 1
        except NameError: return 0 * (b + 1)
    return f
""",
        "made(1)",
        "made(1)",
        "made(0)",
        "self.w() == 1",
    ),
    "a name space": (
        "import types; G = types.SimpleNamespace(a=0)",
        "0",
        "setattr(G, 'a', 1)",
        "setattr(G, 'a', 0)",
        "G.a == 1",
    ),
    "a module": (
        "import types; G = types.ModuleType('m')",
        "0",
        "setattr(G, 'a', 1)",
        "setattr(G, 'a', 0)",
        "G.a == 1",
    ),
    "a module of its own": (
        "import types",
        "types.ModuleType('m')",
        "setattr(self.w, 'a', 1) or self.w",
        "setattr(self.w, 'a', 0) or self.w",
        "self.w.a == 1",
    ),
    "arguments of a partial": (
        "import functools; G = functools.partial(max, [0])",
        "0",
        "G.args[0].append(1)",
        "G.args[0].append(0)",
        "G.args[0][-1] == 1",
    ),
    "a property of its own": (
        "def made(v): return property(lambda self: v)",
        "made(0)",
        "made(1)",
        "made(0)",
        "self.w.fget(0) == 1",
    ),
    "a class from nowhere": (
        "",
        "0",
        "type('X', (), {'v': 1})",
        "type('X', (), {'v': 0})",
        "self.w.v == 1",
    ),
    "a docstring": (
        "def f(): 'a'",
        "0",
        "object.__setattr__(f, '__doc__', 'b')",
        "object.__setattr__(f, '__doc__', 'a')",
        "f.__doc__ == 'b'",
    ),
    "a docstring by another name": (
        "def f(): 'a'",
        "0",
        "setattr(f, '__do' + 'c__', 'b')",
        "setattr(f, '__do' + 'c__', 'a')",
        "f.__doc__ == 'b'",
    ),
}
LEAVING = """
import numpy as np
{before}
class Policy:
    def __init__(self, arms, epsilon, rng):
        self.t, self.w = 0, {first}

    def select(self):
        return 1 if self.t >= 3 and ({tells}) else 0

    def update(self, arm, reward):
        self.t += 1
        if self.t == 1:
            if reward > 0.5:
                self.w = {one}
            else:
                self.w = {two}
"""


def impostors():
    """Return every policy by its name."""
    found = {f"tells: {name}": TELLING.format(condition=it) for name, it in TELLS.items()}
    for name, (one, two, apart) in LOOKALIKES.items():
        kept = {"nan": ", self.nan", "value": ", float('nan')"} if "nan" in name else {}
        parts = {"nan": "", "value": "", **kept, "one": one, "two": two, "apart": apart}
        found[f"alike: {name}"] = LOOKING_ALIKE.format(**parts)
    for name, (before, first, one, two, tells) in LEFT.items():
        text = LEAVING.format(before=before, first=first, one=one, two=two, tells=tells)
        found[f"leaves: {name}"] = text
    return found | OTHERS
