"""Serves the gRPC service EnvironmentProvider, by which a Gradus server on another machine uses a host."""

from __future__ import annotations

import asyncio
import hmac
import signal
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
import grpc.aio

from gradus.serve._episodes import CALLS_MAX as EPISODE_CALLS_MAX
from gradus.serve._link import Host, HostError, Terms
from gradus.v1 import provider_pb2 as pb
from gradus.v1 import provider_pb2_grpc as rpc

MESSAGE_BYTES_MAX = 64 * 1024**2
CALLS_MAX = 1024
SEEDS_MAX = 256
ANSWERS_MAX = 4096
LOOPBACK = ("localhost:", "127.", "[::1]:")


class OptionError(Exception):
    """Command line options are invalid, or contradict each other. The message has the reason and the remedy."""


@dataclass(frozen=True)
class Access:
    """Address of the provider, and the callers that it accepts."""

    address: str
    token: str = ""
    cert: str = ""
    key: str = ""
    client_ca: str = ""
    insecure: bool = False

    def check(self) -> None:
        """Raises OptionError if an option is invalid, or the provider would be open to everybody."""
        if bool(self.cert) != bool(self.key) or (self.client_ca and not self.cert):
            raise OptionError("--tls-cert and --tls-key must be given together, and with --tls-client-ca too")
        if not self.address.rpartition(":")[2].isdigit():
            raise OptionError(f"--address '{self.address}' is no host and port, e.g. 0.0.0.0:50061")
        closed = self.token or self.client_ca
        if not (closed or self.insecure or self.address.startswith(LOOPBACK)):
            raise OptionError(
                f"--address '{self.address}' is not a loopback address: give --token-file or --tls-client-ca "
                "(with --tls-cert and --tls-key), or --insecure"
            )

    def credentials(self) -> grpc.ServerCredentials | None:
        """Returns the TLS credentials; None: no TLS."""
        if not self.cert:
            return None
        pair = (Path(self.key).read_bytes(), Path(self.cert).read_bytes())
        roots = Path(self.client_ca).read_bytes() if self.client_ca else None
        return grpc.ssl_server_credentials([pair], roots, require_client_auth=roots is not None)


class TokenCheck(grpc.aio.ServerInterceptor):
    """Refuses every call without the token, before its request is read."""

    def __init__(self, token: str) -> None:
        self._expected = f"Bearer {token}".encode()

        async def refuse_one(_: Any, context: Any) -> None:
            await context.abort(grpc.StatusCode.UNAUTHENTICATED, "the call has no token, or another one")

        async def refuse_many(_: Any, context: Any) -> AsyncIterator[Any]:
            await context.abort(grpc.StatusCode.UNAUTHENTICATED, "the call has no token, or another one")
            yield

        self._refusals: dict[tuple[bool, bool], Any] = {
            (False, False): grpc.unary_unary_rpc_method_handler(refuse_one),
            (False, True): grpc.unary_stream_rpc_method_handler(refuse_many),
            (True, True): grpc.stream_stream_rpc_method_handler(refuse_many),
        }

    async def intercept_service(self, continuation: Any, details: Any) -> Any:
        """Returns the call's handler, or one that refuses the call."""
        handler = await continuation(details)
        sent = dict(details.invocation_metadata).get("authorization", "")
        if handler is None or hmac.compare_digest(str(sent).encode(), self._expected):
            return handler
        return self._refusals[handler.request_streaming, handler.response_streaming]


