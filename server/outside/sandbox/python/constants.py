"""Evaluates constant expressions in tests, such as `[1] * 3`.

Results are exact and of limited size. Sets and dicts keep the order in which the test's text lists their members.
"""

import math
import re
from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn

# Maximum number of parts of a value, e.g. of items of nested lists.
VALUE_SIZE_MAX = 100_000
# Maximum length of a list or a string that an expression may compute.
LENGTH_MAX = 100_000
BITS_MAX = 20_000
EXACT_BITS = 53
SAFE = 2**53 - 1


class UnreadError(Exception):
    """Raised for a part of a test that the reader does not understand. The message says why."""


def fail(why: str) -> NoReturn:
    """Raises UnreadError. `why` describes the part of the test."""
    raise UnreadError(why)


class Pile(NamedTuple):
    """A set or frozenset, as a test writes it. Keeps its members in the order of the text."""

    letter: str
    items: list[Any]


class Pairs(NamedTuple):
    """A dict, as a test writes it. Keeps its entries in the order of the text."""

    pairs: list[tuple[Any, Any]]


def encode(value: Any) -> Any:
    """Encodes a value as JSON, in the form in which runner.py encodes results.

    Small ints and lists stay as they are. A value of another type becomes an object, whose key is a letter for the
    type.
    """
    kind = type(value)
    if value is None or kind in (bool, str):
        return value
    if kind is int:
        return value if -SAFE <= value <= SAFE else {"i": hex(value)}
    if kind is float:
        return {"f": repr(value)}
    if kind is bytes:
        return {"b": value.decode("latin-1")}
    if kind is Pairs:
        return {"d": [[encode(key), encode(item)] for key, item in value.pairs]}
    items = [encode(item) for item in items_of(value)]
    return items if kind is list else {"t" if kind is tuple else value.letter: items}


def items_of(value: Any) -> Any:
    """Returns the items that a `for` loop over a value visits; None for a dict and for values that are not iterable.

    The items of a set come in the order in which the test lists them.
    """
    if type(value) is Pile:
        return value.items
    return value if type(value) in (str, list, tuple) else None


def is_number(value: Any) -> bool:
    """Returns whether a value is an int, a float or a bool, which Python's == compares as numbers."""
    return type(value) in (bool, int, float)


def number_of(value: Any, why: str) -> float:
    """Returns a number as the nearest float. Raises UnreadError with the text `why` if it is too large or no number."""
    try:
        return float(value) if is_number(value) else fail(why)
    except OverflowError:
        fail(why)


def key_of(value: Any) -> Any:
    """Returns a key for comparing values: two keys are equal if Python's == says so of the values, or both are nan."""
    if type(value) is tuple:
        return ("t", *(key_of(item) for item in value))
    if type(value) is Pile and value.letter == "z":
        return frozenset(key_of(item) for item in value.items)
    if type(value) in (list, Pile, Pairs):
        fail("a set or a dict of what cannot be in one")
    return ("nan",) if type(value) is float and math.isnan(value) else value


def type_name(value: Any) -> str:
    """Returns Python's name of a value's type, e.g. "set"."""
    kind = type(value)
    if kind is Pairs:
        return "dict"
    return {"s": "set", "z": "frozenset"}[value.letter] if kind is Pile else kind.__name__


def size_of(value: Any) -> float:
    """Estimates how many parts and characters a value has when written out.

    Stops counting above VALUE_SIZE_MAX, because parts that occur many times could make the value huge.
    """
    size = 0.0
    left = [value]
    while left and size <= VALUE_SIZE_MAX:
        each = left.pop()
        size += 1
        kind = type(each)
        if kind in (str, bytes):
            size += len(each) / 8
            continue
        parts = [part for pair in each.pairs for part in pair] if kind is Pairs else items_of(each) or ()
        if size + len(left) + len(parts) > VALUE_SIZE_MAX:
            return VALUE_SIZE_MAX + 1
        left += parts
    return size


def bits(value: int) -> int:
    """Returns the number of bits of an int, rounded up to a multiple of four."""
    return 4 * math.ceil(max(1, value.bit_length()) / 4)


