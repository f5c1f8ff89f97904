"""Values that read their message when they are asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, TypeVar

Read = Callable[[Any], Any]
"""Reads a field from the message that has it."""

MESSAGE = "_message"

_new = object.__new__

L = TypeVar("L", bound="Lazy")


class Lazy:
    """A dataclass that reads a field from its message when the field is first asked for.

    There are thousands of outcomes in a second, of which a trainer reads a field or two: to read all of one takes as
    long as it takes gRPC to bring it. Such a value is equal to one that was made of its fields, and pickles as them.
    """

    _fields: ClassVar[Mapping[str, Read]] = {}

    @classmethod
    def of_message(cls: type[L], message: Any, **known: Any) -> L:
        """The value of a message; of what is known already it is not asked again."""
        made = _new(cls)
        known[MESSAGE] = message
        made.__dict__.update(known)
        return made

    def __getstate__(self) -> dict[str, Any]:
        """All fields, and no message."""
        return {name: getattr(self, name) for name in self._fields} if MESSAGE in self.__dict__ else self.__dict__


class _Field:
    """A field that is not in the value yet; where it is, Python does not come here."""

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
    """Has a dataclass read its fields so; all of them are named."""
    kind._fields = fields
    for name, read in fields.items():
        setattr(kind, name, _Field(name, read))
