"""What judged code may name: an allowlist. What is in none of these lists ends in silence."""

from __future__ import annotations

from types import MappingProxyType

# -- numpy
CONSTANTS = ["inf", "nan", "pi", "e", "newaxis", "euler_gamma"]
_TYPES = """
    float64 float32 float16 int64 int32 int16 int8 intp int_ uint8 uint32 uint64 bool_ integer
    floating number generic dtype float_ double single longlong finfo iinfo"""
TYPES = _TYPES.split()
_PUBLIC = """
    arange linspace logspace eye identity unique isclose allclose array_equal isin in1d diff
    roll round around prod outer histogram argwhere count_nonzero searchsorted percentile
    quantile interp median logical_and logical_or logical_not logical_xor triu tril cumprod
    bincount average float_power gcd lcm meshgrid nan_to_num sort lexsort ptp digitize matmul
    polyval result_type can_cast broadcast_shapes trapz nanmax nanmin nanmean nanargmax
    nanargmin log_2"""
PUBLIC = _PUBLIC.split()
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
_DRAWS = """
    laplace normal uniform random exponential gumbel logistic beta gamma binomial integers
    choice permutation shuffle standard_normal random_sample rand randn randint seed"""
DRAWS = _DRAWS.split()
_PYTHON_DRAWS = """
    random uniform gauss normalvariate expovariate betavariate choice choices randrange
    randint"""
PYTHON_DRAWS = _PYTHON_DRAWS.split()
UNTOLD = ("builtins", "globals", "subclasses")

# -- builtins, members of objects
BUILTINS = """
    abs all any bool callable chr complex dict divmod enumerate filter float format frozenset
    getattr hasattr delattr setattr int isinstance issubclass iter len list map max min next object
    ord pow print property range repr ascii reversed round set slice sorted staticmethod classmethod
    str sum super tuple type zip bytes True False None Ellipsis NotImplemented __build_class__
    __debug__
    BaseException Exception ArithmeticError AssertionError AttributeError DeprecationWarning
    EOFError FileNotFoundError FloatingPointError FutureWarning ImportError IndexError KeyError
    KeyboardInterrupt LookupError MemoryError ModuleNotFoundError NameError NotImplementedError
    OSError OverflowError PermissionError RecursionError RuntimeError RuntimeWarning StopIteration
    SyntaxError SystemExit TimeoutError TypeError UnboundLocalError UnicodeError UserWarning
    ValueError Warning ZeroDivisionError"""
"""The builtins that judged code may use; it may name the others, and ends in silence there."""
_MEMBERS = """
    append extend insert pop remove clear copy count index sort reverse
    get items keys values popitem setdefault update fromkeys move_to_end most_common elements
    subtract total appendleft popleft extendleft rotate maxlen
    add discard union intersection difference symmetric_difference issubset issuperset isdisjoint
    intersection_update difference_update symmetric_difference_update
    join split rsplit strip lstrip rstrip lower upper startswith endswith format format_map replace
    title capitalize ljust rjust center zfill isdigit isalpha splitlines partition removeprefix
    removesuffix find is_integer bit_length bit_count from_iterable
    shape size ndim dtype T sum mean max min argmax argmin any all var std cumsum dot tolist fill
    astype reshape flatten ravel nonzero argsort clip round item
    eps tiny
    laplace normal uniform random exponential gumbel logistic beta gamma binomial integers choice
    permutation shuffle standard_normal random_sample rand randn randint seed spawn rvs
    gauss normalvariate expovariate betavariate choices randrange
    name value setter getter deleter
    enter_context close send
"""
MEMBERS = frozenset(_MEMBERS.split())
"""What judged code may ask of objects that are not its own: methods of containers, texts, arrays
and generators. Of what it made itself it may ask for anything."""

# -- math, attributes
_OPAQUE_MATH = """
    sqrt log log2 log10 log1p exp expm1 sin cos tan tanh sinh cosh atan atan2 pow hypot erf
    erfc gamma lgamma cbrt exp2 copysign fmod floor ceil trunc"""
OPAQUE_MATH = _OPAQUE_MATH.split()
TOTAL = frozenset(("sin", "cos", "tanh", "atan", "atan2", "erf", "erfc", "cbrt", "copysign"))
ASKED = ("__name__", "__class__", "__module__", "__qualname__", "__doc__")
METHODS = ("__init__", "__setattr__", "__getitem__")
_UNANSWERED = "dict len call setitem iter next eq enter exit new add contains"
UNANSWERED = frozenset(f"__{name}__" for name in _UNANSWERED.split())
"""What may stand in a file, and ends in silence where it is asked for."""
SPECIAL = frozenset((*ASKED, *METHODS, *UNANSWERED, "format", "format_map"))
"""Attributes that are answered for: who somebody is, methods that reach further than they look."""
_NAMES = "all author copyright credits date email file license post_init slots version"
NAMES = frozenset((*SPECIAL, *(f"__{name}__" for name in _NAMES.split())))
"""The dunder names that judged code may say: others reach around what stands in."""
_DEFINED = """
    init new post_init call len iter next reversed contains getitem setitem delitem missing
        repr str format bytes bool int float complex index hash eq ne lt le gt ge round trunc floor
        ceil neg pos abs invert add sub mul matmul truediv floordiv mod divmod pow lshift rshift and
        or xor radd rsub rmul rmatmul rtruediv rfloordiv rmod rdivmod rpow rand ror rxor iadd isub
        imul itruediv ifloordiv imod ipow iand ior ixor setattr delattr enter
        exit get set delete set_name init_subclass class_getitem copy deepcopy
    reduce getstate setstate"""
DEFINED = frozenset(f"__{name}__" for name in _DEFINED.split())
"""The dunder methods that judged code may define: others are called behind its back."""
