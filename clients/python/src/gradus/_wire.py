"""Threads that carry a stream of steps."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterable
from types import TracebackType
from typing import Any

import grpc

from gradus._channels import Address
from gradus._mistakes import explained
from gradus._stream import Ended, Event, Exhausted, Reply, Sent
from gradus.errors import error_of_rpc
from gradus.tasks import CompletionGroup
from gradus.v1 import environment_pb2


class ThreadWire:
    """Carries a stream's messages: gRPC's thread reads the outgoing queue, a thread of ours the replies.

    Another puts the caller's groups into the inbox, at most `window` ahead of their results. To be used as a context:
    its end says that no more will be sent, and cancels the call where it is left early.
    """

    def __init__(self, channel: grpc.Channel, address: Address, groups: Iterable[CompletionGroup], window: int) -> None:
        self._inbox: queue.SimpleQueue[Event] = queue.SimpleQueue()
        self._outgoing: queue.SimpleQueue[environment_pb2.StreamStepsRequest | None] = queue.SimpleQueue()
        self._address = address
        self._call: Any = None
        self._slots = threading.Semaphore(window)
        self._stopped = False
        self._groups = groups
        self._method = channel.stream_stream(
            "/gradus.v1.EnvironmentService/StreamSteps",
            request_serializer=environment_pb2.StreamStepsRequest.SerializeToString,
            response_deserializer=environment_pb2.StreamStepsResponse.FromString,
        )

    def __enter__(self) -> ThreadWire:
        """Begins to read the groups."""
        threading.Thread(target=self._feed, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Ends the threads and the call."""
        self._stopped = True
        self._slots.release()
        self._outgoing.put(None)
        if self._call is not None and kind is not None:
            self._call.cancel()

    def open(self, number: int) -> None:
        """See Wire."""
        self._outgoing.put(None)
        if self._call is not None:
            self._call.cancel()
        self._outgoing = queue.SimpleQueue()
        self._call = self._method(iter(self._outgoing.get, None), metadata=self._address.metadata)
        threading.Thread(target=self._read, args=(self._call, number), daemon=True).start()

    def send(self, message: environment_pb2.StreamStepsRequest) -> None:
        """See Wire."""
        self._outgoing.put(message)

    def release(self) -> None:
        """Says that a group has its result, so that another may be read."""
        self._slots.release()

    def next_event(self, wait: float | None) -> Event | None:
        """What happens next; None: nothing within the seconds to wait."""
        try:
            return self._inbox.get(timeout=wait)
        except queue.Empty:
            return None

    def _feed(self) -> None:
        try:
            iterator = iter(self._groups)
            while self._slots.acquire() and not self._stopped:
                group = next(iterator, None)
                self._inbox.put(Exhausted(None) if group is None else Sent(group))
                if group is None:
                    return
        except BaseException as error:  # What the caller's iterable raises is raised to the caller.
            self._inbox.put(Exhausted(error))

    def _read(self, call: Iterable[environment_pb2.StreamStepsResponse], number: int) -> None:
        try:
            for message in call:
                self._address.reached.yes = True
                self._inbox.put(Reply(number, message))
            self._inbox.put(Ended(number, None))
        except grpc.RpcError as failure:
            error = error_of_rpc(failure, self._address.target)
            self._inbox.put(Ended(number, explained(error, self._address)))
