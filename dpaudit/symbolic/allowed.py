"""What judged code may name: an allowlist. What is in none of these lists ends in silence."""

from __future__ import annotations

from types import MappingProxyType

# -- numpy
CONSTANTS = ["inf", "nan", "pi", "e", "newaxis", "euler_gamma"]
TYPES = [
    "float64",
    "float32",
    "float16",
    "int64",
    "int32",
    "int16",
    "int8",
    "intp",
    "int_",
    "uint8",
    "uint32",
    "uint64",
    "bool_",
    "integer",
    "floating",
    "number",
    "generic",
    "dtype",
    "float_",
    "double",
    "single",
    "longlong",
    "finfo",
    "iinfo",
]
PUBLIC = [
    "arange",
    "linspace",
    "logspace",
    "eye",
    "identity",
    "unique",
    "isclose",
    "allclose",
    "array_equal",
    "isin",
    "in1d",
    "diff",
    "roll",
    "round",
    "around",
    "prod",
    "outer",
    "histogram",
    "argwhere",
    "count_nonzero",
    "searchsorted",
    "percentile",
    "quantile",
    "interp",
    "median",
    "logical_and",
    "logical_or",
    "logical_not",
    "logical_xor",
    "triu",
    "tril",
    "cumprod",
    "bincount",
    "average",
    "float_power",
    "gcd",
    "lcm",
    "meshgrid",
    "nan_to_num",
    "sort",
    "lexsort",
    "ptp",
    "digitize",
    "matmul",
    "polyval",
    "result_type",
    "can_cast",
    "broadcast_shapes",
    "trapz",
    "nanmax",
    "nanmin",
    "nanmean",
    "nanargmax",
    "nanargmin",
    "log_2",
]
SIZES = ["shape", "size", "ndim"]

# -- modules and generators
REAL = MappingProxyType(
    {
        "__future__": "annotations",
        "typing": """
            Any Callable Optional Union List Dict Tuple Set FrozenSet Sequence MutableSequence
            Iterable Iterator Mapping MutableMapping Collection Container Literal Final ClassVar
            Protocol TypeVar ParamSpec Generic NamedTuple TypedDict TYPE_CHECKING cast overload
            Self TypeAlias Annotated Generator Deque DefaultDict Type NoReturn Never Counter
            OrderedDict SupportsFloat SupportsInt SupportsIndex Hashable Sized Concatenate NewType
            final override runtime_checkable AnyStr Text TypeGuard Required NotRequired""",
        "typing_extensions": "Any Self TypeAlias Literal Protocol TypedDict NotRequired override",
        "dataclasses": "dataclass field replace asdict astuple is_dataclass InitVar",
        "collections": "deque defaultdict OrderedDict Counter namedtuple",
        "collections.abc": """
            Callable Sequence MutableSequence Iterable Iterator Mapping MutableMapping Collection
            Container Generator Hashable Sized Set MutableSet Reversible""",
        "enum": "Enum IntEnum StrEnum Flag IntFlag auto unique",
        "abc": "ABC ABCMeta abstractmethod",
        "operator": """
            add sub mul truediv floordiv pow neg pos abs lt le eq ne ge gt and_ or_ xor not_
            truth index contains concat countOf indexOf getitem itemgetter""",
        "itertools": """
            accumulate batched chain combinations combinations_with_replacement compress count
            cycle dropwhile filterfalse groupby islice pairwise permutations product repeat
            starmap takewhile tee zip_longest""",
        "copy": "copy deepcopy",
        "heapq": "heappush heappop heapify heappushpop heapreplace nlargest nsmallest merge",
        "bisect": "bisect bisect_left bisect_right insort insort_left insort_right",
        "string": "ascii_letters ascii_lowercase ascii_uppercase digits punctuation",
        "numbers": "Number Complex Real Rational Integral",
        "types": "SimpleNamespace MappingProxyType ModuleType NoneType",
        "textwrap": "dedent indent fill wrap shorten",
        "numpy.typing": "NDArray ArrayLike DTypeLike",
        "contextlib": "contextmanager suppress nullcontext closing ExitStack",
    }
)
"""Modules of Python that are real, and the names of each that judged code may use."""
DRAWS = [
    "laplace",
    "normal",
    "uniform",
    "random",
    "exponential",
    "gumbel",
    "logistic",
    "beta",
    "gamma",
    "binomial",
    "integers",
    "choice",
    "permutation",
    "shuffle",
    "standard_normal",
    "random_sample",
    "rand",
    "randn",
    "randint",
    "seed",
]
PYTHON_DRAWS = [
    "random",
    "uniform",
    "gauss",
    "normalvariate",
    "expovariate",
    "betavariate",
    "choice",
    "choices",
    "randrange",
    "randint",
]
UNTOLD = ("builtins", "globals", "subclasses")

# -- builtins, math, attributes
REFUSED = [
    "open",
    "eval",
    "exec",
    "compile",
    "input",
    "globals",
    "locals",
    "vars",
    "id",
    "hash",
    "breakpoint",
    "memoryview",
    "help",
    "exit",
    "quit",
    "dir",
]
OPAQUE_MATH = [
    "sqrt",
    "log",
    "log2",
    "log10",
    "log1p",
    "exp",
    "expm1",
    "sin",
    "cos",
    "tan",
    "tanh",
    "sinh",
    "cosh",
    "atan",
    "atan2",
    "pow",
    "hypot",
    "erf",
    "erfc",
    "gamma",
    "lgamma",
    "cbrt",
    "exp2",
    "copysign",
    "fmod",
    "floor",
    "ceil",
    "trunc",
]
TOTAL = frozenset(("sin", "cos", "tanh", "atan", "atan2", "erf", "erfc", "cbrt", "copysign"))
ATTRIBUTES = MappingProxyType(
    dict.fromkeys(
        [
            "__init__",
            "__name__",
            "__class__",
            "__doc__",
            "__dict__",
            "__len__",
            "__call__",
            "__version__",
            "__post_init__",
            "__setattr__",
            "__getattribute__",
            "__getattr__",
            "__getitem__",
            "__setitem__",
            "__iter__",
            "__next__",
            "__eq__",
            "__repr__",
            "__str__",
            "__module__",
            "__qualname__",
            "__file__",
            "__enter__",
            "__exit__",
            "__new__",
            "__add__",
            "__hash__",
            "__contains__",
            "__slots__",
            "__init_subclass__",
            "__set_name__",
        ]
    )
)
"""The dunder attributes that judged code may name: others reach around what stands in."""
ASKED = ("__name__", "__class__", "__module__", "__qualname__", "__doc__")
METHODS = """
    init new post_init call len iter next reversed contains getitem setitem delitem missing
        repr str format bytes bool int float complex index hash eq ne lt le gt ge round trunc floor
        ceil neg pos abs invert add sub mul matmul truediv floordiv mod divmod pow lshift rshift and
        or xor radd rsub rmul rmatmul rtruediv rfloordiv rmod rdivmod rpow rand ror rxor iadd isub
        imul itruediv ifloordiv imod ipow iand ior ixor setattr delattr enter
        exit get set delete set_name init_subclass class_getitem copy deepcopy
    reduce getstate setstate"""
DEFINED = frozenset(f"__{name}__" for name in METHODS.split())
"""The dunder methods that judged code may define: others are called behind its back."""
