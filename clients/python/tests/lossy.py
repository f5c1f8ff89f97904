"""A proxy of the gRPC port that loses replies to calls that the server has carried out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field

import grpc


@dataclass
class Lossy(grpc.GenericRpcHandler):
    """`lose`: how many of the next replies, by method's name, are lost. `made`: calls that came, by name.

    `lose_every`: the number n, if each n-th call of all fails; 0: none. Half of these calls never reach the server, and
    the replies to the others are lost. `change` gets the method's name and the reply, and returns another reply.
    """

    channel: grpc.Channel
    address: str = ""
    lose: dict[str, int] = field(default_factory=dict)
    made: list[str] = field(default_factory=list)
    code: grpc.StatusCode = grpc.StatusCode.UNAVAILABLE
    """Status with which a lost reply fails."""
    lose_every: int = 0
    change: Callable[[str, bytes], bytes] = lambda _, reply: reply

    def service(self, details: grpc.HandlerCallDetails) -> grpc.RpcMethodHandler[bytes, bytes]:
        path: str = details.method
        name = path.rpartition("/")[2]
        forward: grpc.UnaryUnaryMultiCallable[bytes, bytes] = self.channel.unary_unary(path)

        def handle(request: bytes, context: grpc.ServicerContext) -> bytes:
            self.made.append(name)
            turn = divmod(len(self.made), self.lose_every) if self.lose_every else (0, 1)
            if turn[1] == 0 and turn[0] % 2:
                context.abort(self.code, "the server is away")
            try:
                response = forward(request, timeout=context.time_remaining())
            except grpc.RpcError as failure:
                assert isinstance(failure, grpc.Call)
                context.set_trailing_metadata(failure.trailing_metadata() or ())
                context.abort(failure.code(), failure.details() or "")
            if self.lose.get(name, 0) > 0:
                self.lose[name] -= 1
                context.abort(self.code, "the connection broke")
            if turn[1] == 0:
                context.abort(self.code, "the connection broke")
            return self.change(name, bytes(response))

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
