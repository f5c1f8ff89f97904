"""Failures of calls, one class for each gRPC status that a caller may want to tell apart."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal

import grpc

from gradus._details import reason_of
from gradus.enums import FeedbackStatus

ConnectionMistake = Literal["http_port", "not_gradus", "needs_tls", "no_tls", "certificate"]
"""What is wrong with a client's address or options, so that no call of it can go through.

`http_port`: a Gradus server's HTTP port where its gRPC port is wanted. `not_gradus`: something else listens there.
`needs_tls`: the server speaks TLS and the client does not. `no_tls`: the other way round. `certificate`: one side does
not accept the other's certificate.
"""


class GradusError(Exception):
    """A call failed.

    `code` is the gRPC status, `message` what the server (or gRPC, if no server was reached) says of it, and
    `retry_delay` the seconds after which the server asks to be tried again; None: trying again is of no use, or of
    use at once. `mistake`: the client's address or options are wrong, as the message says, and trying again is of no
    use; None: nothing of that is known. `reason` is the server's word for why a call has to wait, e.g. "PAUSED" or
    "FEEDBACK_DUE", and `facts` what it says of that; "" and none: the server gives no reason.
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
        """Pickles the arguments: exceptions are otherwise made again of their message alone."""
        return error_of, (self.code, self.message, self.retry_delay, self.mistake, self.reason, self.facts)


class InvalidArgumentError(GradusError):
    """The request breaks the contract; the message names the field, the limit and what came."""


class NotFoundError(GradusError):
    """There is no such environment or run; the message suggests the nearest name."""


class AlreadyExistsError(GradusError):
    """The run exists with another configuration; the message names the field that differs."""


class FailedPreconditionError(GradusError):
    """The run's state or policy does not allow it."""


class OutOfRangeError(GradusError):
    """The cursor lies in update batches closed long ago."""


class UnauthenticatedError(GradusError):
    """The server asks for a token that did not come, or another one."""


class ResourceExhaustedError(GradusError):
    """The server is full, or a message is over its limit."""


class UnavailableError(GradusError):
    """No server was reached, it is shutting down, or feedback that is due has not come yet."""


class PausedError(UnavailableError):
    """The run is paused: it gives tasks again when an operator resumes it (`gradus run resume`, `Run.resume`)."""

    @property
    def paused_by(self) -> str:
        """The name of the token that paused the run; "": the server does not say."""
        return self.facts.get("paused_by", "")

    @property
    def paused_since(self) -> datetime | None:
        """When the run was paused, in UTC; None: the server does not say."""
        try:
            # Python reads the Z of RFC 3339 from 3.11 on.
            return datetime.fromisoformat(self.facts.get("paused_since", "").replace("Z", "+00:00"))
        except ValueError:
            return None


class DeadlineExceededError(GradusError):
    """The answer did not come in time."""


class AbortedError(GradusError):
    """Another server process changed the run at the same time."""


class UnimplementedError(GradusError):
    """This server does not serve the call."""


class NoEffectWarning(UserWarning):
    """A change of a run that changes nothing that is drawn, e.g. of weights under a bandit."""


class UnavailableWarning(UserWarning):
    """No server has answered yet, and a call goes on waiting for one."""


class SurrogateWarning(UserWarning):
    """A completion had half of a surrogate pair, and was scored with U+FFFD in its place."""


class FeedbackWarning(UserWarning):
    """A score was not recorded by its run."""


class FeedbackError(GradusError):
    """A score was not recorded by its run, and the client was told to raise that (`on_feedback="raise"`).

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
    """The error for a status, of the class that belongs to it."""
    paused = code is grpc.StatusCode.UNAVAILABLE and reason == "PAUSED"
    kind = PausedError if paused else _CLASSES.get(code, GradusError)
    return kind(code, message, retry_delay, mistake, reason, facts)


def error_of_item(code: int, message: str, retry_delay_ms: int) -> GradusError:
    """The error for an item of a batch or stream, which carries the status as a number; 0 ms means no delay."""
    status = _BY_NUMBER.get(code, grpc.StatusCode.UNKNOWN)
    return error_of(status, message, retry_delay_ms / 1000 if retry_delay_ms > 0 else None)


def failure_in(proto: Any) -> GradusError | None:
    """The error of an item's message; None: it has not failed."""
    failure = proto.failure
    return error_of_item(failure.code, failure.message, failure.retry_delay_ms) if proto.HasField("failure") else None


def error_of_rpc(failure: grpc.RpcError, target: str) -> GradusError:
    """The error for what grpcio raised on a call to `target`."""
    # Both kinds that grpcio raises, of its sync and of its asyncio API, are calls too; the base class is bare.
    assert isinstance(failure, (grpc.Call, grpc.aio.AioRpcError))
    code = failure.code()
    message = failure.details() or "no reason given"
    trailing = failure.trailing_metadata() or ()
    delay = next((value for key, value in trailing if key == "retry-delay-ms"), None)
    reason, facts = reason_of(trailing)
    if code is grpc.StatusCode.CANCELLED or (code is grpc.StatusCode.INTERNAL and "RST_STREAM" in message):
        # Not by its caller, whom grpcio does not tell so: a load balancer ends calls so when it loses its server.
        code, message = grpc.StatusCode.UNAVAILABLE, f"the call was cut off on its way: {message}"
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