class Provider(rpc.EnvironmentProviderServicer):
    """The gRPC service EnvironmentProvider, which passes requests on to a host."""

    def __init__(self, host: Host) -> None:
        self._host = host
        described = host.ready.described
        self._described = described
        self._environments = {each.id: each for each in described.environments}

    async def Describe(self, request: pb.DescribeRequest, context: Any) -> pb.DescribeResponse:  # noqa: N802
        """Returns the environments of the host."""
        return self._described

    async def Generate(self, request: pb.GenerateRequest, context: Any) -> AsyncIterator[pb.GenerateResponse]:  # noqa: N802
        """Yields for each seed its instance, or the reason why there is none."""
        environment = await self._find(request.environment, request.version, request.digest, context)
        if request.level not in {level.name for level in environment.levels}:
            await context.abort(grpc.StatusCode.NOT_FOUND, f"{request.environment} has no level '{request.level}'")
        await _at_most(len(request.seeds), SEEDS_MAX, "seeds", context)
        async for made in self._host.generate(request):
            yield made

    async def Verify(  # noqa: N802
        self, requests: AsyncIterator[pb.VerifyRequest], context: Any
    ) -> AsyncIterator[pb.VerifyResponse]:
        """Yields the result of each answer, facts or a failure."""
        first: pb.VerifyRequest | None = None
        async for request in requests:
            if first is None:
                first = pb.VerifyRequest()
                first.CopyFrom(request)
                del first.answers[:]
                await self._find(request.environment, request.version, request.digest, context)
            await _at_most(len(request.answers), ANSWERS_MAX, "answers", context)
            asked = pb.VerifyRequest()
            asked.CopyFrom(first)
            asked.answers.extend(request.answers)
            async for found in self._host.verify(asked):
                yield found

    async def Draw(self, request: pb.DrawRequest, context: Any) -> pb.DrawResponse:  # noqa: N802
        """Returns a picture of a task, or a failure."""
        await self._find(request.environment, request.version, "", context)
        return await self._host.draw(request)

    async def Advance(  # noqa: N802
        self, request: pb.EnvironmentProviderAdvanceRequest, context: Any
    ) -> pb.EnvironmentProviderAdvanceResponse:
        """Returns the result of a call of an episode."""
        environment = await self._find(request.environment, request.version, request.digest, context)
        if not environment.HasField("turns"):
            await context.abort(grpc.StatusCode.FAILED_PRECONDITION, f"{request.environment} has no turns")
        await _at_most(len(request.calls), EPISODE_CALLS_MAX, "calls", context)
        return await self._host.advance(request)

    async def _find(self, name: str, version: int, digest: str, context: Any) -> pb.ProvidedEnvironment:
        environment = self._environments.get(name)
        if environment is None or environment.version != version:
            there = f"version {environment.version}" if environment else ", ".join(self._environments)
            await context.abort(
                grpc.StatusCode.NOT_FOUND,
                f"environment: there is no '{name}' of version {version}; there is {there}"[:2000],
            )
            raise AssertionError("abort raises")
        if digest not in ("", environment.digest):
            await context.abort(
                grpc.StatusCode.FAILED_PRECONDITION,
                f"digest: {name} has {environment.digest[:12]}… here, and {digest[:12]}… was asked for: "
                "its sources, packages or levels differ",
            )
        return environment


async def _at_most(count: int, limit: int, field: str, context: Any) -> None:
    if count > limit:
        message = f"{field}: must have at most {limit:,} entries; got {count:,}"
        await context.abort(grpc.StatusCode.INVALID_ARGUMENT, message)


async def open_server(host: Host, access: Access) -> tuple[grpc.aio.Server, int]:
    """Returns a started server and its port."""
    server = grpc.aio.server(
        interceptors=[TokenCheck(access.token)] if access.token else [],
        options=[("grpc.max_receive_message_length", MESSAGE_BYTES_MAX), ("grpc.so_reuseport", 0)],
        maximum_concurrent_rpcs=CALLS_MAX,
    )
    rpc.add_EnvironmentProviderServicer_to_server(Provider(host), server)
    credentials = access.credentials()
    try:
        port = (
            server.add_insecure_port(access.address)
            if credentials is None
            else server.add_secure_port(access.address, credentials)
        )
    except RuntimeError as error:
        raise OptionError(f"cannot listen on --address '{access.address}': is the port in use?") from error
    await server.start()
    return server, port


async def serve(target: str, terms: Terms, access: Access) -> None:
    """Serves until a signal ends it. Raises HostError if its host ends or serves nothing."""
    access.check()
    host = await Host.start(target, terms)
    try:
        server, port = await open_server(host, access)
        described = host.ready.described
        for each in described.left_out:
            print(f"left out {each.name}: {each.reason}")
        print(
            f"{len(described.environments)} environments of {target} on port {port}; {host.ready.locked}. "
            f"Mount them with: gradus serve --mount NAME={access.address}",
            flush=True,
        )
        told = asyncio.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, told.set)
        ends = [asyncio.create_task(told.wait()), asyncio.create_task(host.ended())]
        await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        await server.stop(grace=10)
        if not told.is_set():
            raise HostError(f"the host of {target} has ended, perhaps for lack of memory: start it again")
    finally:
        await host.close()
