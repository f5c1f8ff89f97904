"""Errors of calls: one class for each gRPC status that a caller may want to handle."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal

import grpc

from gradus._details import reason_of
from gradus.enums import FeedbackStatus

ConnectionMistake = Literal["http_port", "not_gradus", "needs_tls", "no_tls", "certificate"]
"""A mistake in a client's address or options. All calls of the client fail.

`http_port`: the address is a Gradus server's HTTP port, but the client needs its gRPC port. `not_gradus`: another
program listens there. `needs_tls`: only the server speaks TLS. `no_tls`: only the client speaks TLS. `certificate`: one
side does not accept the other's certificate.
"""


class GradusError(Exception):
    """A call failed.

    `code` is the gRPC status, and `message` the text of the server, or of gRPC if no server was reached. `retry_delay`
    is the delay in seconds after which the server asks for a retry; None: the server names none.
    `mistake` is set if the client's address or options are wrong, so that a retry does not help. `reason` is the
    server's reason for a wait, e.g. "PAUSED" or "FEEDBACK_DUE", and `facts` are facts about it; "" and {}: there is
    none.
    """

    def __init__(
        self,
        code: grpc.StatusCode,
        message: str,
        retry_delay: float | None = None,
        mistake: ConnectionMistake | None = None,
        reason: str = "",
        facts: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(f"{code.name}: {message}")
        self.code = code
        self.message = message
        self.retry_delay = retry_delay
        self.mistake = mistake
        self.reason = reason
        self.facts = dict(facts or {})

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles the arguments. By default an exception is rebuilt from its message alone."""
        return error_of, (self.code, self.message, self.retry_delay, self.mistake, self.reason, self.facts)


class InvalidArgumentError(GradusError):
    """The request breaks the contract. The message names the field, the limit and the value."""


class NotFoundError(GradusError):
    """There is no such environment, run, evaluation, …; the message suggests the nearest name, if there is one."""


class AlreadyExistsError(GradusError):
    """The run or evaluation exists with another configuration; the message names the field that differs."""


class FailedPreconditionError(GradusError):
    """The present state of the run, evaluation, task or server does not allow the call."""


class OutOfRangeError(GradusError):
    """The tasks at the cursor were closed long ago or lie too far ahead, or the round of evaluation is too old."""


class UnauthenticatedError(GradusError):
    """The server needs a token, and the client gave none or a wrong one."""


class ResourceExhaustedError(GradusError):
    """The server has too much work at present, or a message is over its limit of bytes."""


class UnavailableError(GradusError):
    """No server was reached, it is shutting down, or due feedback has not arrived yet."""


class PausedError(UnavailableError):
    """The run is paused: it gives tasks again when an operator resumes it (`gradus run resume`, `Run.resume`)."""

    @property
    def paused_by(self) -> str:
        """Name of the token that paused the run; "": the server does not give it."""
        return self.facts.get("paused_by", "")

    @property
    def paused_since(self) -> datetime | None:
        """Time of the pause, in UTC; None: the server does not give it."""
        try:
            # Python reads the Z of RFC 3339 only since 3.11.
            return datetime.fromisoformat(self.facts.get("paused_since", "").replace("Z", "+00:00"))
        except ValueError:
            return None


class DeadlineExceededError(GradusError):
    """The answer did not arrive in time."""


class AbortedError(GradusError):
    """Another server process changed the run at the same time."""


class UnimplementedError(GradusError):
    """This server does not have the call."""


class NoEffectWarning(UserWarning):
    """A change of a run does not affect which tasks are drawn, e.g. new weights under a bandit."""


class UnavailableWarning(UserWarning):
    """No server has answered yet, and a call still waits for one."""


class SurrogateWarning(UserWarning):
    """A completion had half of a surrogate pair, and was scored with U+FFFD in its place."""


class FeedbackWarning(UserWarning):
    """A run did not record a score."""


class FeedbackError(GradusError):
    """A run did not record a score, and the client raises this as an error (`on_feedback="raise"`).

    `status` is "conflicting_completion", "stale_epoch" or "not_recorded".
    """

    def __init__(self, message: str, status: FeedbackStatus) -> None:
        super().__init__(grpc.StatusCode.FAILED_PRECONDITION, message)
        self.status = status

    def __reduce__(self) -> tuple[Any, ...]:
        """See `GradusError.__reduce__`."""
        return FeedbackError, (self.message, self.status)


