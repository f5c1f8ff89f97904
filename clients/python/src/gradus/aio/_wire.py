"""Tasks that carry a stream of steps."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterable, AsyncIterator, Iterable
from typing import Any

import grpc

from gradus._channels import Address
from gradus._mistakes import explained_aio
from gradus._stream import Ended, Event, Exhausted, Reply, Sent
from gradus.errors import error_of, error_of_rpc
from gradus.types import CompletionGroup
from gradus.v1 import environment_pb2


async def feed(
    groups: Iterable[CompletionGroup] | AsyncIterable[CompletionGroup],
    slots: asyncio.Semaphore,
    inbox: asyncio.Queue[Event],
) -> None:
    """Puts the groups into the inbox, each when a slot is free; runs in a task of its own."""
    try:
        iterator = groups.__aiter__() if isinstance(groups, AsyncIterable) else _each(groups)
        while True:
            await slots.acquire()
            inbox.put_nowait(Sent(await iterator.__anext__()))
    except StopAsyncIteration:
        inbox.put_nowait(Exhausted(None))
    except Exception as error:  # What the caller's iterable raises is raised to the caller.
        inbox.put_nowait(Exhausted(error))


async def _each(groups: Iterable[CompletionGroup]) -> AsyncIterator[CompletionGroup]:
    for group in groups:
        yield group


async def next_event(inbox: asyncio.Queue[Event], wait: float | None) -> Event | None:
    """What happens next; None: nothing within the seconds to wait."""
    try:
        return await asyncio.wait_for(inbox.get(), wait)
    except (TimeoutError, asyncio.TimeoutError):
        return None


async def cancel(task: asyncio.Future[None]) -> None:
    """Cancels the task and waits until it is over."""
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task


class TaskWire:
    """Carries a stream's messages: one task writes what is in the outgoing queue, another reads the replies."""

    def __init__(self, channel: grpc.aio.Channel, address: Address) -> None:
        self.inbox: asyncio.Queue[Event] = asyncio.Queue()
        self._outgoing: asyncio.Queue[environment_pb2.StreamStepsRequest] = asyncio.Queue()
        self._address = address
        self._call: Any = None
        self._broken: Any = None
        self._tasks: list[asyncio.Future[None]] = []
        self._method = channel.stream_stream(
            "/gradus.v1.EnvironmentService/StreamSteps",
            request_serializer=environment_pb2.StreamStepsRequest.SerializeToString,
            response_deserializer=environment_pb2.StreamStepsResponse.FromString,
        )

    def open(self, number: int) -> None:
        """See Wire."""
        for task in self._tasks:
            task.cancel()
        self._outgoing = asyncio.Queue()
        self._call = self._method(metadata=self._address.metadata)
        self._tasks = [
            asyncio.ensure_future(self._write(self._call, self._outgoing)),
            asyncio.ensure_future(self._read(self._call, number)),
        ]

    def send(self, message: environment_pb2.StreamStepsRequest) -> None:
        """See Wire."""
        self._outgoing.put_nowait(message)

    async def close(self) -> None:
        """Ends the tasks and the call."""
        for task in self._tasks:
            await cancel(task)
        if self._call is not None:
            self._call.cancel()

    async def _write(self, call: Any, outgoing: asyncio.Queue[environment_pb2.StreamStepsRequest]) -> None:
        # A failed write says that the call has ended, which the reader learns too.
        try:
            while True:
                await call.write(await outgoing.get())
        except (grpc.RpcError, asyncio.InvalidStateError):
            self._broken = call

    async def _read(self, call: Any, number: int) -> None:
        try:
            async for message in call:
                self._address.reached.yes = True
                self.inbox.put_nowait(Reply(number, message))
            self.inbox.put_nowait(Ended(number, None))
        except grpc.aio.AioRpcError as failure:
            error = error_of_rpc(failure, self._address.target)
            if self._broken is call and error.code is grpc.StatusCode.INTERNAL:
                # grpc.aio puts this in the place of the true status when a write fails.
                error = error_of(grpc.StatusCode.UNAVAILABLE, "the connection broke while a message was sent")
            else:
                error = await explained_aio(failure, self._address)
            self.inbox.put_nowait(Ended(number, error))