def fold(operator: str, a: Any, b: Any) -> Any:
    """Applies a binary operator to two values exactly. None: the operation fails, or its result would be too large."""
    if type(a) in (bool, int) and type(b) in (bool, int):
        return fold_ints(operator, int(a), int(b))
    try:
        if is_number(a) and is_number(b):
            return fold_floats(operator, float(a), float(b))
    except (OverflowError, ZeroDivisionError):
        return None
    if operator == "*":
        sequence, count = (b, a) if type(a) in (bool, int) else (a, b)
        if type(sequence) not in (str, list, tuple) or type(count) not in (bool, int):
            return None
        return sequence * count if len(sequence) * max(0, count) <= LENGTH_MAX else None
    is_joined = operator == "+" and type(a) in (str, list, tuple) and type(a) is type(b)
    return a + b if is_joined and len(a) + len(b) <= LENGTH_MAX else None


def fold_ints(operator: str, a: int, b: int) -> Any:
    """Applies a binary operator to two ints exactly. None: the operation fails, or its result would be too large."""
    if operator in "+-":
        return a + b if operator == "+" else a - b
    if operator == "*":
        return a * b if bits(a) + bits(b) <= BITS_MAX else None
    if operator == "**":
        return a**b if b >= 0 and bits(a) * b <= BITS_MAX else None
    if b == 0:
        return None
    if operator == "/":
        return a / b if max(bits(a), bits(b)) <= EXACT_BITS else None
    return a // b if operator == "//" else a % b


def fold_floats(operator: str, a: float, b: float) -> Any:
    """Applies a binary operator to two numbers, at least one of them a float. None: the operation fails."""
    if operator in "+-":
        return a + b if operator == "+" else a - b
    if operator == "*":
        return a * b
    if operator == "/":
        return a / b
    return a**b if operator == "**" and a >= 0 else None


EMPTY: dict[str, Callable[[], Any]] = {
    "list": list,
    "tuple": tuple,
    "set": lambda: Pile("s", []),
    "frozenset": lambda: Pile("z", []),
    "dict": lambda: Pairs([]),
    "str": str,
    "int": int,
    "float": float,
    "bool": bool,
}
FLOAT = re.compile(r"[+-]?(?:nan|inf|infinity|[0-9]{1,64}(?:\.[0-9]{1,64})?(?:e[+-]?[0-9]{1,3})?)")


def fold_builtin(name: str, args: list[Any]) -> Any:
    """Computes a call of a builtin with constants, as in `sorted([2, 1])`. None: it fails or is not supported."""
    if name == "range":
        return range_of(args)
    if len(args) != 1:
        return EMPTY[name]() if not args and name in EMPTY else None
    if name in OF_VALUE:
        return OF_VALUE[name](args[0])
    items = items_of(args[0])
    return OF_ITEMS[name](items) if items is not None and name in OF_ITEMS else None


def length_of(value: Any) -> Any:
    """Returns len(value), or None for a value without a length."""
    counted = value.pairs if type(value) is Pairs else value if type(value) is bytes else items_of(value)
    return None if counted is None else len(counted)


def distinct(items: Any) -> list[Any]:
    """Returns the items without duplicates. The first of several equal items stays."""
    return list({key_of(item): item for item in items}.values())


def sorted_of(items: Any) -> Any:
    """Sorts numbers or strings. None: the items are of other or mixed types."""
    are_numbers = all(is_number(item) and math.isfinite(item) for item in items)
    return sorted(items) if are_numbers or all(type(item) is str for item in items) else None


def float_of(value: Any) -> Any:
    """Converts a number, or a text such as "1e-3", to a float. Returns None for other values."""
    if is_number(value):
        return number_of(value, "'float' of Python")
    text = value.strip().lower() if type(value) is str else ""
    return float(text) if FLOAT.fullmatch(text) else None


def range_of(args: list[Any]) -> Any:
    """Returns the items of range(*args). None: the arguments are invalid, or there are too many items."""
    if not all(type(arg) is int and abs(arg) <= SAFE for arg in args):
        return None
    try:
        numbers = range(*args)
    except (TypeError, ValueError):
        return None
    return list(numbers) if len(numbers) <= LENGTH_MAX else None


OF_VALUE: dict[str, Callable[[Any], Any]] = {
    "float": float_of,
    "len": length_of,
    "abs": lambda value: abs(value) if is_number(value) else None,
}
OF_ITEMS: dict[str, Callable[[Any], Any]] = {
    "list": list,
    "tuple": tuple,
    "set": lambda items: Pile("s", distinct(items)),
    "frozenset": lambda items: Pile("z", distinct(items)),
    "sorted": sorted_of,
}
