"""Logic of a StreamSteps call, which scores groups. `_wire.py` and `aio/_wire.py` add threads, event loop and clock.

Groups are sent within a window, each under its own request id, and replies are matched by that id, never by order. If
the stream breaks, a new one is opened and every group without a reply is sent again. Sending a group twice changes
nothing, because only the first score of a sample counts. A group without a reply in time gets an error.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterable, Callable, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Any, Protocol

import grpc

from gradus._arguments import is_whole, shown
from gradus._retries import spread
from gradus.errors import GradusError, ResourceExhaustedError, UnavailableError, error_of, error_of_item
from gradus.outcomes import GroupOutcome, StreamResult
from gradus.tasks import CompletionGroup
from gradus.v1 import environment_pb2 as env

_BREAKS_MAX = 8
"""Maximum number of streams in succession that break without a reply: about 20 s of retries.

A server can restart in this time.
"""

_BREAKS_MAX_AT_FIRST = 4
"""Maximum number of streams that break before any reply: about 3 s of retries, because there may be no server."""

_TOO_LARGE = re.compile(r"max-message-bytes|message larger than max")
"""Matches the error of a server, or of gRPC, for a message with too many bytes."""

_TOGETHER_BYTES = 256 * 1024
"""Maximum bytes of a message into which several requests are merged.

The value is half of a stream's flow-control window, so that one message is read while the next arrives.
"""

_MORE_MAX = 63
"""Maximum number of requests that a message may carry in addition to its own (`StreamStepsRequest.more`)."""

_PLACE_BYTES = 8
"""Maximum bytes of field tag and length that protobuf adds for each request inside a message."""


@dataclass(frozen=True)
class Exhausted:
    """Event: the caller has no more groups. `error`: error that the caller's iterable raised; None: none."""

    error: BaseException | None


@dataclass(slots=True)
class Reply:
    """Event: a reply arrived on the call with this number, at this time."""

    call: int
    message: env.StreamStepsResponse
    at: float


@dataclass(frozen=True)
class Ended:
    """Event: the call with this number ended, by an error or without one."""

    call: int
    error: GradusError | None


Event = Exhausted | Reply | Ended


class Waiting(Protocol):
    """A queue of requests to send."""

    def empty(self) -> bool:
        """Returns whether the queue is empty."""

    def get_nowait(self) -> env.StreamStepsRequest | None:
        """Takes the first request; None: no more will come."""

    def put_nowait(self, item: None) -> None:
        """Marks the end of the queue."""


class Together:
    """Merges waiting requests into one message, of as many bytes as the server of a call accepts.

    The server gives that size with its first reply. Until then, or if no other request waits, each request is sent
    alone.
    """

    def __init__(self) -> None:
        self.more_bytes = 0
        self._next: env.StreamStepsRequest | None = None

    def left(self) -> env.StreamStepsRequest | None:
        """Takes the request that did not fit into the last message, and is sent next; None: there is none."""
        left, self._next = self._next, None
        return left

    def message(self, first: env.StreamStepsRequest, waiting: Waiting) -> env.StreamStepsRequest:
        """Returns the next message: `first`, a request taken from the queue, and waiting requests that fit."""
        if self.more_bytes == 0 or waiting.empty():
            return first
        bytes_max = min(_TOGETHER_BYTES, self.more_bytes)
        size = first.ByteSize()
        message: env.StreamStepsRequest | None = None
        more = 0
        while size < bytes_max and more < _MORE_MAX and not waiting.empty():
            another = waiting.get_nowait()
            if another is None:
                # None marks the end of the queue. Put it back, so that the next reader finds it too.
                waiting.put_nowait(None)
                break
            size += another.ByteSize() + _PLACE_BYTES
            if size > bytes_max:
                self._next = another
                break
            if message is None:
                # The message is a copy, because each request may have to be sent again alone.
                message = env.StreamStepsRequest(request_id=first.request_id, groups=first.groups)
            message.more.append(another)
            more += 1
        return first if message is None else message


