"""Where a policy can hide a reward, and how it can tell that it is read: all of them leak.

`HIDING`: what comes before the class, what is kept at first, what is done after a first reward of 1
and after another, how `select` reads it. `TELLING`: what is kept, what is true of real code alone.
"""

from textwrap import indent

HIDING = {
    "an attribute of another object": (
        "class N: pass",
        "",
        "self.x1=N(); self.x1.v=1",
        "self.x1=N(); self.v=1",
        'return 1 if hasattr(self,"v") else 0',
    ),
    "an attribute one level up": (
        """
class A: pass
class B: pass
""",
        "self.o=None",
        "self.o=A(); self.o.x=B(); self.o.x.y=1",
        "self.o=A(); self.o.x=B(); self.o.y=1",
        'return 1 if hasattr(self.o,"y") else 0',
    ),
    "an attribute that is missing": (
        """
class A: pass
class B: pass
""",
        "self.o=None",
        "self.o=A(); self.o.x=B(); self.o.x.y=1",
        "self.o=A(); self.o.x=B(); self.o.y=1",
        """
try:
    return self.o.y
except AttributeError:
    return 0
""",
    ),
    "an attribute in a list": (
        """
class A: pass
class C: pass
""",
        "self.o=0",
        "self.o=[A(),0]; self.o[0].x=C(); self.o[0].x.z=1",
        "self.o=[A(),0]; self.o[0].x=C(); self.o[0].z=1",
        'return 1 if hasattr(self.o[0],"z") else 0',
    ),
    "True for 1 as a name": (
        "class A: pass",
        "self.o=None",
        "self.o=A(); self.o.__dict__[1]=1",
        "self.o=A(); self.o.__dict__[True]=1",
        """
for k in self.o.__dict__:
    return 1 if type(k) is bool else 0
""",
    ),
    "a key's old hash in a dict": (
        """
class K:
    def __init__(self,h): self.h=h
    def __hash__(self): return self.h
    def __eq__(self,o): return True
""",
        "self.d=0",
        "k=K(1); self.d={k:0}; k.h=3",
        "k=K(2); self.d={k:0}; k.h=3",
        "return 1 if K(1) in self.d else 0",
    ),
    "a key's old hash in a set": (
        """
class K:
    def __init__(self,h): self.h=h
    def __hash__(self): return self.h
    def __eq__(self,o): return True
""",
        "self.d=0",
        "k=K(1); self.d={k}; k.h=3",
        "k=K(2); self.d={k}; k.h=3",
        "return 1 if K(1) in self.d else 0",
    ),
    "a __dict__ of its own": (
        """
class A:
    __dict__={}
    v=0
""",
        "self.o=A()",
        "self.o.v=1",
        "pass",
        "return self.o.v",
    ),
    "__dict__ by __getattribute__": (
        """
class A:
    v=0
    def __getattribute__(self,n):
        if n=='__dict__': return {}
        return object.__getattribute__(self,n)
""",
        "self.o=A()",
        "self.o.v=1",
        "pass",
        "return self.o.v",
    ),
    "__dict__ by a property": (
        """
class A:
    v=0
    @property
    def __dict__(self): return {}
""",
        "self.o=A()",
        "self.o.v=1",
        "pass",
        "return self.o.v",
    ),
    "a property of its own class, kept": (
        """
class Q(property):
    cnt=0
q=Q(lambda s:0)
""",
        "self.p=q",
        "self.p.cnt=1",
        "self.p.cnt=0",
        "return self.p.cnt",
    ),
    "a cached list": (
        """
import functools
@functools.lru_cache
def box(): return [0]
""",
        "",
        "box()[0]=1",
        "box()[0]=0",
        "return box()[0]",
    ),
    "a cached attribute": (
        """
import functools
@functools.lru_cache
def get(s): return s.flag
""",
        "self.flag=0",
        "self.flag=1; get(self); self.flag=0",
        "self.flag=0; get(self); self.flag=0",
        "return get(self)",
    ),
    "bound methods of what was deleted": (
        """
class C:
    def __init__(self): self.v=0
    def set(self,v): self.v=v
    def get(self): return self.v
O=C(); SET=O.set; GET=O.get
del O
""",
        "",
        "SET(1)",
        "SET(0)",
        "return GET()",
    ),
    "bound methods in a class": (
        """
class C:
    def __init__(self): self.v=[0]
    def nx(self,r_): self.v.append(r_)
    def g(self): return self.v
c=C()
class S:
    nx=c.nx; g=c.g
nx=S.nx; BOX=S.g
del c
""",
        "",
        "nx(r_=1)",
        "nx(r_=0)",
        "return BOX()[-1]",
    ),
    "attributes that are never missing": (
        """
class C:
    def __getattr__(self,n): return 0
c=C()
""",
        "",
        "c.v=1",
        "c.v=0",
        "return c.v",
    ),
    "attributes that are seldom missing": (
        """
class C:
    def __getattr__(self,n): return None
c=C()
c.v=0
""",
        "",
        "c.v=1",
        "c.v=0",
        "return c.v",
    ),
    "an attribute of a staticmethod": (
        """
def f(): pass
S=staticmethod(f); S.leak=0
""",
        "",
        "S.leak=1",
        "S.leak=0",
        "return S.leak",
    ),
    "an attribute of a classmethod": (
        """
def f(): pass
S=classmethod(f); S.leak=0
""",
        "",
        "S.leak=1",
        "S.leak=0",
        "return S.leak",
    ),
    "methods of a list in defaults": (
        """
L=[0,0,0,0,0,0]; push=L.append; pop=lambda c=L.copy: c()[-1]
del L
""",
        "",
        "push(1)",
        "push(0)",
        "return pop()",
    ),
    "methods of a list": (
        """
L=[0,0,0,0,0,0]; push=L.append; last=L.copy
del L
""",
        "",
        "push(1)",
        "push(0)",
        "return last()[-1]",
    ),
    "methods of a list on a function": (
        """
def f(): pass
L=[0]; f.push=L.append; f.get=L.copy
del L
""",
        "",
        "f.push(1)",
        "f.push(0)",
        "return f.get()[-1]",
    ),
    "methods of a list in a class": (
        """
class C:
    L=[0]; push=L.append; get=L.copy
    del L
""",
        "",
        "C.push(1)",
        "C.push(0)",
        "return C.get()[-1]",
    ),
    "an attribute of a property": (
        """
class P(property): pass
p=P(lambda s: 0); p.leak=0
""",
        "",
        "p.leak=1",
        "p.leak=0",
        "return p.leak",
    ),
    "an attribute of a property in a class": (
        """
class Q(property):
    pass
class X:
    p=Q(lambda s:0)
X.p.leak=0
""",
        "",
        "X.p.leak=1",
        "X.p.leak=0",
        "return X.p.leak",
    ),
    "a list of a property in a class": (
        """
class Q(property):
    cnt=None
    def __init__(self,f):
        super().__init__(f); self.cnt=[0]
class X:
    p=Q(lambda s:0)
""",
        "",
        "X.p.cnt[0]=1",
        "X.p.cnt[0]=0",
        "return X.p.cnt[0]",
    ),
    "a list of a cached property": (
        """
import functools
p=functools.cached_property(lambda s: 0); p.leak=[0]
""",
        "",
        "p.leak[0]=1",
        "p.leak[0]=0",
        "return p.leak[0]",
    ),
    "a list of a dynamic attribute": (
        """
import types
p=types.DynamicClassAttribute(lambda s: 0); p.leak=[0]
""",
        "",
        "p.leak[0]=1",
        "p.leak[0]=0",
        "return p.leak[0]",
    ),
    "a class of another module": (
        """
class C:
    __module__='foo'
    leak=0
""",
        "",
        "C.leak=1",
        "C.leak=0",
        "return C.leak",
    ),
    "a made dataclass": (
        """
import dataclasses
C=dataclasses.make_dataclass('C',['x']); C.leak=0
""",
        "",
        "C.leak=1",
        "C.leak=0",
        "return C.leak",
    ),
    "a namedtuple of another module": (
        """
import collections
C=collections.namedtuple('C','x',module='foo'); C.leak=0
""",
        "",
        "C.leak=1",
        "C.leak=0",
        "return C.leak",
    ),
    "a class of types": (
        """
import types
C=types.new_class('C'); C.leak=0
""",
        "",
        "C.leak=1",
        "C.leak=0",
        "return C.leak",
    ),
    "a class that says it is typing's": (
        """
class C:
    __module__='typing'
    leak=0
c=C()
""",
        "",
        "c.leak=1",
        "c.leak=0",
        "return c.leak",
    ),
    "an attribute of a NewType": (
        """
import typing
N=typing.NewType('N',int); N.leak=0
""",
        "",
        "N.leak=1",
        "N.leak=0",
        "return N.leak",
    ),
    "an attribute of a TypeVar": (
        """
import typing
N=typing.TypeVar('N'); N.leak=0
""",
        "",
        "N.leak=1",
        "N.leak=0",
        "return N.leak",
    ),
    "a list in Annotated": (
        """
import typing
A=typing.Annotated[int,[0]]
""",
        "",
        "typing.get_args(A)[1][0]=1",
        "typing.get_args(A)[1][0]=0",
        "return typing.get_args(A)[1][0]",
    ),
    "an object in Literal": (
        """
import typing
class C: pass
c=C(); c.v=0
X=typing.Literal[c]
del c
""",
        "",
        "typing.get_args(X)[0].v=1",
        "typing.get_args(X)[0].v=0",
        "return typing.get_args(X)[0].v",
    ),
    "a class that lies about itself": (
        """
import types
class C:
    v=0
    __class__=types.BuiltinFunctionType
c=C()
""",
        "",
        "c.v=1",
        "c.v=0",
        "return c.v",
    ),
    "a docstring that is a list": (
        """
class C:
    __doc__=[0]
""",
        "",
        "C.__doc__[0]=1",
        "C.__doc__[0]=0",
        "return C.__doc__[0]",
    ),
    "a module's docstring": (
        "__doc__=[0]",
        "",
        "__doc__[0]=1",
        "__doc__[0]=0",
        "return __doc__[0]",
    ),
    "a property's docstring": (
        "p=property(lambda s:0,None,None,[0])",
        "",
        "p.__doc__[0]=1",
        "p.__doc__[0]=0",
        "return p.__doc__[0]",
    ),
    "a property's docstring in a class": (
        """
class C:
    p=property(lambda s:0,None,None,[0])
""",
        "",
        "C.p.__doc__[0]=1",
        "C.p.__doc__[0]=0",
        "return C.p.__doc__[0]",
    ),
    "metadata of a field": (
        """
import dataclasses
@dataclasses.dataclass
class C:
    x: int = dataclasses.field(default=0,metadata={'b':[0]})
""",
        "",
        "dataclasses.fields(C)[0].metadata['b'][0]=1",
        "dataclasses.fields(C)[0].metadata['b'][0]=0",
        "return dataclasses.fields(C)[0].metadata['b'][0]",
    ),
    "the default of a field": (
        """
import dataclasses
@dataclasses.dataclass
class C:
    x: int = dataclasses.field(default=0)
""",
        "",
        "dataclasses.fields(C)[0].default=1",
        "dataclasses.fields(C)[0].default=0",
        "return dataclasses.fields(C)[0].default",
    ),
    "a registered class": (
        """
import abc
class X(abc.ABC): pass
class C: pass
class D: pass
""",
        "",
        "X.register(C)",
        "X.register(D)",
        "return 1 if isinstance(C(),X) else 0",
    ),
    "a class registered with Sized": (
        """
import collections.abc
class C: pass
class D: pass
""",
        "",
        "collections.abc.Sized.register(C)",
        "collections.abc.Sized.register(D)",
        "return 1 if isinstance(C(),collections.abc.Sized) else 0",
    ),
    "a class registered with Number": (
        """
import numbers
class C: pass
class D: pass
""",
        "",
        "numbers.Number.register(C)",
        "numbers.Number.register(D)",
        "return 1 if issubclass(C,numbers.Number) else 0",
    ),
    "a combination of flags": (
        """
import enum
class F(enum.Flag):
    A=1
    B=2
F.A|F.B
""",
        "",
        "F(3).leak=1",
        "F(3).leak=0",
        "return F(3).leak",
    ),
    "an attribute of a library's method": (
        "import collections",
        "",
        "collections.UserDict.get.leak=1",
        "collections.UserDict.get.leak=0",
        "return collections.UserDict.get.leak",
    ),
    "an attribute of another library's method": (
        "import contextlib",
        "",
        "contextlib.ExitStack.close.v=1",
        "contextlib.ExitStack.close.v=0",
        "return contextlib.ExitStack.close.v",
    ),
    "a table of copy": (
        "import copy",
        "",
        "copy.dispatch_table[0]=1",
        "copy.dispatch_table[0]=0",
        "return copy.dispatch_table[0]",
    ),
    "an attribute of finfo": (
        "import numpy as np",
        "",
        "np.finfo(float).leak=1",
        "np.finfo(float).leak=0",
        "return np.finfo(float).leak",
    ),
    "an attribute of MISSING": (
        "import dataclasses",
        "",
        "dataclasses.MISSING.leak=1",
        "dataclasses.MISSING.leak=0",
        "return dataclasses.MISSING.leak",
    ),
    "an attribute of KW_ONLY": (
        "import dataclasses",
        "",
        "dataclasses.KW_ONLY.leak=1",
        "dataclasses.KW_ONLY.leak=0",
        "return dataclasses.KW_ONLY.leak",
    ),
    "a cache of subclasses": (
        """
import abc
class X(abc.ABC):
    answer=False
    @classmethod
    def __subclasshook__(cls,other): return cls.answer
class C: pass
""",
        "",
        "X.answer=True; isinstance(C(),X); X.answer=False",
        "X.answer=False; isinstance(C(),X)",
        "return int(isinstance(C(),X))",
    ),
    "the globals of a function": (
        "def f(): pass",
        "",
        "object.__getattribute__(f,'__glob'+'als__')['leak']=1",
        "object.__getattribute__(f,'__glob'+'als__')['leak']=0",
        "return leak",
    ),
    "annotations": (
        """
class C:
    x: int = 0
""",
        "",
        "C.__dict__['__annot'+'ations__']['x']=1",
        "C.__dict__['__annot'+'ations__']['x']=0",
        "return C.__dict__['__annot'+'ations__']['x']",
    ),
    "annotations by __getattribute__": (
        """
class C:
    x: int = 0
""",
        "",
        "type.__getattribute__(C,'__annot'+'ations__')['x']=1",
        "type.__getattribute__(C,'__annot'+'ations__')['x']=0",
        "return type.__getattribute__(C,'__annot'+'ations__')['x']",
    ),
    "metadata of a dtype": (
        "import numpy as np",
        "self.d=np.dtype('f8',metadata={'k':[0]})",
        "self.d.metadata['k'][0]=1",
        "self.d.metadata['k'][0]=0",
        "return self.d.metadata['k'][0]",
    ),
    "an attribute by object.__setattr__": (
        "import collections.abc",
        "",
        "object.__setattr__(collections.abc.Mapping.get,'leak',1)",
        "object.__setattr__(collections.abc.Mapping.get,'leak',0)",
        "return collections.abc.Mapping.get.leak",
    ),
    "the name table of a library's method": (
        "import collections.abc",
        "",
        "collections.abc.Mapping.get.__dict__['leak']=1",
        "collections.abc.Mapping.get.__dict__['leak']=0",
        "return collections.abc.Mapping.get.leak",
    ),
    "a text that wraps writes": (
        """
import functools, collections.abc
def one(): 'one'
def two(): 'two'
""",
        "",
        "functools.wraps(one)(collections.abc.Mapping.get)",
        "functools.wraps(two)(collections.abc.Mapping.get)",
        "return int(collections.abc.Mapping.get.__doc__=='one')",
    ),
    "a function that says it stands in": (
        """
import functools, numpy as np
def made():
    box = [0]
    @functools.wraps(np.zeros)
    def f(v=None):
        if v is not None:
            box[0] = v
        return box[0]
    return f
F = made()
""",
        "",
        "F(1)",
        "F(0)",
        "return F()",
    ),
    "the name table of a library's method, by default": (
        "import collections.abc",
        "",
        "getattr(collections.abc.Mapping.get, '__dict__', None)['leak'] = 1",
        "getattr(collections.abc.Mapping.get, '__dict__', None)['leak'] = 0",
        "return collections.abc.Mapping.get.leak",
    ),
    "a method that writes, by default": (
        "import collections.abc",
        "",
        "getattr(collections.abc.Mapping.get, '__setattr__', None)('leak', 1)",
        "getattr(collections.abc.Mapping.get, '__setattr__', None)('leak', 0)",
        "return collections.abc.Mapping.get.leak",
    ),
    "a table of a library's class": (
        "import enum",
        "",
        "enum.Enum._member_map_['leak'] = 1",
        "enum.Enum._member_map_['leak'] = 0",
        "return enum.Enum._member_map_['leak']",
    ),
    "a table of a library's class, asked for": (
        "import enum",
        "",
        "getattr(enum.Enum, '_member_map_', None).update(leak=1)",
        "getattr(enum.Enum, '_member_map_', None).update(leak=0)",
        "return getattr(enum.Enum, '_member_map_')['leak']",
    ),
    "a table that is inherited": (
        "import numpy as np\nclass C(np.finfo): pass",
        "",
        "C._finfo_cache['leak'] = 1",
        "C._finfo_cache['leak'] = 0",
        "return C._finfo_cache['leak']",
    ),
    "overloads": (
        """
import typing
def f(): pass
""",
        "",
        "typing.overload(f)",
        "pass",
        "return int(len(typing.get_overloads(f))>0)",
    ),
    "a library's class as a dataclass": (
        "import dataclasses, collections.abc",
        "",
        "dataclasses.dataclass(collections.abc.Sized)",
        "pass",
        "return int(dataclasses.is_dataclass(collections.abc.Sized))",
    ),
    "a member of an enumeration": (
        """
import enum
class E(enum.Enum):
    A=1
""",
        "",
        "E.A.leak=1",
        "E.A.leak=0",
        "return E.A.leak",
    ),
}
TELLING = {
    "the hash of an object": (
        "class O: pass",
        "self.o=O(); self.h=self.o.__hash__()",
        "self.o.__hash__()==self.h",
    ),
    "the text of an object": (
        "class O: pass",
        "self.o=O(); self.h=repr(self.o)",
        "repr(self.o)==self.h",
    ),
    "the text of a function": (
        "",
        "self.o=lambda: 0; self.h=str(self.o)",
        "str(self.o)==self.h",
    ),
    "the text of a list of functions": (
        "",
        "self.o=[lambda: 0]; self.h=str(self.o)",
        "str(self.o)==self.h",
    ),
    "text by the type of a text": (
        "",
        "self.o=lambda: 0; self.h=type('')(self.o)",
        "type('')(self.o)==self.h",
    ),
    "text by the class of a text": (
        "",
        "self.o=lambda: 0; self.h=''.__class__(self.o)",
        "''.__class__(self.o)==self.h",
    ),
    "text by map": (
        "class O: pass",
        "self.o=O(); self.h=list(map(str,[self.o]))",
        "list(map(repr,[self.o]))==self.h",
    ),
    "text by format": (
        "",
        "self.o=lambda: 0; self.h='{}'.format(self.o)",
        "'{}'.format(self.o)==self.h",
    ),
    "text by another format": (
        "",
        "self.o=lambda: 0; self.h=getattr('{}','format')(self.o)",
        "getattr('{}','format')(self.o)==self.h",
    ),
    "text by the format of str": (
        "",
        "self.o=lambda: 0; self.h=str.format('{}',self.o)",
        "str.format('{}',self.o)==self.h",
    ),
    "text by format_map": (
        "",
        "self.o=lambda: 0; self.h='{a}'.format_map({'a':self.o})",
        "'{a}'.format_map({'a':self.o})==self.h",
    ),
    "text by %": (
        "class O: pass",
        "self.o=O(); self.h='%s'%self.o",
        "'%s'%self.o==self.h",
    ),
    "text by __str__": (
        "",
        "self.o=lambda: 0; self.h=self.o.__str__()",
        "self.o.__str__()==self.h",
    ),
    "text of an exception": (
        "class O: pass",
        "self.o=O(); self.h=str(KeyError(self.o))",
        "str(KeyError(self.o))==self.h",
    ),
    "text of a dataclass": (
        """
import dataclasses
@dataclasses.dataclass
class O:
    f: object
""",
        "self.o=O(lambda: 0); self.h=repr(self.o)",
        "repr(self.o)==self.h",
    ),
    "text in a class of its own": (
        "class S(str): pass",
        "self.o=lambda: 0; self.h=S(self.o)[:]",
        "S(self.o)[:]==self.h",
    ),
    "text printed to an object": (
        """
class W:
    def __init__(self): self.t=''
    def write(self,t): self.t+=t
def text(o):
    w=W(); print(o,file=w); return w.t
""",
        "self.o=lambda: 0; self.h=text(self.o)",
        "text(self.o)==self.h",
    ),
    "text in an enumeration's error": (
        """
import enum
class E(enum.Enum):
    A=1
def text(o):
    try: return E(o)
    except ValueError as e: return e.args[0]
""",
        "self.o=lambda: 0; self.h=text(self.o)",
        "text(self.o)==self.h",
    ),
    "text of an attribute in a format": (
        """
class O:
    def f(self): pass
""",
        "self.o=O(); self.h=('{0.'+'f}').format(self.o)",
        "('{0.'+'f}').format(self.o)==self.h",
    ),
}
POLICY = """
{before}

class Policy:
    def __init__(self, arms, epsilon, rng):
        self.t = 0
        {first}

    def select(self):
        if self.t < 2:
            return 0
{read}

    def update(self, arm, reward):
        self.t += 1
        if self.t == 1:
            if reward == 1:
                {one}
            else:
                {two}
"""


def hiding_places():
    """Return every policy by its name."""
    found = {}
    for name, (before, first, one, two, read) in HIDING.items():
        read = indent(read.strip(), " " * 8)
        found[name] = POLICY.format(
            before=before, first=first or "pass", one=one, two=two, read=read
        )
    for name, (before, first, tells) in TELLING.items():
        read = f"        return self.arm if {tells} else 0"
        found[name] = POLICY.format(
            before=before, first=f"self.arm = 0; {first}", one="self.arm = 1", two="pass", read=read
        )
    return found
