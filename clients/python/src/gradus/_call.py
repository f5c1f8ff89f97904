"""A unary call: how its request is made and its response read, without I/O.

Client and AsyncClient both carry these out, so that the two cannot drift apart.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from google.protobuf.message import Message

T = TypeVar("T")


@dataclass(frozen=True)
class Call(Generic[T]):
    """A unary call. `patient`: UNAVAILABLE is an expected answer, asked again until the call's deadline."""

    method: str
    request: Message
    response: type[Message]
    read: Callable[[Any], T]
    patient: bool = False
