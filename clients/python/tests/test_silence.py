"""Test connections that die silently, and servers that have not started yet."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator

import pytest
from conftest import Server, StartServer, wrong
from hole import Hole, hole
from real_server import lasting_port

import gradus
from gradus import Client, CompletionGroup, StreamResult, Task, aio
from gradus.training import RunAddress

SOON = [("grpc.keepalive_time_ms", 200), ("grpc.keepalive_timeout_ms", 500), ("grpc.http2.ping_timeout_ms", 500)]


@pytest.fixture
def proxy(server: Server) -> Iterator[Hole]:
    with hole(server.address) as proxy:
        yield proxy


def test_the_call_after_one_that_heard_nothing_has_a_connection_of_its_own(proxy: Hole) -> None:
    with Client(proxy.address) as client:
        assert client.list_environments()
        proxy.fall_silent()
        with pytest.raises(gradus.DeadlineExceededError):
            client.list_environments(timeout=1)
        assert client.list_environments(timeout=20)
    assert proxy.made == 2


def test_the_same_for_asyncio_whose_other_calls_go_on(proxy: Hole) -> None:
    async def ask() -> None:
        async with aio.Client(proxy.address) as client:
            assert await client.list_environments()
            proxy.fall_silent()
            waiting = asyncio.ensure_future(client.list_environments(timeout=4, retries=0))
            with pytest.raises(gradus.DeadlineExceededError):
                await client.list_environments(timeout=1)
            assert await client.list_environments(timeout=20)
            # This call on the dead connection ends by its own timeout, and not because the client left the connection.
            with pytest.raises(gradus.DeadlineExceededError):
                await waiting

    asyncio.run(ask())
    assert proxy.made == 2


def test_threads_that_heard_nothing_share_the_next_connection(proxy: Hole) -> None:
    with Client(proxy.address) as client:
        assert client.list_environments()
        proxy.fall_silent()

        def ask() -> None:
            with pytest.raises(gradus.DeadlineExceededError):
                client.list_environments(timeout=1)
            assert client.list_environments(timeout=20)

        threads = [threading.Thread(target=ask) for _ in range(8)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
    assert proxy.made == 2


def test_a_ping_finds_it_within_the_call(proxy: Hole, task: Task) -> None:
    with Client(proxy.address, options=SOON, timeout=30) as client:
        assert client.list_environments()
        proxy.fall_silent()
        assert client.list_environments()
        proxy.fall_silent()
        assert [each.result().rewards for each in client.stream_steps([task.group(wrong())])] == [[0.1]]

    async def ask() -> None:
        async with aio.Client(proxy.address, options=SOON, timeout=30) as client:
            assert await client.list_environments()
            proxy.fall_silent()
            assert await client.list_environments()

    asyncio.run(ask())


def test_by_default_a_ping_finds_it_in_half_of_a_calls_time() -> None:
    from gradus._channels import _KEEPALIVE_MS, _KEEPALIVE_PATIENCE_MS  # noqa: PLC0415

    with Client("localhost:1") as client:
        assert client._core.settings.timeout / 2 >= (_KEEPALIVE_MS + _KEEPALIVE_PATIENCE_MS) / 1000


def test_the_server_takes_any_number_of_pings(proxy: Hole, run_id: str) -> None:
    often = [("grpc.keepalive_time_ms", 50), ("grpc.keepalive_timeout_ms", 5000)]
    with Client(proxy.address, options=often) as client:
        run = client.run(run_id)
        run.create([gradus.arm("countdown")], gradus.bandit(), num_generations=2, prompts_per_update=1, feedback_lag=0)
        watching = run.watch()
        next(watching)
        run.next_batch()
        # For some seconds a connection with a stream and a call gets pings only.
        with pytest.raises(gradus.StalledError):
            run.next_batch(timeout=3)
        run.pause()
        while not next(watching).paused:
            pass
    assert proxy.made == 1


def test_a_stream_goes_on_with_what_came_after_the_silence(proxy: Hole, task: Task) -> None:
    with Client(proxy.address) as client:
        results: list[StreamResult] = []
        silent = threading.Event()

        def groups() -> Iterator[CompletionGroup]:
            yield task.group(wrong())
            silent.wait()
            for _ in range(4):
                yield task.group(wrong(2))

        for result in client.stream_steps(groups(), window=2, timeout=4):
            results.append(result)
            if len(results) == 1:
                proxy.fall_silent()
                silent.set()
    lost = [each for each in results if isinstance(each.error, gradus.DeadlineExceededError)]
    assert 1 <= len(lost) <= 2
    assert [each.result().rewards for each in results if each not in lost] == [[0.1], *[[0.1, 0.1]] * (4 - len(lost))]
    assert proxy.made == 2


def test_the_same_for_a_stream_of_asyncio(proxy: Hole, task: Task) -> None:
    async def ask() -> list[StreamResult]:
        async with aio.Client(proxy.address) as client:
            assert len([each async for each in client.stream_steps([task.group(wrong())])]) == 1
            proxy.fall_silent()
            groups = [task.group(wrong(2)) for _ in range(4)]
            return [each async for each in client.stream_steps(groups, window=2, timeout=4)]

    results = asyncio.run(ask())
    assert len([each for each in results if each.error is None]) >= 2
    assert proxy.made == 2


def test_patience_holds_for_a_server_that_is_not_up_yet(start_server: StartServer) -> None:
    port = lasting_port()
    address = RunAddress(f"localhost:{port}", "")
    starting = threading.Timer(3, lambda: start_server(port=port))
    starting.start()
    with pytest.warns(gradus.UnavailableWarning, match=rf"no Gradus server answers at localhost:{port}.* Waiting"):
        assert address.client(patience=120).list_environments()
    starting.join()

    async def ask() -> int:
        async with address.aio_client(patience=120) as client:
            return len(await client.list_environments())

    assert asyncio.run(ask())


def test_patience_is_none_for_what_will_never_be_a_server(server: Server) -> None:
    with pytest.raises(gradus.UnavailableError, match="is the HTTP port"):
        RunAddress(server.http, "").client(patience=120).list_environments()
