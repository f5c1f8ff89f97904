"""Blocking I/O for the synchronous client: calls, streams and waits."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import grpc

from gradus._call import Call
from gradus._channels import Address, ChannelPool
from gradus._mistakes import explained
from gradus.errors import GradusError, error_of_rpc


class BlockingIo:
    """Implements `Io` with blocking calls."""

    def __init__(self, address: Address) -> None:
        self.address = address
        self.channels: ChannelPool[grpc.Channel] = ChannelPool(address.open)

    @property
    def reached(self) -> bool:
        """Implements `Io.reached`."""
        return self.address.reached.yes

    def exchange(self, call: Call[Any], timeout: float) -> Any:
        """Implements `Io.exchange`."""
        channel = self.channels.get()
        method = _method(channel, call)
        return self._response(
            channel, lambda: method(call.request, timeout=timeout, metadata=self.address.metadata_for(call.request))
        )

    def begin(self, call: Call[Any], timeout: float) -> Callable[[], Any]:
        """Implements `Io.begin`."""
        channel = self.channels.get()
        begun = _method(channel, call).future(
            call.request, timeout=timeout, metadata=self.address.metadata_for(call.request)
        )
        return lambda: self._response(channel, begun.result)

    def _response(self, channel: grpc.Channel, wait: Callable[[], Any]) -> Any:
        began = time.monotonic()
        try:
            response = wait()
        except grpc.RpcError as failure:
            error = error_of_rpc(failure, self.address.target)
            if self.address.is_silent_since(began, error):
                self.channels.renew(channel)
            raise error from None
        self.address.reached.note()
        return response

    def explain(self, error: GradusError) -> GradusError:
        """Implements `Io.explain`."""
        return explained(error, self.address)

    def sleep(self, seconds: float) -> None:
        """Implements `Io.sleep`."""
        time.sleep(seconds)

    def open(self, method: str, request: Any, response: Any) -> Any:
        """Implements `Io.open`."""
        stream = self.channels.get().unary_stream(
            method, request_serializer=type(request).SerializeToString, response_deserializer=response.FromString
        )
        return stream(request, metadata=self.address.metadata_for(request))

    def receive(self, stream: Any) -> Any:
        """Implements `Io.receive`."""
        try:
            message = next(stream, None)
        except grpc.RpcError as failure:
            raise error_of_rpc(failure, self.address.target) from None
        self.address.reached.note()
        return message


def _method(channel: grpc.Channel, call: Call[Any]) -> Any:
    return channel.unary_unary(
        call.method,
        request_serializer=type(call.request).SerializeToString,
        response_deserializer=call.response.FromString,
    )
