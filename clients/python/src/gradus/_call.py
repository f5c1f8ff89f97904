"""Unary calls: their requests, and functions that read their responses. No I/O."""

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

    `patient`: UNAVAILABLE is an expected answer, and the call is retried until its deadline. `repeatable`: False for a
    call that has another effect when made twice. Such a call is retried only if the server asks for it, which means
    that the server did nothing; it is not retried after a lost reply. `through_pause`: the call waits for a paused run
    without limit; timeout and retries do not count the pause. `prepare` is called before each try with the seconds
    left, and may change the request.
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
    """Returns a call of EnvironmentService."""
    return _call("EnvironmentService", environment_pb2, method, request, read, how)


def curriculum_call(method: str, request: Any, read: Callable[[Any], T], **how: Any) -> Call[T]:
    """Returns a call of CurriculumService."""
    return _call("CurriculumService", curriculum_pb2, method, request, read, how)


def evaluation_call(method: str, request: Any, read: Callable[[Any], T], **how: Any) -> Call[T]:
    """Returns a call of EvaluationService."""
    return _call("EvaluationService", evaluation_pb2, method, request, read, how)


def paged(field: str, item: type[V]) -> Callable[[Any], tuple[list[V], str]]:
    """Returns a function that reads a page: the items in the field, and the token of the next page."""
    return lambda response: ([item.from_proto(each) for each in getattr(response, field)], response.next_page_token)


def _call(
    service: str, module: Any, method: str, request: Any, read: Callable[[Any], T], how: dict[str, Any]
) -> Call[T]:
    return Call(f"/gradus.v1.{service}/{method}", request, getattr(module, f"{method}Response"), read, **how)


class Io(Protocol):
    """I/O of operations, blocking or for asyncio. Each method returns a result or an awaitable of it."""

    @property
    def reached(self) -> bool:
        """Whether a Gradus server has answered. Until then the address or the options may be wrong."""

    def exchange(self, call: Call[Any], timeout: float) -> Any:
        """Makes one try and returns the response; raises GradusError."""

    def begin(self, call: Call[Any], timeout: float) -> Callable[[], Any]:
        """Sends the request. Returns a function that waits for the response, as `exchange` does."""

    def explain(self, error: GradusError) -> Any:
        """Returns the error, with its reason if the address or the options are wrong."""

    def sleep(self, seconds: float) -> Any:
        """Waits for this many seconds."""

    def open(self, method: str, request: Any, response: Any) -> Any:
        """Starts a call with a stream of responses, and returns the stream without waiting.

        The stream has the method `cancel`.
        """

    def receive(self, stream: Any) -> Any:
        """Returns the stream's next response, or None at its end; raises GradusError."""
