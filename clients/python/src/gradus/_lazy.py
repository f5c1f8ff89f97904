"""Values that read their message when they are asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

Field = Callable[[Any], Any]
"""Reads a field from the message that has it."""

MESSAGE = "_message"

_new = object.__new__

L = TypeVar("L", bound="Lazy")


class Lazy:
    """A dataclass that reads a field from its message when the field is first asked for.

    There are thousands of outcomes in a second, of which a trainer reads a field or two: to read all of one takes as
    long as it takes gRPC to bring it. Such a value is equal to one that was made of its fields, and pickles as them.
    """

    _fields: ClassVar[Mapping[str, Field]] = {}

    @classmethod
    def of_message(cls: type[L], message: Any) -> L:
        made = _new(cls)
        made.__dict__[MESSAGE] = message
        return made

    # A type checker would take any name for one that is there.
    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Reads a field that was not asked for before."""
            known = self.__dict__
            read = self._fields.get(name)
            if read is None or MESSAGE not in known:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            value = known[name] = read(known[MESSAGE])
            return value

    def __getstate__(self) -> dict[str, Any]:
        """All fields, and no message."""
        return {name: getattr(self, name) for name in self._fields} if MESSAGE in self.__dict__ else self.__dict__
