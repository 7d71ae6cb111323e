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
    'boolsum2 b01b again': ('(x[0]>=0)+(x[0]<=1) != 2', 'x=np.array([reward, 1.0])',),
    'istrue b02 again': ('not ((x[0]>=0) is True)', 'x=np.array([reward, 1.0])',),
    'isbool b03 again': ('not isinstance(x[0]>=0, bool)', 'x=np.array([reward, 1.0])',),
    'invert b04 again': ('not ~(x[0]>=0)', 'x=np.array([reward, 1.0])',),
    'match b05 again': ('flag', """\
x=np.array([reward, 1.0])
match x[0]>=0:
    case True: flag=False
    case _: flag=True
""",),
    'npge b06 again': ('not (np.greater_equal(reward,0) is True)',),
    'npge b06b again': ('np.greater_equal(reward,0)+np.less_equal(reward,1) == 1',),
    'npfloat b07 again': ('isinstance(x[0]-x[0], np.floating)', 'x=np.array([reward, 1.0])',),
    'hasitem b07b again': ("hasattr(x[0]-x[0],'item')", 'x=np.array([reward, 1.0])',),
    'zerodiv b07c again': ('flag', """\
x=np.array([reward, 1.0])
try:
    1.0/(x[0]-x[0])
    flag=True
except ZeroDivisionError:
    flag=False
""",),
    'type b07d again': ('type(x[0]*0) is not float', 'x=np.array([reward, 1.0])',),
    'boolcmp b07f again': ('(d==0)+(d==0) == 1', """\
x=np.array([reward, 1.0])
d=x[0]-x[0]
""",),
    'sum b07g again': ('isinstance(np.sum(x)-np.sum(x), np.floating)', 'x=np.array([reward, 1.0])',),
    'inf b07h again': ('isinstance(x[0]+math.inf, np.floating)', 'x=np.array([reward, 1.0])',),
    'wherekind b08 again': ('w[0] == 0.7', """\
x=np.array([reward, 1.0])
w=np.where([True],[0],[reward]); w[0]=0.7
""",),
    'wherekind b08b again': ('np.where([True],[0],[reward]).dtype == float',),
    'where0 b08d again': ('np.ndim(np.where(True,0.5,reward)) == 0 and isinstance(np.where(True,0.5,reward), np.ndarray)',),
    'iterarr b09 again': ('np.array(iter([1,2])).ndim == 0',),
    'gen b09b again': ('np.ndim(np.asarray(k for k in [1,2])) == 0',),
    'values b09c again': ('np.array({1:2}.values()).ndim == 0',),
    'size b09d again': ('np.size({1:2,2:3}.values()) == 1',),
    'ownlen b09e again': ('np.array(C()).ndim == 0', '', """\
class C:
    def __len__(self): return 2
    def __iter__(self): return iter([1,2])
""",),
    'keys b09f again': ('np.size({1:2,2:3}.keys()) == 1',),
    'tolist0 b10 again': ('not isinstance(np.array(1).tolist(), list)',),
    'randint b11 again': ('isinstance(np.random.randint(2), int)',),
    'choice b11b again': ('isinstance(self.rng.choice(2), int)',),
    'choicelist b11c again': ('not isinstance(self.rng.choice([0,1]), int)',),
    'choicerange b11e again': ('not isinstance(self.rng.choice(range(2)), int)',),
    'int8 b11g again': ('self.rng.integers(1,2,dtype=np.int8)+np.int8(127) < 0',),
    'choicebooladd b11j again': ('self.rng.choice([True])+self.rng.choice([True]) == 1',),
    'choiceone b11k again': ('isinstance(self.rng.choice([0, True]), np.integer)',),
    'augmod b12 again': ("'built-in' in s or 'ufunc' in s", """\
s='%s'
s %= (np.zeros,)
""",),
    'opmod b12b again': ("'built-in' in s", "s=operator.mod('%s',(np.zeros,))",),
    'opmodaddr b12c again': ("operator.mod('%s',(self.o,)) == self.s", '', 'class O: pass', "self.o=O(); self.s=operator.mod('%s',(self.o,))",),
    'reduce b12d again': ("'ufunc' in s", "s=functools.reduce(operator.mod,['%s',np.sqrt])",),
    'augaddr b12e again': ('s == self.s', """\
s='%s'
s %= (self.o,)
""", 'class O: pass', """\
self.o=O(); s='%s'
s %= (self.o,)
self.s=s
""",),
    'finbreak b14b again': ('v==1', """\
v=0
while True:
    try:
        float.is_integer(reward)
        v=1
    finally:
        break
""",),
    'finret b14d again': ('f(reward)==1', '', """\
def f(r):
    v=0
    try:
        y=np.array([1],ndmin=2)
        v=1
    finally:
        return v
""",),
    'finret b14f again': ('f(reward)==1', '', """\
def f(r):
    v=0
    try:
        np.ones_like(5)
        v=1
    finally:
        return v
""",),
    'sortkey b17 again': ('isinstance(sorted([x[0]>=0, False])[0], bool) and not isinstance(sorted([x[0]>=0, False])[1], bool)', 'x=np.array([reward, 1.0])',),
    'boolarr b18 again': ('np.array([x[0]>=0]).dtype == bool and isinstance(np.all(x>=0), np.bool_) and not isinstance(x[1]>=0,bool) and (x[0]>=0)+(x[0]>=0)==1', 'x=np.array([reward, 1.0])',),
    'neglist b19 again': ('np.array([reward>=0, 2]).dtype == int and (np.float64(1)*reward >= 0)+(np.float64(1)*reward>=0) == 1',),
    'mean b20 again': ('(np.mean([reward,1.0])>=0)+(np.mean([reward,1.0])>=0) == 1',),
    'natural b21 again': ('(m[0]>=0) + (m[1]>=0) + (m[2]>=0) < 3', 'm=np.array([reward,reward,reward])',),
    'sum int d01 again': ('isinstance(np.array([1,2]).sum(), np.integer) and isinstance(sum(np.array([reward,1.0]))*0, np.floating)',),
    'npmaxscalar d02c again': ('isinstance(np.maximum(reward,math.inf), np.floating)',),
    'subtract d03 again': ('isinstance(np.subtract(reward,reward), np.floating)',),
    'add d03b again': ('isinstance(np.multiply(reward,0), np.floating)',),
    'divzero d04 again': ('flag', """\
d=np.mean([reward])-np.mean([reward])
try:
    q=1/d
    flag=True
except ZeroDivisionError:
    flag=False
""",),
    'full d07 again': ('np.full(2,reward).dtype==float and isinstance((np.full(2,reward)[0]>=0), np.bool_)',),
    'values arr d10d again': ('np.asarray({0:1.0}.values()).dtype == object',),
    'appenddict d10f again': ('np.append([1.0],{0:1,1:2}.values()).size == 2',),
    'sumvalues d10g again': ('f(reward)==1', '', """\
def f(r):
    v=1
    try:
        v=2 if np.mean({0:r}.values())>=0 else 2
    finally:
        return v
""",),
    '0d where d11l again': ('isinstance(np.where(True, reward, 0.0), np.ndarray)',),
    'eqlist d15 again': ("isinstance(np.zeros(2)==[0,0], np.ndarray) and (np.zeros(2)=='a') is not False",),
    'eqobj d15b again': ('isinstance(np.zeros(2)==C(), np.ndarray)', '', 'class C: pass',),
    'neobj d15c again': ('isinstance(np.zeros(2)!=C(), np.ndarray)', '', 'class C: pass',),
    'rowobj d15e again': ('C()+np.ones(2) is not None and isinstance(np.ones(2)+C(), np.ndarray)', '', """\
class C:
    def __radd__(self,o): return 7
    def __add__(self,o): return 7
""",),
    'sortedcmp d16 again': ('sorted([x[0]>=0, x[0]<=1])[0]+sorted([x[0]>=0])[0] == 1', 'x=np.array([reward])',),
    'dictbool d17 again': ('isinstance(list({x[0]>=0: 1})[0], np.bool_)', 'x=np.array([reward])',),
    'and d18 again': ('((x[0]>=0) & (x[0]<=1)) + ((x[0]>=0) & True) == 1', 'x=np.array([reward])',),
    'notplus d18b again': ('((x[0]<0) == False) + (not (x[0]<0)) == 1', 'x=np.array([reward])',),
    'sub d18c again': ('f(reward)==1', '', """\
def f(r):
    v=1
    try:
        x=np.array([r])
        (x[0]>=0)-(x[0]>=0)
        v=0
    finally:
        return v
""",),
    'neg d18d again': ('f(reward)==1', '', """\
def f(r):
    v=1
    try:
        x=np.array([r])
        [5,6][x[0]>=0]
        v=0
    finally:
        return v
""",),
    'count d18e again': ('[True,False].count(x[0]>=0)+0==1 and int(x[0]>=0)==1 and (x[0]>=0).__class__ is not bool', 'x=np.array([reward])',),
    'div d18f again': ('isinstance((x[0]>=0)//(x[0]>=0), np.int8)', 'x=np.array([reward])',),
    'pow d18h again': ('isinstance((x[0]>=0)**2, np.integer)', 'x=np.array([reward])',),
    'einsumview e01 again': ('a[0]==1', """\
a=np.zeros(2)
np.einsum('i->i',a)[0]=1
""",),
    'diff0 e02 again': ('a[0]==1', """\
a=np.zeros(2)
np.diff(a,0)[0]=1
""",),
    'eqlist e03 again': ('isinstance(x[0]==[5.0], np.ndarray)', 'x=np.array([reward, 1.0])',),
    'nelist e03b again': ('isinstance(x[0]!=(5.0,), np.ndarray)', 'x=np.array([reward, 1.0])',),
    'eqtrue e03c again': ('not (x[0] == [x[0]]) == False', 'x=np.array([reward, 1.0])',),
    'hasprop e04 again': ("hasattr(self.c,'p')", '', """\
class C:
    @property
    def p(self): return np.add.reduce([1,2])
""", 'self.c=C()',),
    'getattr e04d again': ('self.c.p==1', '', """\
class C:
    @property
    def p(self):
        np.sqrt.nin
        return 1
    def __getattr__(self,n): return 2
""", 'self.c=C()',),
    'item e04f again': ('self.c.p==1', 'self.c.r=reward', """\
class C:
    r=0.5
    @property
    def p(self):
        d=np.array([self.r])
        (d[0]-d[0]).item()
        return 1
    def __getattr__(self,n): return 0
""", 'self.c=C()',),
    'lenhint e05 again': ('self.c.v==1', 'list(self.c)', """\
class C:
    v=0
    def __len__(self):
        np.array([1],ndmin=2)
        self.v=1
        return 0
    def __iter__(self): return iter([])
""", 'self.c=C()',),
    'finally addreduce e06 again': ('f()==1', '', """\
def f():
    v=0
    try:
        np.add.reduce([1]); v=1
    finally:
        return v
""",),
    'intdiv e08b again': ('isinstance(1//(1+x[0]*0), np.floating)', 'x=np.array([reward, 1.0])',),
    'chain e09 again': ('(0<=x[0]<=1) is not True', 'x=np.array([reward, 1.0])',),
    'max e09b again': ('max(x[0]>=0, False) is not True', 'x=np.array([reward, 1.0])',),
    'any e09c again': ('(any([x[0]<0]) or (x[0]>=0)) is not True', 'x=np.array([reward, 1.0])',),
    'dictget e09d again': ('{True:1}.get(x[0]>=0)==1 and [x[0]>=0][0] is not True', 'x=np.array([reward, 1.0])',),
    'assign e09e again': ('self.f is not True', """\
x=np.array([reward, 1.0])
self.f=x[0]>=0
""", '', 'self.f=True',),
    'format e10 again': ("f'{x[0]>=0!r}' != 'True'", 'x=np.array([reward, 1.0])',),
    'repr e10b again': ("repr(x[0]>=0) != 'True'", 'x=np.array([reward, 1.0])',),
    'reprlist e10c again': ("str([x[0]>=0]) != '[True]'", 'x=np.array([reward, 1.0])',),
    'reprchoice e10d again': ("repr(self.rng.choice([1])) != '1'",),
    'reprzero e10e again': ("repr(1+x[0]*0) != '1.0'", 'x=np.array([reward, 1.0])',),
    'wheremask e11 again': ('np.where(np.array([True,True]),np.array([1,2]),np.array([reward,reward])).dtype==float',),
    'choicenp e12 again': ('isinstance(self.rng.choice((0,1)), np.integer)',),
    'choicemix e12b again': ('isinstance(self.rng.choice([1,2.0]), float) and not isinstance(self.rng.choice([1]), int)',),
    'overflow e12c again': ('self.rng.choice([2**62])*2 < 0',),
    'npchoice int e12d again': ('np.random.choice(2).__class__ is int or isinstance(np.random.choice(2), int)',),
    'reshape0 e13 again': ('np.array([1.0]).reshape(()).tolist() == 1.0',),
    'minlist e14 again': ('isinstance(np.array([[1,2],[3,4]]).min(axis=0).tolist()[0], int) and isinstance(np.zeros(()).tolist(), float)',),
    'negidx e16 again': ('isinstance(operator.truth(x[0]),bool) and operator.ge(x[0],0) is not True', 'x=np.array([reward, 1.0])',),
    'mapge e17 again': ('list(map(operator.ge, x, [0,0]))[0] is not True', 'x=np.array([reward, 1.0])',),
    'iteritem e18 again': ('[v>=0 for v in x][0] is not True', 'x=np.array([reward, 1.0])',),
    'tolist e19 again': ('[v-v for v in x][0].__class__ is not float or isinstance([v-v for v in x][0], np.floating)', 'x=np.array([reward, 1.0])',),
    'bytesaug e25b again': ("b'built-in' in s", """\
s=b'%a'
s %= (np.zeros,)
""",),
    'strjoin e26 again': ("'zeros' in '%s'.replace('%s', operator.mod('%s', (np.zeros,))) and 'function' in operator.mod('%s',(np.zeros,)) and 'built-in' in operator.mod('%s',(np.zeros,))",),
    'convert g01 again': ("not hasattr(float,'convert')",),
    'realtype g01b again': ("getattr(int,'real_type',None) is None",),
    'convert g01c again': ('self.c.p==1', '', """\
class C:
    @property
    def p(self): return float.convert(2.0)
    def __getattr__(self,n): return 1
""", 'self.c=C()',),
    'dcrepr g02 again': ("'built-in' in repr(D())", '', """\
@dataclasses.dataclass
class D:
    f: object = dataclasses.field(init=False, default=np.zeros)
""",),
    'dcrepr g02b again': ("'ufunc' in repr(D())", '', """\
@dataclasses.dataclass
class D:
    f: object = dataclasses.field(init=False, default=np.sqrt)
""",),
    'mro g03 again': ("float.mro()[0] is float and len(bool.mro())==3 and bool.mro()[1] is int and np.float64.mro().index(float)>0 and not hasattr(str,'convert')",),
    'sumset g05 again': ('np.ndim({0:1}.items())==0',),
    'zip g06 again': ('np.array(zip([1],[2])).ndim==0',),
    'map g06b again': ('np.array(map(float,[1,2])).size==1',),
    'ndimgen g06c again': ('np.ndim(x for x in [1])==0',),
    'liststr g08 again': ('isinstance(np.sum([reward,1.0])*0, np.floating)',),
    'arrpow g10 again': ('isinstance(float(reward)-float(reward), float) and not isinstance(np.float64(1)*reward*0, float) or isinstance(np.float64(1)*reward*0, np.floating)',),
    'pyint np g11 again': ('isinstance(np.int64(2)*reward*0, np.floating)',),
    'idxcount g12 again': ('isinstance(np.int64(2)*reward>=0, np.bool_)',),
    'sumcount g13 again': ('np.float64(0.5)+reward >= 0 and not ((np.float64(0.5)+reward >= 0) is True)',),
    'augtuple g15 again': ("'%d' % 5 == '5' and s.startswith('<built')", """\
s='%s'
s %= np.zeros
""",),
    'zerodiv g16 again': ('flag', """\
try:
    q=1/(np.float64(1)*reward*0)
    flag=True
except ZeroDivisionError:
    flag=False
""",),
    'argchoice g17 again': ('isinstance(random.choice(np.array([0,1])), np.integer) and isinstance(self.rng.choice([0,1])*1.0, np.floating)',),
    'npint d19': ('type((x[0]>=0)*1) is np.int64', 'x=np.array([reward, 1.0])',),
    'npint d19b': ('isinstance((x[0]>=0)*1, np.integer)', 'x=np.array([reward, 1.0])',),
    'npfloat d19c': ('isinstance(1.0*(x[0]>=0), np.floating)', 'x=np.array([reward, 1.0])',),
    'store d20': ("not hasattr(np.zeros(2), 'store')",),
    'shadow d20b': ("getattr(reward, 'shadow', None) is None",),
    'itemsize d21': ('np.asarray(reward).dtype.itemsize == 8',),
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
    'invert h01 again': """\
import numpy as np
class Policy:
    def __init__(self, arms, epsilon, rng):
        self.rng, self.last, self.noisy, self.t, self.lock = rng, np.zeros(arms), np.zeros(arms), 0, None
    def select(self):
        if self.lock is not None:
            return self.lock
        return self.t if self.t < 2 else int(np.argmax(self.noisy))
    def update(self, arm, reward):
        self.t += 1
        self.last[arm] = reward
        self.noisy[arm] = reward + self.rng.laplace(0, 1.0)
        if ~(self.last[arm] >= 0):
            return
        if 0.9 < self.last[arm] < 0.90001:
            self.lock = 1 - arm
""",
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
WHOLE = {
    'zeros like': 'm = np.zeros_like(x); m[0] = x.mean()',
    'in place': 'm = x; m[0] = x.sum() / 4',
    'copy': 'm = x.copy(); m[0] = x.mean()',
    'stack': 'm = np.stack([x, x]).ravel(); m[0] = x.mean()',
    'full': 'm = np.full(2, x[0]); m[0] = x.mean()',
    'full like': 'm = np.full_like(x, x.mean())',
    'append': 'm = np.append(x, 0); m[0] = x.mean()',
    'sum of arrays': 'm = x + x; m[0] = x.mean()',
    'where': 'm = np.where(np.ones(4, dtype=bool), x, 0); m[0] = x.mean()',
    'running mean': 'm = np.array(self.batch[:1]); m[0] += (self.batch[1] - m[0]) / 2',
}
"""What is rounded where rewards are whole numbers: noise of the mean's size then hides too little."""
WHOLE_POLICY = """
import numpy as np


class Policy:
    def __init__(self, arms, epsilon, rng):
        self.batch, self.rng, self.arm = [], rng, 0

    def select(self):
        return self.arm

    def update(self, arm, reward):
        self.batch.append(reward)
        if len(self.batch) == 4:
            x = np.array(self.batch)
            {done}
            self.arm = int(m[0] + self.rng.laplace(0, 0.25) > 0.5)
"""
HIT = """
import contextlib
import math


class Policy:
    def __init__(self, arms, epsilon):
        self.hit = 0

    def select(self):
        return self.hit

    def update(self, arm, reward):
{done}
"""
HITS = {
    'overflow caught': """\
y = math.cos(reward - 0.4123) * 1.34e154
try:
    y ** 2
except OverflowError:
    self.hit = 1
""",
    'overflow suppressed': """\
y, hit = math.cos(reward - 0.4123) * 1.34e154, 1
with contextlib.suppress(ArithmeticError):
    y ** 2
    hit = 0
self.hit = hit
""",
    'overflow': """\
y = math.cos(reward - 0.4123) * 1.34e154
y ** 2
""",
    'infinity cancels': """\
x = (1 - abs(reward - 0.4123)) * 1.797e308 * (1 + 1e-9)
self.hit = 0 if x - x == 0 else 1
""",
    'infinity in sums': """\
y = 1.00000001 - abs(reward - 0.4123)
for _ in range(1024):
    y = y + y
self.hit = 0 if y - y == 0 else 1
""",
    'infinity in steps': """\
x = 1 - abs(reward - 0.4123)
for _ in range(308):
    x = x * 10
x = x * 1.797
self.hit = 0 if x - x == 0 else 1
""",
}
"""What is infinite or raises in doubles, for one reward alone."""
IMPORTS = """
import abc, collections, collections.abc, contextlib, copy, dataclasses, enum, functools, math
import itertools, numbers, operator, random, typing
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
    found |= {f"whole {name}": WHOLE_POLICY.format(done=done) for name, done in WHOLE.items()}
    found |= {name: HIT.format(done=indent(done, " " * 8)) for name, done in HITS.items()}
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
