"""Protobuf messages of gradus.v1 as frozen dataclasses, read and written by the types of their fields.

A class names its message. A field is read from the message's field with the same name, or with the name in `Named`. A
field whose type allows None is None if the message's field is unset. Durations are seconds, times are datetimes in UTC,
enum values are short names (`enums.py`), and repeated fields are tuples.
"""

from __future__ import annotations

import functools
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta, timezone
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.duration_pb2 import Duration
from google.protobuf.json_format import MessageToDict
from google.protobuf.struct_pb2 import Struct
from google.protobuf.timestamp_pb2 import Timestamp

from gradus._arguments import listed, made_by, shown
from gradus.enums import name_in, value_in
from gradus.v1 import task_pb2

if TYPE_CHECKING:
    from typing_extensions import Self

Reader = Callable[[Any], Any]

M = TypeVar("M")


class Value:
    """Base class of the frozen dataclasses that stand for protobuf messages of `gradus.v1`."""

    message: ClassVar[Any]

    def __init_subclass__(cls, message: Any = None) -> None:
        """Registers the protobuf message class that the new dataclass stands for."""
        if message is not None:
            cls.message = message

    @classmethod
    def from_proto(cls, proto: Any) -> Self:
        """Returns the dataclass for its protobuf message."""
        made: Any = cls
        return cls(**{name: read(proto) for name, read in _readers(made)})

    def to_proto(self) -> Any:
        """Returns the protobuf message for the dataclass."""
        kind: Any = type(self)
        given = ((name, write(getattr(self, attribute))) for attribute, name, write in _writers(kind))
        return message_of(self.message, **{name: value for name, value in given if value is not None})


@dataclass(frozen=True)
class Named:
    """Marks a field, in its Annotated type, that has another name in the protobuf message."""

    proto: str


class Derived:
    """Marks a field, in its Annotated type, that is read from the whole protobuf message and never written.

    `read` is a function of the module, because a lambda would not find the module's names: types are kept as text.
    `covers` lists the message's fields that the field represents.
    """

    def __init__(self, read: Reader, *covers: str) -> None:
        self.read = read
        self.covers = covers


def message_of(kind: Callable[..., M], **fields: Any) -> M:
    """Makes a protobuf message with these fields.

    Raises TypeError or ValueError with the name of the field that protobuf refuses.
    """
    try:
        return kind(**fields)
    except (TypeError, ValueError):
        made: Any = kind
        descriptors = made.DESCRIPTOR.fields_by_name
        for name, value in fields.items():
            try:
                kind(**{name: value})
            except (TypeError, ValueError) as error:
                words = f"{name}: want {_wanted(descriptors[name])}; got {shown(value)}"
                raise (TypeError if isinstance(error, TypeError) else ValueError)(words) from None
        raise


def proto_of(value: Any, kind: type[Value], place: str) -> Any:
    """Returns the protobuf message of a value; raises TypeError, with the remedy, for a value of another type."""
    if isinstance(value, kind):
        return value.to_proto()
    raise TypeError(f"{place}: want {made_by(kind)}; got {shown(value)}")


_RANGES = {
    FieldDescriptor.CPPTYPE_INT32: (-(2**31), 2**31 - 1),
    FieldDescriptor.CPPTYPE_INT64: (-(2**63), 2**63 - 1),
    FieldDescriptor.CPPTYPE_UINT32: (0, 2**32 - 1),
    FieldDescriptor.CPPTYPE_UINT64: (0, 2**64 - 1),
}

_REPEATED = 3

_WORDS = {
    FieldDescriptor.CPPTYPE_BOOL: "True or False",
    FieldDescriptor.CPPTYPE_DOUBLE: "a number",
    FieldDescriptor.CPPTYPE_FLOAT: "a number",
}


_MESSAGES = {
    "Duration": "a number of seconds",
    "Parameters": "a mapping from a str to a number",
    "Struct": "a mapping of plain JSON",
}


def _wanted(descriptor: Any) -> str:
    kind = descriptor.cpp_type
    message = descriptor.message_type
    if message is not None and message.GetOptions().map_entry:
        of = message.fields_by_name
        return f"a mapping from {_wanted(of['key'])} to {_wanted(of['value'])}"
    if kind in _RANGES:
        word = "a whole number in the range {} to {}".format(*_RANGES[kind])
    elif message is not None:
        word = _MESSAGES.get(message.name, f"a {message.name}")
    else:
        text = "bytes" if descriptor.type == FieldDescriptor.TYPE_BYTES else "a str, without lone surrogates"
        word = _WORDS.get(kind, text)
    # protobuf 5 has no is_repeated, and 7 no label.
    repeated = descriptor.is_repeated if hasattr(descriptor, "is_repeated") else descriptor.label == _REPEATED
    return f"a list, each {word}" if repeated else word


