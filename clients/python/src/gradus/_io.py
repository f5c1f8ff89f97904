"""I/O of code that waits."""

from __future__ import annotations

import time
from typing import Any

import grpc

from gradus._call import Call
from gradus._channels import Address, ChannelPool
from gradus._mistakes import explained
from gradus.errors import GradusError, error_of_rpc


class BlockingIo:
    """See `Io`."""

    def __init__(self, address: Address) -> None:
        self.address = address
        self.channels: ChannelPool[grpc.Channel] = ChannelPool(address.open)

    @property
    def reached(self) -> bool:
        """See `Io`."""
        return self.address.reached.yes

    def exchange(self, call: Call[Any], timeout: float) -> Any:
        """See `Io`."""
        method = self.channels.get().unary_unary(
            call.method,
            request_serializer=type(call.request).SerializeToString,
            response_deserializer=call.response.FromString,
        )
        try:
            response = method(call.request, timeout=timeout, metadata=self.address.metadata)
        except grpc.RpcError as failure:
            raise error_of_rpc(failure, self.address.target) from None
        self.address.reached.yes = True
        return response

    def explain(self, error: GradusError) -> GradusError:
        """See `Io`."""
        return explained(error, self.address)

    def sleep(self, seconds: float) -> None:
        """See `Io`."""
        time.sleep(seconds)

    def open(self, method: str, request: Any, response: Any) -> Any:
        """See `Io`."""
        stream = self.channels.get().unary_stream(
            method, request_serializer=type(request).SerializeToString, response_deserializer=response.FromString
        )
        return stream(request, metadata=self.address.metadata)

    def receive(self, stream: Any) -> Any:
        """See `Io`."""
        try:
            message = next(stream, None)
        except grpc.RpcError as failure:
            raise error_of_rpc(failure, self.address.target) from None
        self.address.reached.yes = True
        return message
