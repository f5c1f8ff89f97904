"""A proxy of the gRPC port that loses replies: the server has done its work, and the client never hears of it."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field

import grpc


@dataclass
class Lossy(grpc.GenericRpcHandler):
    """`lose`: how many of the next replies, by method's name, are lost. `made`: calls that came, by name."""

    channel: grpc.Channel
    address: str = ""
    lose: dict[str, int] = field(default_factory=dict)
    made: list[str] = field(default_factory=list)
    code: grpc.StatusCode = grpc.StatusCode.UNAVAILABLE
    """Status with which a lost reply fails."""

    def service(self, details: grpc.HandlerCallDetails) -> grpc.RpcMethodHandler[bytes, bytes]:
        path: str = details.method
        name = path.rpartition("/")[2]
        forward: grpc.UnaryUnaryMultiCallable[bytes, bytes] = self.channel.unary_unary(path)

        def handle(request: bytes, context: grpc.ServicerContext) -> bytes:
            self.made.append(name)
            try:
                response = forward(request, timeout=context.time_remaining())
            except grpc.RpcError as failure:
                assert isinstance(failure, grpc.Call)
                context.set_trailing_metadata(failure.trailing_metadata() or ())
                context.abort(failure.code(), failure.details() or "")
            if self.lose.get(name, 0) > 0:
                self.lose[name] -= 1
                context.abort(self.code, "the connection broke")
            return bytes(response)

        return grpc.unary_unary_rpc_method_handler(handle)


@contextmanager
def lossy(address: str) -> Iterator[Lossy]:
    with grpc.insecure_channel(address) as channel:
        proxy = Lossy(channel)
        server = grpc.server(ThreadPoolExecutor(4))
        server.add_generic_rpc_handlers((proxy,))
        proxy.address = f"localhost:{server.add_insecure_port('127.0.0.1:0')}"
        server.start()
        yield proxy
        server.stop(None)