def duration(seconds: float) -> Duration:
    """Converts a number of seconds to a google.protobuf.Duration."""
    made = Duration()
    made.FromTimedelta(timedelta(seconds=seconds))
    return made


def struct(values: Mapping[str, Any]) -> Struct:
    """Converts plain JSON to a google.protobuf.Struct."""
    made = Struct()
    made.update(dict(values))
    return made


def _no_writer(value: Any) -> Any:
    raise TypeError(f"a time is only read, never sent; got {value!r}")


def field_sources(cls: type[Value]) -> dict[str, tuple[Any, Named | Derived]]:
    """Returns the type of each field, and its source in the message."""
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
    named = _enum_of_map(message)
    if named is not None:
        return lambda values: {key: name_in(named, value) for key, value in values.items()}
    read: Reader = dict if _is_mapping(kind) else kind.from_proto
    return read


def _enum_of_map(message: Any) -> Any:
    """Returns the enum type of the values of a protobuf map field; None: the values are of another type."""
    return message.fields_by_name["value"].enum_type if message.GetOptions().map_entry else None


_SPECIAL: dict[str, tuple[Reader, Reader]] = {
    Duration.DESCRIPTOR.full_name: (lambda proto: proto.ToTimedelta().total_seconds(), duration),
    Timestamp.DESCRIPTOR.full_name: (lambda proto: proto.ToDatetime(tzinfo=timezone.utc), _no_writer),
    Struct.DESCRIPTOR.full_name: (MessageToDict, struct),
    task_pb2.Parameters.DESCRIPTOR.full_name: (
        lambda proto: dict(proto.values),
        lambda value: task_pb2.Parameters(values=value),
    ),
}
"""Functions that read and write protobuf messages for which this package has no dataclass, e.g. Duration."""


@functools.cache
def _writers(cls: Any) -> list[tuple[str, str, Reader]]:
    descriptors = cls.message.DESCRIPTOR.fields_by_name
    return [
        (name, source.proto, functools.partial(_write, descriptors[source.proto], f"{cls.__name__}.{name}", hint))
        for name, (hint, source) in field_sources(cls).items()
        if isinstance(source, Named)
    ]


def _write(descriptor: Any, place: str, hint: Any, value: Any) -> Any:
    hint, optional = _without_none(hint)
    if value is None and not optional:
        kind = hint if isinstance(hint, type) and issubclass(hint, Value) else None
        raise TypeError(f"{place}: want {made_by(kind) if kind else _wanted(descriptor)}; got {shown(value)}")
    if value is None:
        return None
    if typing.get_origin(hint) is tuple:
        kind = typing.get_args(hint)[0]
        return [_write(descriptor, f"{place}[{at}]", kind, each) for at, each in enumerate(listed(value, kind, place))]
    if isinstance(hint, type) and issubclass(hint, Value):
        return proto_of(value, hint, place)
    if descriptor.enum_type is not None:
        return value_in(descriptor.enum_type, value)
    return value if descriptor.message_type is None else _write_message(descriptor, place, value)


def _write_message(descriptor: Any, place: str, value: Any) -> Any:
    message = descriptor.message_type
    named = _enum_of_map(message)
    if named is not None:
        if not isinstance(value, Mapping):
            raise TypeError(f"{place}: want a mapping from a str to a name; got {shown(value)}")
        return {key: value_in(named, each) for key, each in value.items()}
    special = _SPECIAL.get(message.full_name)
    if special is None:
        return value
    try:
        return special[1](value)
    except (TypeError, ValueError, OverflowError):
        raise TypeError(f"{place}: want {_wanted(descriptor)}; got {shown(value)}") from None


def _without_none(hint: Any) -> tuple[Any, bool]:
    arguments = typing.get_args(hint)
    if typing.get_origin(hint) not in (typing.Union, types.UnionType) or type(None) not in arguments:
        return hint, False
    (kept,) = (each for each in arguments if each is not type(None))
    return kept, True


def _is_mapping(hint: Any) -> bool:
    return typing.get_origin(hint) is Mapping
