"""Carries the messages of a StreamSteps call, with threads."""

from __future__ import annotations

import atexit
import contextlib
import contextvars
import os
import queue
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Iterator
from types import TracebackType
from typing import Any

import grpc

from gradus._channels import Address, ChannelPool
from gradus._mistakes import explained
from gradus._stream import Ended, Event, Exhausted, Reply, Together
from gradus.errors import error_of_rpc
from gradus.tasks import CompletionGroup, check_group
from gradus.v1 import environment_pb2

_READER_SECONDS = 5.0
"""Maximum seconds that an exiting process waits for the thread that reads a cancelled call (usually milliseconds)."""


class ThreadWire:
    """Carries a stream's messages: gRPC's thread reads the outgoing queue, and our own thread reads the replies.

    Another thread adds the caller's groups, at most `window` ahead of their results. Use the wire in a `with` block,
    whose end ends the requests. The call is cancelled if an exception ends the block, or if the process ends.
    """

    def __init__(
        self, channels: ChannelPool[grpc.Channel], address: Address, groups: Iterable[CompletionGroup], window: int
    ) -> None:
        self.lock = threading.Lock()
        self._channels = channels
        self._channel: grpc.Channel | None = None
        self._inbox: queue.SimpleQueue[Event] = queue.SimpleQueue()
        self._outgoing: queue.SimpleQueue[environment_pb2.StreamStepsRequest | None] = queue.SimpleQueue()
        self._address = address
        self._call: Any = None
        self._reader: threading.Thread | None = None
        # One token for each group that may be in flight. A semaphore of Python takes five times as long.
        self._slots: queue.SimpleQueue[None] = queue.SimpleQueue()
        for _ in range(window):
            self._slots.put(None)
        self._stopped = False
        self._groups = groups

    def __enter__(self) -> ThreadWire:
        """Returns itself."""
        _open.add(self)
        return self

    def feed(self, add: Callable[[CompletionGroup], None]) -> None:
        """Starts the thread that reads the groups and adds them."""
        # Each group is added in a copy of the caller's context, so that the call belongs to the caller's trace.
        context = contextvars.copy_context()
        threading.Thread(target=self._feed, args=(lambda group: context.run(add, group),), daemon=True).start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Ends the threads and the gRPC call of the stream."""
        self._end(cancel=kind is not None)

    def _end(self, *, cancel: bool) -> None:
        if self._stopped:
            return
        self._stopped = True
        _open.discard(self)
        self._slots.put(None)
        self._outgoing.put(None)
        if self._call is not None and cancel:
            self._call.cancel()

    def end_with_process(self) -> None:
        """Cancels the call, and waits for its reader for a limited time."""
        self._end(cancel=True)
        if self._reader is not None:
            self._reader.join(_READER_SECONDS)
        # Free the call now, while the threads of gRPC still exist, because freeing a call needs a lock of the call.
        self._call = None

    def open(self, number: int, first: environment_pb2.StreamStepsRequest, *, fresh: bool) -> None:
        """Implements `Wire.open`."""
        if self._stopped:
            return
        if fresh:
            self._channels.renew(self._channel)
        self._channel = self._channels.get()
        self._outgoing.put(None)
        if self._call is not None:
            self._call.cancel()
        self._outgoing = queue.SimpleQueue()
        method = self._channel.stream_stream(
            "/gradus.v1.EnvironmentService/StreamSteps",
            request_serializer=environment_pb2.StreamStepsRequest.SerializeToString,
            response_deserializer=environment_pb2.StreamStepsResponse.FromString,
        )
        together = Together()
        self._call = method(_messages(self._outgoing, together), metadata=self._address.metadata_for(first))
        self._reader = threading.Thread(target=self._read, args=(self._call, number, together), daemon=True)
        self._reader.start()
        if self._stopped:
            # Another thread ended the stream meanwhile, but saw only the previous call and its queue. End this call,
            # too.
            self._outgoing.put(None)
            self._call.cancel()

    def send(self, message: environment_pb2.StreamStepsRequest) -> None:
        """Implements `Wire.send`."""
        self._outgoing.put(message)

    def release(self) -> None:
        """Records that a group has its result, so that another may be read."""
        self._slots.put(None)

    def next_event(self, wait: float) -> Event | None:
        """Returns the next event; None: there was none within `wait` seconds."""
        try:
            return self._inbox.get(timeout=wait)
        except queue.Empty:
            return None

    def _feed(self, add: Callable[[CompletionGroup], None]) -> None:
        try:
            iterator = iter(self._groups)
            while True:
                self._slots.get()
                if self._stopped:
                    break
                try:
                    group = next(iterator)
                except StopIteration:
                    break
                add(check_group(group))
            self._inbox.put(Exhausted(None))
        except BaseException as error:  # What the caller's iterable raises is raised to the caller.
            self._inbox.put(Exhausted(error))

    def _read(self, call: Iterable[environment_pb2.StreamStepsResponse], number: int, together: Together) -> None:
        try:
            for message in call:
                self._address.reached.note()
                together.more_bytes = message.more_bytes
                self._inbox.put(Reply(number, message, time.monotonic()))
            self._inbox.put(Ended(number, None))
        except grpc.RpcError as failure:
            error = error_of_rpc(failure, self._address.target)
            # gRPC raises the call object itself as the exception. Its traceback would keep this frame and the call
            # alive.
            failure.with_traceback(None)
            self._inbox.put(Ended(number, explained(error, self._address)))


def _messages(
    outgoing: queue.SimpleQueue[environment_pb2.StreamStepsRequest | None], together: Together
) -> Iterator[environment_pb2.StreamStepsRequest]:
    """Yields the messages that gRPC's thread sends."""
    while (first := together.left() or outgoing.get()) is not None:
        yield together.message(first, outgoing)


_open: weakref.WeakSet[ThreadWire] = weakref.WeakSet()


@atexit.register
def _end_all() -> None:
    """Ends streams that were left open, e.g. by a `break`, while threads can still be waited for.

    Later in its exit, Python closes generators. They would then wait for ever for a lock of the call, because the
    call's thread no longer exists.
    """
    for wire in list(_open):
        with contextlib.suppress(Exception):
            wire.end_with_process()


# A forked child forgets its parent's streams, which it must not use. Windows has no fork.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_open.clear)
