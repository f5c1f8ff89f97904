"""Makes calls with a client's timeouts and retries, without I/O."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from gradus._arguments import CallOptions, limits_of
from gradus._call import Call, Io
from gradus._channels import Address
from gradus._credentials import Tls, check_tls, token_of
from gradus._feedback import FeedbackLog, OnFeedback
from gradus._mistakes import check_target
from gradus._op import Each, Item, Op
from gradus._retries import Deadline, Waiting, delay_before, perform
from gradus.errors import GradusError

T = TypeVar("T")

Page = Callable[[str], Call[tuple[list[T], str]]]
"""Function from a page token to the call for that page of a list. The call returns the items and the next token."""


@dataclass(frozen=True)
class Settings:
    """Settings of a client; see `Client`."""

    target: str
    tls: Tls | None
    token: str | None = field(repr=False)
    timeout: float
    retries: int | None
    on_feedback: OnFeedback
    options: tuple[tuple[str, Any], ...]


class CallMaker:
    """Base class of a client's operations. `io_of` makes the object that does their I/O, blocking or for asyncio.

    A pickle contains only the settings, without the connection and the counts: each process connects anew.
    """

    def __init__(self, io_of: Callable[[Address], Any], settings: Settings) -> None:
        check_target(settings.target)
        check_tls(settings.tls)
        limits_of(settings.timeout, settings.retries)
        self.settings = settings
        self.io: Any = io_of(Address(settings.target, settings.tls, token_of(settings.token), settings.options))
        self.feedback = FeedbackLog(settings.on_feedback)
        self._io_of = io_of

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles the settings alone: returns the class, and the settings to call it with."""
        return type(self), (self._io_of, self.settings)

    def limits(self, options: CallOptions) -> tuple[float, int | None]:
        """Returns the timeout and the retries of a call: those in `options`, or else the client's."""
        timeout = options.get("timeout")
        timeout = self.settings.timeout if timeout is None else timeout
        return limits_of(timeout, options.get("retries", self.settings.retries))

    def call(self, call: Call[T], options: CallOptions, waiting: Waiting | None = None) -> Op[T]:
        """Makes a call."""
        io: Io = self.io
        return perform(io, call, *self.limits(options), waiting)

    def calls(self, calls: Iterable[Call[T]], options: CallOptions) -> Op[list[T]]:
        """Makes calls concurrently, each as soon as the iterable yields it. Returns their results in order, (n,)."""
        io: Io = self.io
        timeout, retries = self.limits(options)
        deadline = Deadline(timeout)
        begun: list[tuple[Call[T], Callable[[], Any]]] = []
        last: Call[T] | None = None
        for call in calls:
            if last is not None:
                begun.append((last, io.begin(last, deadline.left())))
            last = call
        if last is None:
            return []
        # Make the last call in this thread, which has to wait anyway. The earlier calls run in threads of gRPC.
        found = [(yield from perform(io, last, deadline.left(), retries))]
        for call, first in reversed(begun):
            found.append((yield from perform(io, call, deadline.left(), retries, first=first)))
        return found[::-1]

    def pages(self, page: Page[T], options: CallOptions) -> Each[T]:
        """Yields the items of all pages. Each page is requested when the caller needs it."""
        token = ""
        while True:
            items, token = yield from self.call(page(token), options)
            for item in items:
                yield Item(item)
            if not token:
                return

    def whole(self, page: Page[T], options: CallOptions) -> Op[list[T]]:
        """Returns the items of all pages."""
        found: list[T] = []
        token = ""
        while True:
            items, token = yield from self.call(page(token), options)
            found += items
            if not token:
                return found

    def replies(self, method: str, request: Any, response: Any, read: Callable[[Any], T]) -> Each[T]:
        """Yields the responses of a stream, until the server ends or breaks it, or the iterator is closed."""
        try:
            yield from self._streamed(method, request, response, read)
        except GradusError as error:
            failure = error
        else:
            return
        raise (yield self.io.explain(failure)) from None

    def followed(self, method: str, request: Any, response: Any, read: Callable[[Any], T]) -> Each[T]:
        """Yields the responses of a stream like `replies`, but reopens the stream when it breaks.

        The stream is reopened for as long as a call would be retried.
        """
        timeout, retries = self.limits({})
        tries, deadline = 0, Deadline(timeout)

        def heard(reply: Any) -> T:
            nonlocal tries
            tries = 0
            return read(reply)

        while True:
            try:
                yield from self._streamed(method, request, response, heard)
            except GradusError as error:
                failure = error
            else:
                return
            # The deadline counts from the first failure: before it the stream may have had nothing to say.
            deadline = Deadline(timeout) if tries == 0 else deadline
            delay = delay_before(failure, tries, retries, self.io.reached)
            if delay is None or delay >= deadline.left():
                raise (yield self.io.explain(failure)) from None
            yield self.io.sleep(delay)
            tries += 1

    def _streamed(self, method: str, request: Any, response: Any, read: Callable[[Any], T]) -> Each[T]:
        stream = self.io.open(method, request, response)
        try:
            while (reply := (yield self.io.receive(stream))) is not None:
                yield Item(read(reply))
        finally:
            stream.cancel()
