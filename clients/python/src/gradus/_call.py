"""A unary call: how its request is made and its response read, without I/O."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from gradus._values import Value
from gradus.errors import GradusError
from gradus.v1 import curriculum_pb2, environment_pb2, evaluation_pb2

T = TypeVar("T")
V = TypeVar("V", bound=Value)


@dataclass(frozen=True)
class Call(Generic[T]):
    """A unary call.

    `patient`: UNAVAILABLE is an expected answer, asked again until the call's deadline. `repeatable` False: made again
    only where the server says when to, for then it did nothing, and never after a reply that was lost. `through_pause`:
    a paused run is waited for without limit, outside of the call's time and its retries. `prepare` is told the seconds
    left before each try, and may change the request.
    """

    method: str
    request: Any
    response: Any
    read: Callable[[Any], T]
    patient: bool = False
    repeatable: bool = True
    through_pause: bool = False
    prepare: Callable[[float], None] = lambda seconds: None


def environment_call(method: str, request: Any, read: Callable[[Any], T], **how: Any) -> Call[T]:
    """A call of EnvironmentService."""
    return _call("EnvironmentService", environment_pb2, method, request, read, how)


def curriculum_call(method: str, request: Any, read: Callable[[Any], T], **how: Any) -> Call[T]:
    """A call of CurriculumService."""
    return _call("CurriculumService", curriculum_pb2, method, request, read, how)


def evaluation_call(method: str, request: Any, read: Callable[[Any], T], **how: Any) -> Call[T]:
    """A call of EvaluationService."""
    return _call("EvaluationService", evaluation_pb2, method, request, read, how)


def paged(field: str, item: type[V]) -> Callable[[Any], tuple[list[V], str]]:
    """Reads a page: its items, in the field, and the next page's token."""
    return lambda response: ([item.from_proto(each) for each in getattr(response, field)], response.next_page_token)


def _call(
    service: str, module: Any, method: str, request: Any, read: Callable[[Any], T], how: dict[str, Any]
) -> Call[T]:
    return Call(f"/gradus.v1.{service}/{method}", request, getattr(module, f"{method}Response"), read, **how)


class Io(Protocol):
    """What does an operation's I/O, blocking or for asyncio. Each method gives a result, or an awaitable of it."""

    @property
    def reached(self) -> bool:
        """Whether a server of ours has answered. Until then the address or the options may be wrong."""

    def exchange(self, call: Call[Any], timeout: float) -> Any:
        """The response, once; raises GradusError."""

    def begin(self, call: Call[Any], timeout: float) -> Callable[[], Any]:
        """Sends the request; what it gives waits for the response, as `exchange` does."""

    def explain(self, error: GradusError) -> Any:
        """The error, with its reason found out where the address or the options are wrong."""

    def sleep(self, seconds: float) -> Any:
        """Nothing, after so long."""

    def open(self, method: str, request: Any, response: Any) -> Any:
        """A stream of responses, at once; it has `cancel`."""

    def receive(self, stream: Any) -> Any:
        """The stream's next response, or None at its end; raises GradusError."""
