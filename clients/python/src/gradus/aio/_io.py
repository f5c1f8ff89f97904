"""I/O of asyncio, on the running loop."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

import grpc

from gradus._call import Call
from gradus._channels import Address, ChannelPool
from gradus._mistakes import explained
from gradus.errors import GradusError, error_of_rpc


class AsyncIo:
    """Implements `Io` with calls of asyncio."""

    def __init__(self, address: Address) -> None:
        self.address = address
        self.channels: ChannelPool[grpc.aio.Channel] = ChannelPool(address.open_aio)

    @property
    def reached(self) -> bool:
        """Implements `Io.reached`."""
        return self.address.reached.yes

    def channel(self) -> grpc.aio.Channel:
        """Returns the channel of the running loop."""
        return self.channels.get(asyncio.get_running_loop())

    async def exchange(self, call: Call[Any], timeout: float) -> Any:
        """Implements `Io.exchange`."""
        channel, began = self.channel(), time.monotonic()
        method = channel.unary_unary(
            call.method,
            request_serializer=type(call.request).SerializeToString,
            response_deserializer=call.response.FromString,
        )
        try:
            response = await method(call.request, timeout=timeout, metadata=self.address.metadata_for(call.request))
        except grpc.RpcError as failure:
            error = error_of_rpc(failure, self.address.target)
            if self.address.is_silent_since(began, error):
                self.channels.renew(channel, asyncio.get_running_loop())
            raise error from None
        self.address.reached.note()
        return response

    def begin(self, call: Call[Any], timeout: float) -> Callable[[], Any]:
        """Implements `Io.begin`."""
        begun = asyncio.ensure_future(self.exchange(call, timeout))
        return lambda: begun

    async def explain(self, error: GradusError) -> GradusError:
        """Implements `Io.explain`."""
        return await asyncio.to_thread(explained, error, self.address)

    async def sleep(self, seconds: float) -> None:
        """Implements `Io.sleep`."""
        await asyncio.sleep(seconds)

    def open(self, method: str, request: Any, response: Any) -> Any:
        """Implements `Io.open`."""
        stream = self.channel().unary_stream(
            method, request_serializer=type(request).SerializeToString, response_deserializer=response.FromString
        )
        return stream(request, metadata=self.address.metadata_for(request))

    async def receive(self, stream: Any) -> Any:
        """Implements `Io.receive`."""
        try:
            message = await stream.read()
        except grpc.RpcError as failure:
            raise error_of_rpc(failure, self.address.target) from None
        self.address.reached.note()
        return None if message is grpc.aio.EOF else message