_CLASSES: dict[grpc.StatusCode, type[GradusError]] = {
    grpc.StatusCode.INVALID_ARGUMENT: InvalidArgumentError,
    grpc.StatusCode.NOT_FOUND: NotFoundError,
    grpc.StatusCode.ALREADY_EXISTS: AlreadyExistsError,
    grpc.StatusCode.FAILED_PRECONDITION: FailedPreconditionError,
    grpc.StatusCode.OUT_OF_RANGE: OutOfRangeError,
    grpc.StatusCode.UNAUTHENTICATED: UnauthenticatedError,
    grpc.StatusCode.RESOURCE_EXHAUSTED: ResourceExhaustedError,
    grpc.StatusCode.UNAVAILABLE: UnavailableError,
    grpc.StatusCode.DEADLINE_EXCEEDED: DeadlineExceededError,
    grpc.StatusCode.ABORTED: AbortedError,
    grpc.StatusCode.UNIMPLEMENTED: UnimplementedError,
}

_BY_NUMBER = {code.value[0]: code for code in grpc.StatusCode}


def error_of(
    code: grpc.StatusCode,
    message: str,
    retry_delay: float | None = None,
    mistake: ConnectionMistake | None = None,
    reason: str = "",
    facts: Mapping[str, str] | None = None,
) -> GradusError:
    """Returns the error for a status, of the class for that status."""
    paused = code is grpc.StatusCode.UNAVAILABLE and reason == "PAUSED"
    kind = PausedError if paused else _CLASSES.get(code, GradusError)
    return kind(code, message, retry_delay, mistake, reason, facts)


def error_of_item(code: int, message: str, retry_delay_ms: int) -> GradusError:
    """Returns the error for an item of a batch or stream, which has the status as a number.

    A delay of 0 ms means none.
    """
    status = _BY_NUMBER.get(code, grpc.StatusCode.UNKNOWN)
    return error_of(status, message, retry_delay_ms / 1000 if retry_delay_ms > 0 else None)


def failure_in(proto: Any) -> GradusError | None:
    """Returns the error in an item's message; None: the item has not failed."""
    failure = proto.failure
    return error_of_item(failure.code, failure.message, failure.retry_delay_ms) if proto.HasField("failure") else None


def error_of_rpc(failure: grpc.RpcError, target: str) -> GradusError:
    """Returns the error for an exception of grpcio on a call to `target`."""
    # Both exceptions of grpcio, of its sync and its asyncio API, are calls too; the base class has no fields.
    assert isinstance(failure, (grpc.Call, grpc.aio.AioRpcError))
    code = failure.code()
    message = failure.details() or "no reason given"
    trailing = failure.trailing_metadata() or ()
    delay = next((value for key, value in trailing if key == "retry-delay-ms"), None)
    reason, facts = reason_of(trailing)
    if code is grpc.StatusCode.CANCELLED or (code is grpc.StatusCode.INTERNAL and "RST_STREAM" in message):
        # The caller did not cancel the call, so a load balancer did, as it does when it loses its server.
        code, message = grpc.StatusCode.UNAVAILABLE, f"a proxy or load balancer cut the call off: {message}"
    elif code is grpc.StatusCode.RESOURCE_EXHAUSTED and "Received message larger than max" in message:
        remedy = "ask for less in a call, e.g. a smaller page_size, or make the client with"
        message = f'the reply is too large: {message}; {remedy} options=[("grpc.max_receive_message_length", BYTES)]'
    elif code is grpc.StatusCode.RESOURCE_EXHAUSTED and "Sent message larger than max" in message:
        remedy = "send fewer groups or completions in a message, or make the client with"
        message = f'the request is too large: {message}; {remedy} options=[("grpc.max_send_message_length", BYTES)]'
    elif code is grpc.StatusCode.UNAVAILABLE and delay is None:
        message = f"no Gradus server answers at {target}: {message}"
    seconds = None if delay is None else float(delay) / 1000
    return error_of(code, message, seconds, reason=reason, facts=facts)
