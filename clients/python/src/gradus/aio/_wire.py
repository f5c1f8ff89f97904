"""Carries the messages of a StreamSteps call, with asyncio tasks."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable
from types import TracebackType
from typing import Any

import grpc

from gradus._channels import Address, ChannelPool
from gradus._mistakes import explained
from gradus._stream import Ended, Event, Exhausted, Reply, Together
from gradus.errors import GradusError, error_of, error_of_rpc
from gradus.tasks import CompletionGroup, check_group
from gradus.v1 import environment_pb2

_ASK_SECONDS = 2.0
"""Seconds to wait for the server's error after a failed write."""


class TaskWire:
    """Carries a stream's messages: one task writes messages from the outgoing queue, and another reads the replies.

    A third task adds the caller's groups, at most `window` ahead of their results. Use the wire in an `async with`
    block, whose end ends the tasks and the call.
    """

    def __init__(
        self,
        channels: ChannelPool[grpc.aio.Channel],
        address: Address,
        groups: Iterable[CompletionGroup] | AsyncIterable[CompletionGroup],
        window: int,
    ) -> None:
        self.lock = None
        self._channels = channels
        self._channel: grpc.aio.Channel | None = None
        self._inbox: asyncio.Queue[Event | None] = asyncio.Queue()
        self._outgoing: asyncio.Queue[environment_pb2.StreamStepsRequest | None] = asyncio.Queue()
        self._address = address
        self._call: Any = None
        self._broken: Any = None
        self._largest = 0
        self._slots = asyncio.Semaphore(window)
        self._groups = groups
        self._feeder: asyncio.Future[None] | None = None
        self._tasks: list[asyncio.Future[None]] = []

    async def __aenter__(self) -> TaskWire:
        """Returns itself."""
        return self

    def feed(self, add: Callable[[CompletionGroup], None]) -> None:
        """Starts the task that reads the groups and adds them."""
        self._feeder = asyncio.ensure_future(self._feed(add))

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Ends the asyncio tasks and the gRPC call of the stream."""
        tasks = [*self._tasks, *([] if self._feeder is None else [self._feeder])]
        for task in tasks:
            task.cancel()
        try:
            # Unlike an await of each task, this distinguishes the end of a task from a cancellation of this one.
            await asyncio.gather(*tasks, return_exceptions=True)
        finally:
            if self._call is not None:
                self._call.cancel()

    def open(self, number: int, first: environment_pb2.StreamStepsRequest, *, fresh: bool) -> None:
        """Implements `Wire.open`."""
        loop = asyncio.get_running_loop()
        if fresh:
            self._channels.renew(self._channel, loop)
        self._channel = self._channels.get(loop)
        for task in self._tasks:
            task.cancel()
        self._outgoing = asyncio.Queue()
        self._largest = 0
        method = self._channel.stream_stream(
            "/gradus.v1.EnvironmentService/StreamSteps",
            request_serializer=environment_pb2.StreamStepsRequest.SerializeToString,
            response_deserializer=environment_pb2.StreamStepsResponse.FromString,
        )
        self._call = method(metadata=self._address.metadata_for(first))
        together = Together()
        self._tasks = [
            asyncio.ensure_future(self._write(self._call, self._outgoing, together)),
            asyncio.ensure_future(self._read(self._call, number, together)),
        ]

    def send(self, message: environment_pb2.StreamStepsRequest) -> None:
        """Implements `Wire.send`."""
        self._outgoing.put_nowait(message)

    def release(self) -> None:
        """Records that a group has its result, so that another may be read."""
        self._slots.release()

    async def next_event(self, wait: float) -> Event | None:
        """Returns the next event; None: there was none within `wait` seconds."""
        if not self._inbox.empty():
            return self._inbox.get_nowait()
        # Before Python 3.12 `wait_for` loses a cancellation that arrives together with the awaited result.
        late = asyncio.get_running_loop().call_later(wait, self._inbox.put_nowait, None)
        try:
            return await self._inbox.get()
        finally:
            late.cancel()

    async def _feed(self, add: Callable[[CompletionGroup], None]) -> None:
        groups = self._groups
        try:
            iterator = groups.__aiter__() if isinstance(groups, AsyncIterable) else _each(groups)
            while True:
                await self._slots.acquire()
                add(check_group(await iterator.__anext__()))
        except StopAsyncIteration:
            self._inbox.put_nowait(Exhausted(None))
        # The caller gets the error of its own iterable, also if an awaitable in the iterable was cancelled.
        except (Exception, asyncio.CancelledError) as error:
            self._inbox.put_nowait(Exhausted(error))

    async def _write(
        self, call: Any, outgoing: asyncio.Queue[environment_pb2.StreamStepsRequest | None], together: Together
    ) -> None:
        # A failed write means that the call has ended. The task that reads the replies reports why.
        try:
            while (first := together.left() or await outgoing.get()) is not None:
                message = together.message(first, outgoing)
                self._largest = max(self._largest, message.ByteSize())
                await call.write(message)
        except (grpc.RpcError, asyncio.InvalidStateError):
            self._broken = call

    async def _read(self, call: Any, number: int, together: Together) -> None:
        try:
            async for message in call:
                self._address.reached.note()
                together.more_bytes = message.more_bytes
                self._inbox.put_nowait(Reply(number, message, time.monotonic()))
            self._inbox.put_nowait(Ended(number, None))
        except grpc.aio.AioRpcError as failure:
            error = error_of_rpc(failure, self._address.target)
            if self._broken is call and error.code is grpc.StatusCode.INTERNAL:
                error = await self._error_of_write()
            else:
                error = await asyncio.to_thread(explained, error, self._address)
            self._inbox.put_nowait(Ended(number, error))

    async def _error_of_write(self) -> GradusError:
        """Finds out why a write failed, because grpc.aio drops the status with which the server ended the stream."""
        assert self._channel is not None
        ask = self._channel.unary_unary(
            "/gradus.v1.EnvironmentService/GetServerInfo",
            request_serializer=environment_pb2.GetServerInfoRequest.SerializeToString,
            response_deserializer=environment_pb2.GetServerInfoResponse.FromString,
        )
        try:
            reply = await ask(
                environment_pb2.GetServerInfoRequest(), timeout=_ASK_SECONDS, metadata=self._address.metadata
            )
            limit = reply.server.limits.message_bytes
        except grpc.RpcError:
            limit = 0
        if 0 < limit < self._largest:
            found = f"the request has {self._largest} bytes, more than the {limit} of --max-message-bytes"
            return error_of(grpc.StatusCode.RESOURCE_EXHAUSTED, f"{found}: send fewer groups or completions at once")
        return error_of(grpc.StatusCode.UNAVAILABLE, "the connection broke while a message was sent")


async def _each(groups: Iterable[CompletionGroup]) -> AsyncIterator[CompletionGroup]:
    for group in groups:
        yield group
