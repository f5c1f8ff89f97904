"""Values that read a field of their message when it is first used."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, TypeVar

Read = Callable[[Any], Any]
"""Function that reads the value of one field from a protobuf message."""

MESSAGE = "_message"

_new = object.__new__

L = TypeVar("L", bound="Lazy")


class Lazy:
    """A dataclass that reads a field from its message when the field is first used.

    A trainer gets thousands of outcomes a second and reads one or two fields of each. Reading all fields would take as
    long as gRPC takes to receive the message. An instance equals one that is made from field values, and is pickled in
    the same way.
    """

    _fields: ClassVar[Mapping[str, Read]] = {}

    @classmethod
    def of_message(cls: type[L], message: Any, **known: Any) -> L:
        """Returns the dataclass of a protobuf message.

        Fields in `known` are set at once, and not read from the message.
        """
        made = _new(cls)
        known[MESSAGE] = message
        made.__dict__.update(known)
        return made

    def __getstate__(self) -> dict[str, Any]:
        """Returns all fields, without the message."""
        return {name: getattr(self, name) for name in self._fields} if MESSAGE in self.__dict__ else self.__dict__


class _Field:
    """A descriptor that reads a field at its first use.

    The descriptor stores the value in the instance's `__dict__`, where Python then finds it directly.
    """

    __slots__ = ("_name", "_read")

    def __init__(self, name: str, read: Read) -> None:
        self._name = name
        self._read = read

    def __get__(self, value: Any, kind: Any) -> Any:
        if value is None:
            return self
        known = value.__dict__
        found = known[self._name] = self._read(known[MESSAGE])
        return found


def read_late(kind: type[Lazy], fields: Mapping[str, Read]) -> None:
    """Makes a dataclass read these fields at their first use; all fields of the class must be named."""
    kind._fields = fields
    for name, read in fields.items():
        setattr(kind, name, _Field(name, read))
