"""Test that calls carry the trace of their caller."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from concurrent import futures
from contextlib import contextmanager
from contextvars import ContextVar
from types import ModuleType
from typing import Any

import grpc
import pytest

from gradus import Client, Completion, CompletionGroup, GradusError
from gradus.aio import Client as AsyncClient

TRACE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


class Heard(grpc.GenericRpcHandler):
    """A server that answers nothing, and records the trace headers of calls."""

    def __init__(self) -> None:
        self.traces: list[str | None] = []
        self.streams: list[str | None] = []

    def service(self, call: grpc.HandlerCallDetails) -> None:
        trace = next((str(value) for key, value in call.invocation_metadata if key == "traceparent"), None)
        # After a failure, a thread of the client also checks what server answers.
        (self.streams if call.method.endswith("/StreamSteps") else self.traces).append(trace)


@contextmanager
def listening() -> Iterator[tuple[Heard, str]]:
    heard = Heard()
    server = grpc.server(futures.ThreadPoolExecutor(1), handlers=[heard])
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        yield heard, f"127.0.0.1:{port}"
    finally:
        server.stop(None)


@pytest.fixture
def opentelemetry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Provides the parts of OpenTelemetry that the client uses, with a current trace."""
    going = ContextVar("going", default=False)
    going.set(True)

    def inject(carrier: dict[str, str]) -> None:
        if going.get():
            carrier["traceparent"] = TRACE

    for name in ("opentelemetry", "opentelemetry.trace", "opentelemetry.propagate"):
        module: Any = ModuleType(name)
        module.inject = inject
        monkeypatch.setitem(sys.modules, name, module)


GROUP = CompletionGroup("t", "g", (Completion(0, "a"),))


def ask(address: str) -> None:
    with Client(address, retries=0, timeout=5) as client, pytest.raises(GradusError):
        client.list_environments()


@pytest.mark.usefixtures("opentelemetry")
def test_each_call_says_so() -> None:
    with listening() as (heard, address):
        ask(address)
    assert heard.traces[0] == TRACE


@pytest.mark.usefixtures("opentelemetry")
def test_streams_and_calls_of_asyncio_say_so() -> None:
    async def ask_and_stream(address: str) -> None:
        async with AsyncClient(address, retries=0, timeout=5) as client:
            with pytest.raises(GradusError):
                await client.list_environments()
            with pytest.raises(GradusError):
                await anext(client.stream_steps([GROUP]))

    with listening() as (heard, address):
        asyncio.run(ask_and_stream(address))
        with Client(address, retries=0, timeout=5) as client, pytest.raises(GradusError):
            next(client.stream_steps([GROUP]))
    assert heard.traces[0] == TRACE
    assert heard.streams == [TRACE, TRACE]


def test_without_opentelemetry_nothing_is_said_and_nothing_loaded() -> None:
    assert "opentelemetry.propagate" not in sys.modules
    with listening() as (heard, address):
        ask(address)
    assert set(heard.traces) == {None}
    assert "opentelemetry.propagate" not in sys.modules