class Wire(Protocol):
    """Sends the messages of a stream and reports its events. No method blocks."""

    def open(self, number: int, first: env.StreamStepsRequest, *, fresh: bool) -> None:
        """Starts a call in place of the previous one; if `fresh`, on a new connection. Its events carry this number.

        `first` is the message that will be sent first.
        """

    def send(self, message: env.StreamStepsRequest) -> None:
        """Sends a message on the newest call."""


def check_stream(groups: Any, window: int, *, asynchronous: bool) -> None:
    """Raises TypeError or ValueError for invalid arguments of `stream_steps`."""
    if not is_whole(window) or window < 1:
        raise ValueError(f"window: want a whole number of groups, at least 1; got {shown(window)}")
    if isinstance(groups, AsyncIterable):
        if not asynchronous:
            raise TypeError("groups: want an iterable; got an asynchronous one, which gradus.aio.Client takes")
    elif not isinstance(groups, Iterable) or isinstance(groups, (str, bytes, Mapping)):
        alone = "; write [it], even if it is the only one" if isinstance(groups, CompletionGroup) else ""
        raise TypeError(f"groups: want an iterable of CompletionGroup, as Task.group makes; got {shown(groups)}{alone}")


@dataclass(slots=True)
class _Pending:
    group: CompletionGroup
    message: env.StreamStepsRequest
    deadline: float


