"""Messages of the contract as frozen dataclasses, read and written by their field's types.

A class names its message; a field of the class is read from the message's field of that name, or of the name that
`Named` gives. A type with None is None where the message's field is unset. Durations are seconds, times are datetimes
in UTC, enum values are short names (`_enums.py`), and repeated fields tuples.
"""

from __future__ import annotations

import functools
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta, timezone
from typing import TYPE_CHECKING, Any, ClassVar

from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp

from gradus._enums import name_in, value_in
from gradus.v1 import task_pb2

if TYPE_CHECKING:
    from typing_extensions import Self

Reader = Callable[[Any], Any]


class Value:
    """A message of the contract as a value."""

    message: ClassVar[Any]

    def __init_subclass__(cls, message: Any = None) -> None:
        """`message` is the class of the messages that this is made of."""
        if message is not None:
            cls.message = message

    @classmethod
    def from_proto(cls, proto: Any) -> Self:
        """Reads a message of `gradus.v1`."""
        made: Any = cls
        return cls(**{name: read(proto) for name, read in _readers(made)})

    def to_proto(self) -> Any:
        """The message of `gradus.v1`."""
        kind: Any = type(self)
        given = ((name, write(getattr(self, attribute))) for attribute, name, write in _writers(kind))
        return self.message(**{name: value for name, value in given if value is not None})


@dataclass(frozen=True)
class Named:
    """In a field's Annotated type: its name in the message is another."""

    proto: str


class Derived:
    """In a field's Annotated type: it is read from the whole message, and not written.

    `read` is a function of the module, for a lambda would not find the module's names: types are kept as text.
    `covers` names the message's fields that it stands for.
    """

    def __init__(self, read: Reader, *covers: str) -> None:
        self.read = read
        self.covers = covers


def duration(seconds: float) -> Duration:
    """The message for seconds."""
    made = Duration()
    made.FromTimedelta(timedelta(seconds=seconds))
    return made


def _no_writer(value: Any) -> Any:
    raise TypeError(f"a time is only read, never sent; got {value!r}")


def field_sources(cls: type[Value]) -> dict[str, tuple[Any, Named | Derived]]:
    """Each field's type, and where in the message it comes from."""
    sources: dict[str, tuple[Any, Named | Derived]] = {}
    for name, hint in typing.get_type_hints(cls, include_extras=True).items():
        if typing.get_origin(hint) is typing.ClassVar:
            continue
        kind, *marks = typing.get_args(hint) if typing.get_origin(hint) is typing.Annotated else (hint,)
        sources[name] = (kind, marks[0] if marks else Named(name))
    return sources


@functools.cache
def _readers(cls: Any) -> list[tuple[str, Reader]]:
    descriptors = cls.message.DESCRIPTOR.fields_by_name
    return [
        (name, source.read if isinstance(source, Derived) else _reader(source.proto, descriptors[source.proto], hint))
        for name, (hint, source) in field_sources(cls).items()
    ]


def _reader(name: str, descriptor: Any, hint: Any) -> Reader:
    hint, optional = _without_none(hint)
    item = _item_reader(descriptor, hint)
    if typing.get_origin(hint) is tuple:
        return lambda proto: tuple(map(item, getattr(proto, name)))
    if _is_mapping(hint):
        return lambda proto: item(getattr(proto, name)) if not optional or proto.HasField(name) else None
    if descriptor.enum_type is not None and optional:
        return lambda proto: item(getattr(proto, name)) if getattr(proto, name) else None
    if optional:
        return lambda proto: item(getattr(proto, name)) if proto.HasField(name) else None
    return lambda proto: item(getattr(proto, name))


def _item_reader(descriptor: Any, hint: Any) -> Reader:
    kind = typing.get_args(hint)[0] if typing.get_origin(hint) is tuple else hint
    enum, message = descriptor.enum_type, descriptor.message_type
    if enum is not None:
        return lambda value: name_in(enum, value)
    if message is None:
        return lambda value: value
    if message.full_name in _SPECIAL:
        return _SPECIAL[message.full_name][0]
    read: Reader = dict if _is_mapping(kind) else kind.from_proto
    return read


_SPECIAL: dict[str, tuple[Reader, Reader]] = {
    Duration.DESCRIPTOR.full_name: (lambda proto: proto.ToTimedelta().total_seconds(), duration),
    Timestamp.DESCRIPTOR.full_name: (lambda proto: proto.ToDatetime(tzinfo=timezone.utc), _no_writer),
    task_pb2.Parameters.DESCRIPTOR.full_name: (
        lambda proto: dict(proto.values),
        lambda value: task_pb2.Parameters(values=value),
    ),
}
"""How messages that are not values of this package are read and written."""


@functools.cache
def _writers(cls: Any) -> list[tuple[str, str, Reader]]:
    descriptors = cls.message.DESCRIPTOR.fields_by_name
    return [
        (name, source.proto, functools.partial(_write, descriptors[source.proto]))
        for name, (_, source) in field_sources(cls).items()
        if isinstance(source, Named)
    ]


def _write(descriptor: Any, value: Any) -> Any:
    if isinstance(value, tuple | list):
        return [_write(descriptor, each) for each in value]
    if isinstance(value, Value):
        return value.to_proto()
    if descriptor.enum_type is not None and value is not None:
        return value_in(descriptor.enum_type, value)
    message = descriptor.message_type
    special = None if message is None or value is None else _SPECIAL.get(message.full_name)
    return value if special is None else special[1](value)


def _without_none(hint: Any) -> tuple[Any, bool]:
    arguments = typing.get_args(hint)
    if typing.get_origin(hint) not in (typing.Union, types.UnionType) or type(None) not in arguments:
        return hint, False
    (kept,) = (each for each in arguments if each is not type(None))
    return kept, True


def _is_mapping(hint: Any) -> bool:
    return typing.get_origin(hint) is Mapping
