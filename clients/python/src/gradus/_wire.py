"""Threads that carry a stream of steps."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterable
from typing import Any

import grpc

from gradus._channels import Address
from gradus._mistakes import explained
from gradus._stream import Ended, Event, Exhausted, Reply, Sent
from gradus.types import CompletionGroup
from gradus.v1 import environment_pb2


def feed(
    groups: Iterable[CompletionGroup],
    slots: threading.Semaphore,
    stop: threading.Event,
    inbox: queue.SimpleQueue[Event],
) -> None:
    """Puts the groups into the inbox, each when a slot is free; runs in a thread of its own."""
    try:
        iterator = iter(groups)
        while slots.acquire() and not stop.is_set():
            group = next(iterator, None)
            inbox.put(Exhausted(None) if group is None else Sent(group))
            if group is None:
                return
    except BaseException as error:  # What the caller's iterable raises is raised to the caller.
        inbox.put(Exhausted(error))


def next_event(inbox: queue.SimpleQueue[Event], wait: float | None) -> Event | None:
    """What happens next; None: nothing within the seconds to wait."""
    try:
        return inbox.get(timeout=wait)
    except queue.Empty:
        return None


class ThreadWire:
    """Carries a stream's messages: gRPC's thread reads the outgoing queue, and a thread of ours the replies."""

    def __init__(self, channel: grpc.Channel, address: Address) -> None:
        self.inbox: queue.SimpleQueue[Event] = queue.SimpleQueue()
        self._outgoing: queue.SimpleQueue[environment_pb2.StreamStepsRequest | None] = queue.SimpleQueue()
        self._address = address
        self._call: Any = None
        self._method = channel.stream_stream(
            "/gradus.v1.EnvironmentService/StreamSteps",
            request_serializer=environment_pb2.StreamStepsRequest.SerializeToString,
            response_deserializer=environment_pb2.StreamStepsResponse.FromString,
        )

    def open(self, number: int) -> None:
        """See Wire."""
        self.close(done=False)
        self._outgoing = queue.SimpleQueue()
        self._call = self._method(iter(self._outgoing.get, None), metadata=self._address.metadata)
        threading.Thread(target=self._read, args=(self._call, number), daemon=True).start()

    def send(self, message: environment_pb2.StreamStepsRequest) -> None:
        """See Wire."""
        self._outgoing.put(message)

    def close(self, done: bool) -> None:
        """Says that no more will be sent, and cancels the call unless it is done."""
        self._outgoing.put(None)
        if self._call is not None and not done:
            self._call.cancel()

    def _read(self, call: Iterable[environment_pb2.StreamStepsResponse], number: int) -> None:
        try:
            for message in call:
                self._address.reached.yes = True
                self.inbox.put(Reply(number, message))
            self.inbox.put(Ended(number, None))
        except grpc.RpcError as failure:
            self.inbox.put(Ended(number, explained(failure, self._address)))
