"""Threads that carry a stream of steps."""

from __future__ import annotations

import atexit
import contextlib
import contextvars
import os
import queue
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from types import TracebackType
from typing import Any

import grpc

from gradus._channels import Address, ChannelPool
from gradus._mistakes import explained
from gradus._stream import Ended, Event, Exhausted, Reply
from gradus.errors import error_of_rpc
from gradus.tasks import CompletionGroup, check_group
from gradus.v1 import environment_pb2

_READER_SECONDS = 5.0
"""How long the end of a process waits for a cancelled call's reader, which takes milliseconds."""


class _Outgoing:
    """What one call is to send: messages, and among them turns, at which another group may be read."""

    def __init__(self) -> None:
        self._messages: deque[environment_pb2.StreamStepsRequest] = deque()
        # One for each message and turn; False: there will be no more.
        self._wakes: queue.SimpleQueue[bool] = queue.SimpleQueue()

    def send(self, message: environment_pb2.StreamStepsRequest) -> None:
        self._messages.append(message)
        self._wakes.put(True)

    def turn(self) -> None:
        self._wakes.put(True)

    def end(self) -> None:
        """After what was given before."""
        self._wakes.put(False)

    def messages(self, at_turn: Callable[[], None]) -> Iterator[environment_pb2.StreamStepsRequest]:
        """The messages as they come. They go before turns: what a turn brings goes before another may block."""
        while self._wakes.get():
            if self._messages:
                yield self._messages.popleft()
            else:
                at_turn()


