"""I/O of code that waits."""

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
        method = self._method(call)
        return self._response(lambda: method(call.request, timeout=timeout, metadata=self.address.metadata))

    def begin(self, call: Call[Any], timeout: float) -> Callable[[], Any]:
        """See `Io`."""
        begun = self._method(call).future(call.request, timeout=timeout, metadata=self.address.metadata)
        return lambda: self._response(begun.result)

    def _method(self, call: Call[Any]) -> Any:
        return self.channels.get().unary_unary(
            call.method,
            request_serializer=type(call.request).SerializeToString,
            response_deserializer=call.response.FromString,
        )

    def _response(self, wait: Callable[[], Any]) -> Any:
        try:
            response = wait()
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
