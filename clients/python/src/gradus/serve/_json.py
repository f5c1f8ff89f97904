"""Converts instances to JSON and back.

A value without a form in JSON becomes an object with one key that begins with "$". Reading returns exactly what was
written, with tuples and with keys that are no strings. Otherwise a verifier that compares with a tuple would find a
list, and score its own reference as wrong.
"""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

_PLAIN = (str, int, bool, type(None))

_write = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode
_write_sorted = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False, sort_keys=True).encode

_READERS: dict[str, Callable[[Any], Any]] = {
    "$tuple": tuple,
    "$set": set,
    "$frozenset": frozenset,
    "$dict": dict,
    "$bytes": base64.b64decode,
    "$complex": lambda parts: complex(*parts),
    "$decimal": Decimal,
    "$fraction": Fraction,
    "$float": float,
}


def dump(value: Any, *, sort: bool = False) -> bytes:
    """Returns a value as bytes; with `sort`, equal values give equal bytes.

    Raises TypeError that names a value that cannot be written.
    """
    # Texts of a policy may hold half of a surrogate pair. json.loads reads it back unchanged.
    return (_write_sorted if sort else _write)(_encode(value, "instance")).encode("utf-8", "surrogatepass")


def load(data: bytes | str) -> Any:
    """Returns the value that `dump` wrote as bytes or text."""
    return json.loads(data, object_hook=_decode)


def dump_plain(value: Any) -> str:
    """Returns plain JSON, of a value that consists of dicts, lists, texts and numbers."""
    return _write(value)


def load_plain(data: str) -> Any:
    """Returns the value of plain JSON. An object with a key such as "$tuple" stays an object."""
    return json.loads(data)


def _encode(value: Any, place: str) -> Any:
    kind = type(value)
    if kind in _PLAIN:
        return value
    if kind is float:
        return value if math.isfinite(value) else {"$float": repr(value)}
    if kind is list:
        return [_encode(item, place) for item in value]
    if kind is dict:
        if all(type(key) is str and not key.startswith("$") for key in value):
            return {key: _encode(item, f"{place}[{key!r}]") for key, item in value.items()}
        return {"$dict": [[_encode(key, place), _encode(item, place)] for key, item in value.items()]}
    return _encode_rare(value, place)


def _encode_items(value: Any, place: str) -> list[Any]:
    return [_encode(item, place) for item in value]


def _encode_set(value: Any, place: str) -> list[Any]:
    """Returns a sorted list of a set, because the order of a set differs between processes."""
    return sorted(_encode_items(value, place), key=_write_sorted)


# For types without a form in JSON: the key of the object, and a function that returns its content.
_WRITERS: tuple[tuple[type, str, Callable[[Any, str], Any]], ...] = (
    (tuple, "$tuple", _encode_items),
    (frozenset, "$frozenset", _encode_set),
    (set, "$set", _encode_set),
    (bytes, "$bytes", lambda value, _: base64.b64encode(value).decode()),
    (complex, "$complex", lambda value, _: [value.real, value.imag]),
    (Decimal, "$decimal", lambda value, _: str(value)),
    (Fraction, "$fraction", lambda value, _: str(value)),
)
_BASES: tuple[Callable[[Any], Any], ...] = (str, bool, int, float, list, dict)


def _encode_rare(value: Any, place: str) -> Any:
    for kind, key, write in _WRITERS:
        if isinstance(value, kind):
            return {key: write(value, place)}
    for base in _BASES:
        if isinstance(value, base):  # type: ignore[arg-type]
            return _encode(base(value), place)
    plain = getattr(value, "tolist", None)  # numpy's arrays and scalars
    if callable(plain):
        return _encode(plain(), place)
    raise TypeError(
        f"{place} holds a {type(value).__module__}.{type(value).__qualname__}, which cannot be sent: "
        "keep to numbers, strings, lists, tuples, sets and dicts"
    )


def _decode(found: dict[str, Any]) -> Any:
    if len(found) == 1:
        ((key, value),) = found.items()
        reader = _READERS.get(key)
        if reader is not None:
            return reader(value)
    return found