class ThreadWire:
    """Carries a stream's messages: gRPC's thread reads the caller's groups and sends them, one of ours the replies.

    At most `window` groups are out ahead of their results. To hand each group from a thread of ours to gRPC's would
    cost as much as to make it. Yet that thread may be long with the caller, so that from the first message that cannot
    wait for it, after a refusal or a break, a thread of ours reads the groups, and gRPC's only sends.

    To be used as a context: its end says that no more will be sent, and cancels the calls where it is left early, as
    the end of the process does.
    """

    def __init__(
        self, channels: ChannelPool[grpc.Channel], address: Address, groups: Iterable[CompletionGroup], window: int
    ) -> None:
        self.lock = threading.Lock()
        self._channels = channels
        self._channel: grpc.Channel | None = None
        self._inbox: queue.SimpleQueue[Event] = queue.SimpleQueue()
        self._outgoing = _Outgoing()
        self._address = address
        # The last one sends; one before it, if any, still brings replies.
        self._calls: list[tuple[Any, threading.Thread]] = []
        self._number = 0
        # As many as groups may be out; a semaphore of Python's own takes five times as long.
        self._slots: queue.SimpleQueue[None] = queue.SimpleQueue()
        for _ in range(window):
            self._slots.put(None)
        self._window = window
        self._stopped = False
        self._groups = groups
        self._iterator: Iterator[CompletionGroup] | None = None
        self._add: Callable[[CompletionGroup], None] = lambda _: None
        # Whether gRPC's thread reads the groups, and what is held by whoever does.
        self._direct = True
        self._reading = threading.Lock()

    def __enter__(self) -> ThreadWire:
        """Gives itself."""
        _open.add(self)
        return self

    def feed(self, add: Callable[[CompletionGroup], None]) -> None:
        """Begins to read the groups, and adds them."""
        # In the caller's context, which says what trace the call that it opens is a part of.
        context = contextvars.copy_context()
        self._add = lambda group: context.run(add, group)
        threading.Thread(target=self._read_first, daemon=True).start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Ends the threads and the calls."""
        self._end(cancel=kind is not None)

    def _end(self, *, cancel: bool) -> None:
        if self._stopped:
            return
        self._stopped = True
        _open.discard(self)
        self._slots.put(None)
        self._outgoing.end()
        if cancel:
            self._cancel()

    def _cancel(self) -> None:
        for call, _ in self._calls:
            call.cancel()

    def end_with_process(self) -> None:
        """Cancels the calls and waits for their readers."""
        self._end(cancel=True)
        for _, reader in self._calls:
            reader.join(_READER_SECONDS)
        # gRPC's own end of a call wants the lock as well.
        self._calls = []

    def open(self, number: int, first: environment_pb2.StreamStepsRequest, *, fresh: bool) -> None:
        """See Wire."""
        if fresh:
            self._channels.renew(self._channel)
        self._channel = self._channels.get()
        self._outgoing.end()
        self._cancel()
        self._calls = []
        self._number = number
        if number > 1:
            self._read_apart()
        self._call(self._channel, first)

    def send(self, message: environment_pb2.StreamStepsRequest) -> None:
        """See Wire."""
        self._outgoing.send(message)

    def send_again(self, message: environment_pb2.StreamStepsRequest) -> None:
        """See Wire."""
        if self._direct and self._channel is not None:
            # Beside the call whose thread may be with the caller.
            self._outgoing.end()
            self._read_apart()
            self._call(self._channel, message)
        self._outgoing.send(message)

    def release(self) -> None:
        """Says that a group has its result, so that another may be read."""
        self._slots.put(None)
        if self._direct:
            self._outgoing.turn()

    def next_event(self, wait: float) -> Event | None:
        """What happens next; None: nothing within the seconds to wait."""
        try:
            return self._inbox.get(timeout=wait)
        except queue.Empty:
            return None

    def _call(self, channel: grpc.Channel, first: environment_pb2.StreamStepsRequest) -> None:
        self._outgoing = _Outgoing()
        method = channel.stream_stream(
            "/gradus.v1.EnvironmentService/StreamSteps",
            request_serializer=environment_pb2.StreamStepsRequest.SerializeToString,
            response_deserializer=environment_pb2.StreamStepsResponse.FromString,
        )
        call = method(self._outgoing.messages(self._read_in_call), metadata=self._address.metadata_for(first))
        reader = threading.Thread(target=self._read_replies, args=(call, self._number), daemon=True)
        self._calls.append((call, reader))
        reader.start()

    def _read_in_call(self) -> None:
        if self._direct:
            with self._reading:
                if self._direct:
                    self._read_group()

    def _read_first(self) -> None:
        """Reads the group whose sending opens the call; from there on that call reads."""
        with self._reading:
            self._iterator = self._read_iterator()
            self._read_group()
        for _ in range(self._window - 1):
            self._outgoing.turn()

    def _read_apart(self) -> None:
        """From now on a thread of ours reads the groups, as soon as nobody else does."""
        if self._direct:
            self._direct = False
            threading.Thread(target=self._read_all, daemon=True).start()

    def _read_all(self) -> None:
        with self._reading:
            while self._iterator is not None:
                self._read_group()

    def _read_iterator(self) -> Iterator[CompletionGroup] | None:
        try:
            return iter(self._groups)
        except BaseException as error:  # What the caller's iterable raises is raised to the caller.
            self._inbox.put(Exhausted(error))
            return None

    def _read_group(self) -> None:
        """Adds the caller's next group; without an iterator there is no more."""
        if self._iterator is None:
            return
        self._slots.get()
        try:
            if not self._stopped:
                self._add(check_group(next(self._iterator)))
                return
        except StopIteration:
            self._inbox.put(Exhausted(None))
        except BaseException as error:  # What the caller's iterable raises is raised to the caller.
            self._inbox.put(Exhausted(error))
        self._iterator = None

    def _read_replies(self, call: Iterable[environment_pb2.StreamStepsResponse], number: int) -> None:
        try:
            for message in call:
                self._address.reached.note()
                self._inbox.put(Reply(number, message, time.monotonic()))
            # One that nothing more is sent on may end as it likes.
            if self._calls and call is self._calls[-1][0]:
                self._inbox.put(Ended(number, None))
        except grpc.RpcError as failure:
            error = error_of_rpc(failure, self._address.target)
            # The failure is the call itself: by its traceback it would hold this frame, and so itself.
            failure.with_traceback(None)
            self._inbox.put(Ended(number, explained(error, self._address)))
        finally:
            # There may be nothing to send again, for which another call would be opened.
            if not self._stopped:
                self._read_apart()


_open: weakref.WeakSet[ThreadWire] = weakref.WeakSet()


@atexit.register
def _end_all() -> None:
    """Ends what was left open, for example by a `break` out of its loop, while threads can still be waited for.

    Later Python's own end would: a generator that it closes then waits for a lock of the call for ever, which a thread
    holds that is no more.
    """
    for wire in list(_open):
        with contextlib.suppress(Exception):
            wire.end_with_process()


# A forked child must not touch its parent's calls. Windows has no fork.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_open.clear)
