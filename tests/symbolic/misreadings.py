# ruff: noqa: E501
# fmt: off
"""Policies that were once read as others than they are: each leaks, none may be proved.

`ALIASED`: before the class, what is kept, what is done in every round, what is then true.
`LEFT`: before, what is kept, what is done after a first reward of 1, after another, how it is read.
`ASKED`: what is true of real code, what comes before it, before the class, what is kept; True if
that alone leaks, else it does in a narrow window of rewards.
"""

from textwrap import indent

ALIASED = {
    'alias list b01': ('G = []', 'self.x = G', 'self.x.append(1)', 'len(G) > 0',),
    'alias arr b02': ('B = np.zeros(3)', 'self.v = B[:1]', 'self.v[0] = 1', 'B[0] == 1',),
    'alias obj b03': ("""\
class C:
    v = 0
O = C()
""", 'self.o = O', 'self.o.v = 1', 'O.v == 1',),
    'alias default b04': ('def f(x=[]): return x', 'self.x = f()', 'self.x.append(1)', 'len(f()) > 0',),
    'alias class b05': ("""\
class C:
    L = []
""", 'self.x = C.L', 'self.x.append(1)', 'len(C.L) > 0',),
    'alias cell b06': ("""\
def make():
    kept = 0
    def get(): return kept
    def putter():
        def put(x):
            nonlocal kept
            kept = x
        return put
    return get, putter
GET, PUTTER = make()
""", 'self.put = PUTTER()', 'self.put(1)', 'GET() == 1',),
    'sentinel b07': ("""\
class Missing: pass
MISSING = Missing()
""", 'self.last = MISSING', 'pass', 'self.last is MISSING',),
    'sentinel eq b07b': ("""\
class Missing: pass
MISSING = Missing()
""", 'self.last = MISSING', 'pass', 'self.last == MISSING',),
    'sentinel list b07c': ('NONE = []', 'self.last = NONE', 'pass', 'self.last is NONE',),
    'registry b07d': ("""\
class K: pass
A = K()
REG = {A: 1}
""", 'self.k = A', 'pass', 'REG.get(self.k) == 1',),
    'in b07e': ("""\
class K: pass
A = K()
REG = [A]
""", 'self.k = A', 'pass', 'self.k in REG',),
    'lambda b07f': ('F = [lambda: 0]', 'self.f = F[0]', 'pass', 'self.f is F[0]',),
    'not sentinel b07h': ("""\
class Missing: pass
MISSING = Missing()
""", 'self.last = MISSING', 'pass', 'not (self.last is not MISSING)',),
    'layout b08': ('', 'self.a = np.zeros((2, 3)).T', 'self.a.reshape(-1)[0] = 1', 'self.a[0, 0] == 0',),
    'stride b08b': ('', 'self.a = np.zeros(6)[::2]', 'self.a.ravel()[0] = self.a.ravel()[0] + 1', 'self.a[0] == 0',),
    'npravel b08c': ('', 'self.a = np.zeros((2, 3)).T', 'np.ravel(self.a)[0] = 1', 'self.a[0, 0] == 0',),
    'npreshape b08d': ('', 'self.a = np.zeros((2, 3)).T', 'np.reshape(self.a, -1)[0] = 1', 'self.a[0, 0] == 0',),
    'dict alias b09': ('class C: pass', 'self.o = C(); self.o.v = 0; self.d = self.o.__dict__', "self.d['v'] = 1", 'self.o.v == 1',),
    'self dict b09b': ('', 'self.v = 0; self.d = self.__dict__', "self.d['v'] = 1", 'self.v == 1',),
    'const table b10': ("TABLE = {'a': [0]}", "self.row = TABLE['a']", 'self.row[0] += 1', "TABLE['a'][0] > 0",),
    'dc default b12': ("""\
class Log:
    def __init__(self, items=[]): self.items = items
""", 'self.log = Log()', 'self.log.items.append(1)', 'len(Log().items) > 0',),
    'shared arr b13': ('SHARED = np.zeros(2)', 'self.a = SHARED', 'self.a[0] += 1', 'SHARED[0] > 0',),
    'class instance b14': ("""\
class Node:
    pass
class Graph:
    ROOT = Node()
""", 'self.at = Graph.ROOT', 'pass', 'self.at is Graph.ROOT',),
    'singleton b15': ("""\
class S:
    it = None
    @classmethod
    def get(cls):
        return cls.it
S.it = S()
S.it.n = 0
""", 'self.s = S.get()', 'self.s.n = 1', 'S.get().n == 1',),
    'strategy b16': ("""\
class Explore: pass
class Exploit: pass
EXPLORE, EXPLOIT = Explore(), Exploit()
""", 'self.mode = EXPLORE', 'pass', 'self.mode is EXPLORE',),
}
LEFT = {
    'float name a01': ('class A: pass', 'self.o=A()', 'self.o.__dict__[0.75]=1', 'self.o.__dict__[0.25]=1', """\
for k in self.o.__dict__:
    return 1 if k > 0.5 else 0
return 0
""",),
    'cell empty a02': ("""\
def made(flag):
    if flag: a = 'empty'
    def f():
        try: return int(a == 'empty')
        except NameError: return 0
    return f
""", 'self.w=made(1)', 'self.w=made(1)', 'self.w=made(0)', 'return self.w()',),
    'mutable name a03': ("""\
class K:
    v=0
class A: pass
""", 'self.o=A(); self.o.__dict__[K()]=0', '[k for k in self.o.__dict__][0].v=1', '[k for k in self.o.__dict__][0].v=0', 'return [k for k in self.o.__dict__][0].v',),
    'eq name a03b': ("""\
class K:
    def __init__(self,v): self.v=v
    def __hash__(self): return 1
    def __eq__(self,o): return True
class A: pass
""", 'self.o=A()', 'self.o.__dict__[K(1)]=0', 'self.o.__dict__[K(0)]=0', 'return [k for k in self.o.__dict__][0].v',),
    'register a04': ("""\
class X(abc.ABC): pass
class C: pass
class D: pass
""", '', "getattr(X,'regis'+'ter')(C)", "getattr(X,'regis'+'ter')(D)", 'return 1 if isinstance(C(),X) else 0',),
    'pos s01': ('', 'self.g=np.random.default_rng(0); self.h=np.random.default_rng(0)', 'self.g.random()', 'self.h.random()', 'return int(self.g.random() > 0.45) if self.t == 2 else 0',),
    'module s04': ("""\
G=np.random.default_rng(0)
H=np.random.default_rng(0)
""", '', 'G.random()', 'H.random()', 'return int(G.random() > 0.45) if self.t == 2 else 0',),
    'pyrandom s05': ('', 'self.g=random.Random(0); self.h=random.Random(0)', 'self.g.random()', 'self.h.random()', 'return int(self.g.random() > 0.8) if self.t == 2 else 0',),
    'choice s06': ('', 'self.g=np.random.default_rng(0); self.h=np.random.default_rng(0)', 'self.g.random()', 'self.h.random()', 'return int(self.g.choice([0,1],p=[0.45,0.55])) if self.t == 2 else 0',),
    'spawn s07': ('', 'self.g=np.random.default_rng(1)', 'self.g.spawn(1)', 'pass', 'return int(self.g.spawn(1)[0].random() > 0.6) if self.t == 2 else 0',),
    'rs s08': ('', 'self.g=np.random.RandomState(3); self.h=np.random.RandomState(3)', 'self.g.rand()', 'self.h.rand()', 'return int(self.g.rand() > 0.6) if self.t == 2 else 0',),
    'integers s09': ('', 'self.g=np.random.default_rng(3); self.h=np.random.default_rng(1)', 'x=self.g.random()', 'x=self.h.random()', 'return int(self.g.integers(0,2)) if self.t == 2 else 0',),
}
ASKED = {
    'reshape a07c': ('self.a[0,0]==0', 'self.a.reshape(-1)[0]=1', '', 'self.a=np.zeros((2,3)).T', False,),
    'import as same g01': ('not (x is y)', 'x, y = [], []', 'from operator import eq as __same__', '', False,),
    'class described g02': ('self.rng is self.rng', '', """\
class __same__:
    def __new__(cls, a, b): return False
""", '', False,),
    'seterr t01': ('np.seterr() is not None', '', '', '', False,),
    'seterr t01b': ("np.seterr(all='ignore') != None", '', '', '', False,),
    'errstate deco t02': ("not (np.errstate(all='ignore')(f) is f)", '', 'def f(): pass', '', False,),
    'cache info t03': ("hasattr(f,'cache_info')", '', """\
@functools.lru_cache(None)
def f(x): return x
""", '', False,),
    'cache stale t04': ('get(1) == 0', """\
box=[0]
@functools.lru_cache(None)
def get(k): return box[0]
get(1)
box[0]=1
""", '', '', False,),
    'cache calls t04b': ('len(box) == 1', """\
box=[]
@functools.cache
def get(k):
    box.append(k)
    return 0
get(1); get(1)
""", '', '', False,),
    'type type t05': ('type(Policy) is type', '', '', '', False,),
    't05b': ('type(int) == type', '', '', '', False,),
    't05c': ('isinstance(type, type)', '', '', '', False,),
    't05d': ('isinstance(Policy, type) and type(type(self)) == type', '', '', '', False,),
    'max int t06': ('isinstance(max(0, abs(reward-0.300005)-0.000005), int)', '', '', '', True,),
    'max type t06b': ('type(max(0, abs(reward-0.300005)-0.000005)) is int', '', '', '', True,),
    'min bool t06c': ('isinstance(min(True, 1+0.000005-abs(reward-0.300005)), bool)', '', '', '', True,),
    'isnpfloat t07': ('not isinstance(float(reward), np.floating)', '', '', '', False,),
    't07b': ('not isinstance(float(reward), np.generic)', '', '', '', False,),
    't07c': ('type(np.sqrt(reward)) is not float', '', '', '', False,),
    't07d': ('isinstance(np.sqrt(reward), np.float64)', '', '', '', False,),
    'item t08': ('flag', """\
try:
    float(reward).item(); flag=False
except AttributeError:
    flag=True
""", '', '', False,),
    'hashable t09': ('isinstance(reward, collections.abc.Hashable)', '', '', '', False,),
    'supports t09b': ('isinstance(reward, typing.SupportsFloat)', '', '', '', False,),
    'union t09c': ('isinstance(reward, int | float)', '', '', '', False,),
    'Any t09d': ('isinstance(reward, typing.Union[int, float])', '', '', '', False,),
    'match t09g': ('flag', """\
match reward:
    case numbers.Real():
        flag=True
    case _:
        flag=False
""", '', '', False,),
    'match t09h': ('flag', """\
try:
    match 1.5:
        case float(x):
            flag=True
except TypeError:
    flag=False
""", '', '', False,),
    'has randint t10': ("not hasattr(self.rng,'randint')", '', '', '', False,),
    'isgen t10b': ('not isinstance(np.random.RandomState(), np.random.Generator)', '', '', '', False,),
    'isgen t10c': ('not isinstance(random.Random(), np.random.Generator)', '', '', '', False,),
    'haslap t10d': ("not hasattr(random.Random(),'laplace')", '', '', '', False,),
    'rsrng t10e': ('flag', """\
try:
    np.random.RandomState(self.rng); flag=False
except Exception:
    flag=True
""", '', '', False,),
    'nan pos t11': ('not ((+x) in [x])', 'x=np.sqrt(abs(reward-0.300005)-0.000005)', '', '', True,),
    'nan float t11b': ('not (float(x) in [x])', 'x=np.sqrt(abs(reward-0.300005)-0.000005)', '', '', True,),
    'arange32 t12': ('np.arange(3,dtype=np.float32).dtype == np.float32', '', '', '', False,),
    'uint8 t12b': ('(np.arange(3,dtype=np.uint8)-1)[0] == 255', '', '', '', False,),
    'arr f32 t12c': ('np.array([np.float32(1)]).dtype == np.float32', '', '', '', False,),
    'arr i8 t12d': ('(np.array([np.int8(127)]) + np.int8(1))[0] < 0', '', '', '', False,),
    'full t12e': ('(np.full(2,np.uint8(200)) + np.uint8(100))[0] == 44', '', '', '', False,),
    'argsort2d t13': ('np.argsort(np.zeros((3,1))).ndim == 2', '', '', '', False,),
    'argsort nan t13b': ('np.argsort(np.array([np.nan,0.0]))[0] == 1', '', '', '', False,),
    'eq none t14': ('not isinstance(np.zeros(2)==None, bool)', '', '', '', False,),
    'flat t15': ('flag', """\
try:
    np.zeros(2).flat[0]; flag=True
except TypeError:
    flag=False
""", '', '', False,),
    'ndmin t15b': ('flag', """\
try:
    np.array([1],ndmin=2); flag=True
except TypeError:
    flag=False
""", '', '', False,),
    'isclose t15c': ('flag', """\
try:
    math.isclose(1,1,rel_tol=0.1); flag=True
except TypeError:
    flag=False
""", '', '', False,),
    'boolinp t15d': ('flag', """\
b=np.zeros(2,dtype=bool)
try:
    b+=2; flag=False
except TypeError:
    flag=True
""", '', '', False,),
    'dot t16': ('np.size(np.eye(2) @ np.ones(2)) == 2', '', '', '', False,),
    'dot t16b': ('np.size(np.dot(np.eye(2), np.ones(2))) == 2', '', '', '', False,),
    'append t16c': ('np.append(np.zeros((1,2)),np.ones((1,2)),axis=0).ndim == 2', '', '', '', False,),
    'cumsum t16d': ('np.ndim(c) == 2', 'c=np.cumsum(np.array([[reward,1.0],[2.0,3.0]]),axis=0)', '', '', False,),
    'astype t17': ('a[0] == 5', """\
a=np.zeros(2)
a.astype(float,copy=False)[0]=5
""", '', '', False,),
    'copyfalse t17b': ('a[0] == 5', """\
a=np.zeros(2)
np.array(a,copy=False)[0]=5
""", '', '', False,),
    'ravelF t17c': ("np.arange(4).reshape(2,2).ravel(order='F')[1] == 2", '', '', '', False,),
    'reshapeF t17d': ("np.arange(4).reshape((2,2),order='F')[0,1] == 2", '', '', '', False,),
    'flattenF t17e': ("np.arange(4).reshape(2,2).flatten('F')[1] == 2", '', '', '', False,),
    'zerosF t17f': ('a[0,0] == 0', """\
a=np.zeros((2,2),order='F')
a.ravel()[0]=1
""", '', '', False,),
    'flipview t18': ('a[-1] == 1', """\
a=np.zeros(2)
np.flip(a)[0]=1
""", '', '', False,),
    'split t18b': ('a[0] == 1', """\
a=np.zeros(2)
np.split(a,2)[0][0]=1
""", '', '', False,),
    'roundout t18c': ('a[0] == 2', """\
a=np.array([1.7,0.])
np.round(a,0,a)
""", '', '', False,),
    'cumprodout t18d': ('a[1] == 2', """\
a=np.array([2.0,1.0])
np.cumprod(a,out=a)
""", '', '', False,),
    'nan to num t18e': ('a[0] == 0', """\
a=np.array([np.nan,1.0])
np.nan_to_num(a,copy=False)
""", '', '', False,),
    'choice row t18f': ('a[0,0] == 0 and a[1,0] == 0', """\
a=np.zeros((2,2))
c=self.rng.choice(a)
c[0]=1
""", '', '', False,),
    'iterlive t19': ('x == 1', """\
a=np.zeros(2)
for x in a:
    a[1]=1
""", '', '', False,),
    'flatlive t19b': ('x == 1', """\
a=np.zeros(2)
for x in a.flat:
    a[1]=1
""", '', '', False,),
    'addreduce t20': ("hasattr(np.add,'reduce')", '', '', '', False,),
    'eq complex t21': ('reward == complex(0.3,0)', '', '', '', True,),
    'in complex t21b': ('reward in [0.3+0j]', '', '', '', True,),
    'dunder eq t22': ('(0.3).__eq__(reward) is True', '', '', '', True,),
    'dunder add t22b': ('not ((0.5).__add__(reward) is NotImplemented)', '', '', '', False,),
    'float eq t22c': ('float.__eq__(0.3, reward) is True', '', '', '', True,),
    'complexpow t23': ('isinstance(y, complex)', 'y=self.rng.laplace(0,1)**0.5', '', '', False,),
    'cache typed t04d': ('f(1.0,2)', 'f(1,2)', """\
@functools.lru_cache(None)
def f(x,y): return isinstance(x,int)
""", '', False,),
    'negzero m01': ('math.copysign(1, (abs(reward-0.300005)-0.000005)*0) < 0', '', '', '', True,),
    'divinf m02': ('math.copysign(1, (abs(reward-0.300005)-0.000005)/math.inf) < 0', '', '', '', True,),
    'str negzero m03': ("str((abs(reward-0.300005)-0.000005)*0) == '-0.0'", '', '', '', True,),
    'addint m04': ('isinstance(x, int)', 'x = min(0, (abs(reward-0.300005)-0.000005)) if False else max(-1, min(0, -(abs(reward-0.300005)-0.000005)))', '', '', True,),
    'max identity m05': ('type(m) is bool', 'm = max(False, (abs(reward-0.300005)-0.000005))', '', '', True,),
    'neinf m06': ('x == 0 and math.copysign(1,x) < 0', 'x = 0.0*(abs(reward-0.300005)-0.000005)', '', '', True,),
    'minmax npint m07': ('isinstance(x, np.int64)', 'x = max(np.int64(0), (abs(reward-0.300005)-0.000005))', '', '', True,),
    'or m09': ('isinstance(0.0 or x, int)', 'x=max(0,(abs(reward-0.300005)-0.000005))', '', '', True,),
    'sum in m10': ('not ([x] == [+x])', 'x=np.log((abs(reward-0.300005)-0.000005))', '', '', True,),
    'index m11': ('not ([x].count(x.conjugate()) == 1)', 'x=np.sqrt((abs(reward-0.300005)-0.000005))', '', '', True,),
}
OTHERS = {
    'opaque identity c01': """\
import numpy as np
class Policy:
    def __init__(self, arms, epsilon, rng):
        self.rng, self.t, self.arm = rng, 0, 0
        z = rng.laplace(0, 1)
        self.a, self.b = np.floor(z), np.ceil(z)
        self.x = self.a

    def select(self):
        return self.arm

    def update(self, arm, reward):
        self.t += 1
        if self.t == 1:
            if self.rng.random() < 0.5:
                self.x = self.a
            else:
                self.x = self.b
        if self.t == 3:
            if not (self.x in [self.a]):
                self.arm = int(reward > 0.5)
""",
    'c01b': """\
import numpy as np
class Policy:
    def __init__(self, arms, epsilon, rng):
        self.rng, self.t, self.arm = rng, 0, 0
        z = rng.laplace(0, 1)
        self.a, self.b = np.floor(z), np.ceil(z)
        self.x = self.a

    def select(self):
        return self.arm

    def update(self, arm, reward):
        self.t += 1
        if self.t == 1:
            if self.rng.random() < 0.5:
                self.x = self.a
            else:
                self.x = self.b
        if self.t == 3:
            if [self.x] != [self.a]:
                self.arm = int(0.3 < reward < 0.30001)
""",
    'c01c': """\
import numpy as np
class Policy:
    def __init__(self, arms, epsilon, rng):
        self.rng, self.t, self.arm = rng, 0, 0
        z = rng.laplace(0, 1)
        self.a, self.b = np.floor(z), np.ceil(z)
        self.x = self.a

    def select(self):
        return self.arm

    def update(self, arm, reward):
        self.t += 1
        if self.t == 1:
            if self.rng.random() < 0.5:
                self.x = self.a
            else:
                self.x = self.b
        if self.t == 3:
            if not (self.x in [self.a]):
                self.arm = int(0.3 < reward < 0.30001)
""",
    'suppress as e01': """\
import math, contextlib
from contextlib import suppress as quiet
class Policy:
    def __init__(self, arms, epsilon, rng):
        self.arm, self.rng, self.ok = 0, rng, True

    def select(self):
        return self.arm

    def update(self, arm, reward):
        self.ok = False
        with quiet(ValueError):
            math.sqrt(self.rng.laplace(0, 1))
            self.ok = True
        if not self.ok:
            if 0.3 < reward < 0.30001:
                self.arm = 1
""",
    'exitstack e02': """\
import math, contextlib

class Policy:
    def __init__(self, arms, epsilon, rng):
        self.arm, self.rng, self.ok = 0, rng, True

    def select(self):
        return self.arm

    def update(self, arm, reward):
        self.ok = False
        with contextlib.ExitStack() as s:
            s.push(lambda *a: True)
            math.sqrt(self.rng.laplace(0, 1))
            self.ok = True
        if not self.ok:
            if 0.3 < reward < 0.30001:
                self.arm = 1
""",
    'lambda exit e03': """\
import math, contextlib
class Q:
    __enter__ = lambda self: self
    __exit__ = lambda self, *a: True
class Policy:
    def __init__(self, arms, epsilon, rng):
        self.arm, self.rng, self.ok = 0, rng, True

    def select(self):
        return self.arm

    def update(self, arm, reward):
        self.ok = False
        with Q():
            math.sqrt(self.rng.laplace(0, 1))
            self.ok = True
        if not self.ok:
            if 0.3 < reward < 0.30001:
                self.arm = 1
""",
    'bad scale e04': """\
import math, contextlib

class Policy:
    def __init__(self, arms, epsilon, rng):
        self.arm, self.rng, self.ok = 0, rng, True

    def select(self):
        return self.arm

    def update(self, arm, reward):
        self.ok = False
        try:
            self.rng.normal(0, -1)
            self.ok = True
        except ValueError:
            pass
        if not self.ok:
            if 0.3 < reward < 0.30001:
                self.arm = 1
""",
    'bad p e05': """\
import math, contextlib

class Policy:
    def __init__(self, arms, epsilon, rng):
        self.arm, self.rng, self.ok = 0, rng, True

    def select(self):
        return self.arm

    def update(self, arm, reward):
        self.ok = False
        try:
            self.rng.choice(2, p=[0.5, 0.9])
            self.ok = True
        except ValueError:
            pass
        if not self.ok:
            if 0.3 < reward < 0.30001:
                self.arm = 1
""",
    'bad binom e06': """\
import math, contextlib

class Policy:
    def __init__(self, arms, epsilon, rng):
        self.arm, self.rng, self.ok = 0, rng, True

    def select(self):
        return self.arm

    def update(self, arm, reward):
        self.ok = False
        try:
            self.rng.binomial(1, 1.5)
            self.ok = True
        except ValueError:
            pass
        if not self.ok:
            if 0.3 < reward < 0.30001:
                self.arm = 1
""",
    'suppress log e07': """\
import math, contextlib
from contextlib import suppress as quiet
class Policy:
    def __init__(self, arms, epsilon, rng):
        self.arm, self.rng, self.ok = 0, rng, True

    def select(self):
        return self.arm

    def update(self, arm, reward):
        self.ok = False
        with quiet(ValueError):
            math.sqrt(self.rng.laplace(0, 1))
            self.ok = True
        if not self.ok:
            self.arm = int(reward > 0.5)
""",
    'classattr sent b07g': """\
import numpy as np
import typing, collections, dataclasses, functools, math
class K: pass
class Policy:
    NONE = K()
    def __init__(self, arms, epsilon, rng):
        self.arm, self.rng, self.t = 0, rng, 0
        self.k = Policy.NONE

    def select(self):
        return self.arm

    def update(self, arm, reward):
        self.t += 1
        pass
        if self.k is self.NONE:
            self.arm = int(reward > 0.5)
""",
    'cache persist h03': """\
import functools
G = [0]
@functools.lru_cache(None)
def get():
    return G[0]

class Policy:
    def __init__(self, arms, epsilon, rng):
        self.t = 0

    def select(self):
        return get() if self.t else 0

    def update(self, arm, reward):
        self.t += 1
        if self.t == 1:
            v = 0.0
            if reward == 0.3:
                G[0] = 1; get(); G[0] = 0
            else:
                G[0] = 0; get(); G[0] = 0
""",
    'dot n01': """\
import numpy as np
class Policy:
    def __init__(self, arms, epsilon, rng):
        self.rng, self.arms, self.t = rng, arms, 0
        self.W, self.sums, self.arm = np.eye(arms), np.zeros(arms), 0

    def select(self):
        return self.arm

    def update(self, arm, reward):
        self.t += 1
        self.sums[arm] += reward
        if self.rng.random() < 0.002:
            self.arm = int(np.argmax(self.W.dot(np.array([0.5, self.sums[0]]))))
""",
    'cumsum axis n02': """\
import numpy as np
class Policy:
    def __init__(self, arms, epsilon, rng):
        self.rng, self.arm = rng, 0

    def select(self):
        return self.arm

    def update(self, arm, reward):
        if self.rng.random() < 0.002:
            z = self.rng.laplace(0, 1)
            x = np.cumsum(np.array([[z, 0.0], [reward, 0.0]]), axis=1).ravel()
            self.arm = int(x[2] > 0.5)
""",
    'iter n03': """\
import numpy as np
class Policy:
    def __init__(self, arms, epsilon, rng):
        self.rng, self.arm = rng, 0

    def select(self):
        return self.arm

    def update(self, arm, reward):
        if self.rng.random() < 0.002:
            a = self.rng.laplace(0, 1, 2)
            for x in a:
                a[1] = reward
            self.arm = int(x > 0.5)
""",
    'astype n04': """\
import numpy as np
class Policy:
    def __init__(self, arms, epsilon, rng):
        self.rng, self.arm = rng, 0

    def select(self):
        return self.arm

    def update(self, arm, reward):
        if self.rng.random() < 0.002:
            a = self.rng.laplace(0, 1, 2)
            b = a.astype(float, copy=False)
            b[0] = reward
            self.arm = int(a[0] > 0.5)
""",
    'orderF n05': """\
import numpy as np
class Policy:
    def __init__(self, arms, epsilon, rng):
        self.rng, self.arm = rng, 0

    def select(self):
        return self.arm

    def update(self, arm, reward):
        if self.rng.random() < 0.002:
            z = self.rng.laplace(0, 1, 4)
            z[2] = reward
            self.arm = int(z.reshape(2, 2).ravel(order='F')[1] > 0.5)
""",
    'matmul n07': """\
import numpy as np
class Policy:
    def __init__(self, arms, epsilon, rng):
        self.rng, self.arm = rng, 0

    def select(self):
        return self.arm

    def update(self, arm, reward):
        if self.rng.random() < 0.002:
            s = np.array([reward, self.rng.laplace(0, 1)])
            x = np.array([[1.0, 0.0], [0.0, 1.0]]) @ s
            self.arm = int(np.max(x) == np.sum(x)) if False else int(np.ravel(x)[0] > 0.5)
""",
    'union n08': """\
import numpy as np
class Policy:
    def __init__(self, arms, epsilon, rng):
        self.rng, self.arm = rng, 0

    def select(self):
        return self.arm

    def update(self, arm, reward):
        if self.rng.random() < 0.002:
            if not isinstance(reward, int | float):
                reward = 0.0
            self.arm = int(reward > 0.5)
""",
    'maxint n09': """\
class Policy:
    def __init__(self, arms, epsilon, rng):
        self.rng, self.arm = rng, 0

    def select(self):
        return self.arm

    def update(self, arm, reward):
        if self.rng.random() < 0.002:
            excess = max(0, reward - 0.5)
            self.arm = 0 if isinstance(excess, int) else 1
""",
    'opaque remove c02': """\
import numpy as np
class Policy:
    def __init__(self, arms, epsilon, rng):
        self.rng, self.t, self.arm = rng, 0, 0
        z = rng.laplace(0, 1)
        self.grid = [np.floor(z), np.ceil(z)]
        self.pick = None

    def select(self):
        return self.arm

    def update(self, arm, reward):
        self.t += 1
        if self.t == 1:
            self.pick = self.grid[self.rng.integers(0, 2)]
        if self.t == 3 and self.grid.index(self.pick) == 1:
            self.arm = int(reward > 0.5)
""",
    'annotation d01b': """\
import numpy as np
import typing, collections, dataclasses, functools, math
LOG = [0]
def f(x: LOG.append(1) = 0): pass
class Policy:
    def __init__(self, arms, epsilon, rng):
        self.arm, self.rng, self.t = 0, rng, 0
        pass

    def select(self):
        return self.arm

    def update(self, arm, reward):
        self.t += 1
        pass
        if len(LOG) == 2:
            self.arm = int(0.3 < reward < 0.30001)
""",
    'index c01d': """\
import numpy as np
class Policy:
    def __init__(self, arms, epsilon, rng):
        self.rng, self.t, self.arm = rng, 0, 0
        z = rng.laplace(0, 1)
        self.grid = [np.floor(z), np.ceil(z)]
        self.pick = None

    def select(self):
        return self.arm

    def update(self, arm, reward):
        self.t += 1
        if self.t == 1:
            self.pick = self.grid[self.rng.integers(0, 2)]
        if self.t == 3 and self.grid.index(self.pick) == 1:
            self.arm = int(reward > 0.5)
""",
}
IMPORTS = """
import abc, collections, collections.abc, contextlib, copy, dataclasses, enum, functools, math
import numbers, operator, random, typing
import numpy as np
"""
POLICY = """
{imports}
{before}
class Policy:
    def __init__(self, arms, epsilon, rng):
        self.arm, self.rng, self.t = 0, rng, 0
{first}

    def select(self):
{read}

    def update(self, arm, reward):
        self.t += 1
{done}
"""


def misreadings():
    """Return every policy by its name."""
    found = dict(OTHERS)
    for name, (before, first, write, true) in ALIASED.items():
        found[name] = _policy(before, first, f"{write}\nif {true}:\n    self.arm = int(reward > 0.5)")
    for name, (before, first, one, two, read) in LEFT.items():
        done = f"if self.t == 1:\n    if reward == 1:\n        {one}\n    else:\n        {two}"
        found[name] = _policy(before, first, done, f"if self.t < 2:\n    return 0\n{read}")
    for name, parts in ASKED.items():
        true, setup, before, first, alone = (*parts, *("", "", "", "", False)[len(parts) :])
        leak = "self.arm = 1" if alone else "if 0.3 < reward < 0.30001:\n        self.arm = 1"
        found[name] = _policy(before, first, f"{setup}\nif {true}:\n    {leak}")
    return found


def _policy(before, first, done, read="return self.arm"):
    parts = {"first": first or "pass", "read": read, "done": done}
    parts = {name: indent(part.strip(), " " * 8) for name, part in parts.items()}
    return POLICY.format(imports=IMPORTS, before=before, **parts)