class StepStream:
    """One call of StreamSteps, which scores groups, with its retries.

    Times are seconds of one monotonic clock. `timeout` applies to each group, from its sending on. `retries` is the
    maximum number of successive breaks without a reply. If a full server names a delay, the stream waits as long as the
    groups have time, unless `retries` is given. `lock` is held while a method works, for use by several threads.
    """

    def __init__(
        self,
        wire: Wire,
        timeout: float,
        retries: int | None = None,
        spread: Callable[[float], float] = spread,
        lock: AbstractContextManager[Any] | None = None,
    ) -> None:
        self._wire = wire
        self._timeout = timeout
        # Groups by request id, in the order in which they were added. All have the same timeout, so the first one times
        # out first.
        self._pending: dict[str, _Pending] = {}
        # Heap of refused requests: the time at which to send each again, and its id. Some may have a result by now.
        self._refused: list[tuple[float, str]] = []
        self._sent = 0
        self._calls = 0
        self._patient = retries is None
        self._spread = spread
        self._breaks = 0
        self._breaks_max = _BREAKS_MAX_AT_FIRST if retries is None else retries
        self._breaks_max_later = _BREAKS_MAX if retries is None else retries
        # Time at which the next call opens; None: one is open.
        self._open_at: float | None = 0.0
        self._exhausted = False
        # Time of the last event on the open call, or of its opening.
        self._heard_at = 0.0
        self._fresh = False
        # Time at which the caller last asked for results. Timeouts and retries are handled only when it does.
        self._tended_at = float("inf")
        self._lock = nullcontext() if lock is None else lock

    @property
    def done(self) -> bool:
        """Whether every group has its result and no more will come."""
        return self._exhausted and not self._pending

    def wait(self, now: float) -> float:
        """Returns the seconds until `handle` may have work although no event arrives."""
        with self._lock:
            if now - self._tended_at > self._timeout / 2:
                # While the caller was away, broken or refused requests were not sent again, so their timeout begins
                # anew.
                for each in self._pending.values():
                    each.deadline = now + self._timeout
            self._tended_at = now
            # Groups that are added while the caller waits have a later deadline than this.
            at = now + self._timeout
            for first in self._pending.values():
                at = first.deadline
                break
            if self._open_at is None:
                if self._refused:
                    at = min(at, self._refused[0][0])
            elif self._open_at > now:
                at = min(at, self._open_at)
            return max(0.0, at - now)

    def add(self, group: CompletionGroup, now: float) -> None:
        """Sends a group, or keeps it until there is a call."""
        message = env.StreamStepsRequest()
        # The group is written in place, because protobuf would copy a given message with all its texts.
        group.write_to(message.groups.add())
        with self._lock:
            message.request_id = str(self._sent)
            self._sent += 1
            self._pending[message.request_id] = _Pending(group, message, now + self._timeout)
            if self._open_at is None:
                self._wire.send(message)
            else:
                self._send_due(now)

    def handle(self, event: Event | None, now: float) -> list[StreamResult]:
        """Handles an event (None: only time has passed) and returns the results that follow.

        A reply counts at the time of its arrival, so a caller that was away does not make it late. Raises the error of
        the caller's iterable, and the error of a stream that cannot be opened again.
        """
        with self._lock:
            results: list[StreamResult] = []
            self._tended_at = max(self._tended_at, now)
            if isinstance(event, Reply):
                self._heard_at = now
                results = [
                    result for reply in (event.message, *event.message.more) for result in self._resolve(reply, now)
                ] + self._expire(now)
            elif event is None:
                results = self._expire(now)
            elif isinstance(event, Exhausted):
                if event.error is not None:
                    raise event.error
                self._exhausted = True
            elif isinstance(event, Ended) and event.call == self._calls:
                results = self._break(event.error, now)
            self._send_due(now)
            return results

    def _resolve(self, reply: env.StreamStepsResponse, now: float) -> list[StreamResult]:
        # If the request is not pending, its group has a result already: the reply is late, or the second to a request
        # that was sent twice.
        pending = self._pending.get(reply.request_id)
        if pending is None:
            return []
        self._breaks = 0
        self._breaks_max = self._breaks_max_later
        if not reply.HasField("failure"):
            return [self._close(reply.request_id, GroupOutcome.from_proto(reply.groups[0]), None)]
        failure = reply.failure
        error = error_of_item(failure.code, failure.message, failure.retry_delay_ms)
        if error.retry_delay is not None and now + error.retry_delay < pending.deadline:
            heappush(self._refused, (now + self._spread(error.retry_delay), reply.request_id))
            return []
        return [self._close(reply.request_id, None, error)]

    def _close(self, request_id: str, outcome: GroupOutcome | None, error: GradusError | None) -> StreamResult:
        return StreamResult(self._pending.pop(request_id).group, outcome, error)

    def _expire(self, now: float) -> list[StreamResult]:
        late: list[str] = []
        for request_id, each in self._pending.items():
            if each.deadline > now:
                break
            late.append(request_id)
        if not late:
            return []
        if self._open_at is None and self._heard_at <= now - self._timeout:
            # Nothing arrived for a group's whole timeout, so the connection may have died without notice.
            self._open_at, self._fresh = now, True
            self._refused.clear()
        message = f"no reply within {self._timeout:g} s"
        return [self._close(each, None, error_of(grpc.StatusCode.DEADLINE_EXCEEDED, message)) for each in late]

    def _break(self, error: GradusError | None, now: float) -> list[StreamResult]:
        error = error or error_of(grpc.StatusCode.UNAVAILABLE, "the server ended the stream before it was done")
        if self._pending and isinstance(error, ResourceExhaustedError) and _TOO_LARGE.search(error.message):
            # The largest request is too large, whether or not it ended the stream. The others are sent again.
            largest = max(self._pending, key=lambda each: self._pending[each].message.ByteSize())
            self._open_at = now
            self._refused.clear()
            return [self._close(largest, None, error)]
        full = isinstance(error, ResourceExhaustedError) and error.retry_delay is not None
        if not (full and self._patient):
            self._breaks += 1
        passing = error.mistake is None and (full or isinstance(error, UnavailableError))
        if self._breaks > self._breaks_max or not passing:
            raise error
        self._open_at = now + self._spread(error.retry_delay or min(5.0, 0.1 * 2**self._breaks))
        self._refused.clear()
        return []

    def _send_due(self, now: float) -> None:
        if self._open_at is not None:
            if self._pending and self._open_at <= now:
                self._open_at = None
                self._calls += 1
                self._heard_at = now
                first = next(iter(self._pending.values())).message
                self._wire.open(self._calls, first, fresh=self._fresh)
                self._fresh = False
                for each in self._pending.values():
                    self._wire.send(each.message)
            return
        while self._refused and self._refused[0][0] <= now:
            again = self._pending.get(heappop(self._refused)[1])
            if again is not None:
                self._wire.send(again.message)
