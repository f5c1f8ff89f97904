from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable

import grpc
import pytest
from conftest import TOKEN, Server, StartServer
from lossy import lossy

import gradus
from gradus import Client, GradusError, Task, aio
from gradus.errors import error_of_rpc
from gradus.v1.environment_pb2 import ListEnvironmentsRequest
from gradus.v1.environment_pb2_grpc import EnvironmentServiceStub


def test_an_unknown_environment_comes_with_the_nearest_name(client: Client) -> None:
    with pytest.raises(gradus.NotFoundError, match="did you mean 'countdown'") as caught:
        client.get_environment("countdwon")
    assert caught.value.code is grpc.StatusCode.NOT_FOUND
    assert caught.value.retry_delay is None


@pytest.mark.parametrize(
    ("ask", "kind", "words"),
    [
        (lambda c: c.reset("countdown", level="T9", seed=0), GradusError, "T9"),
        (lambda c: c.reset("countdown", level="OOD", seed=0), GradusError, "OOD"),
        (lambda c: c.run("no such run").get(), gradus.InvalidArgumentError, "run_id"),
        (lambda c: c.run("none").get(), gradus.NotFoundError, "none"),
        (lambda c: c.run("none").next_batch(), gradus.NotFoundError, "none"),
        (lambda c: next(c.run("none").watch()), gradus.NotFoundError, "none"),
        (lambda c: c.reset("countdown", seed=0, split="evil"), ValueError, "one of train, eval, bench"),
        (lambda c: c.reset("countdown", seed=-1), ValueError, "range"),
    ],
)
def test_failures_say_what_is_wrong(
    client: Client, ask: Callable[[Client], object], kind: type[Exception], words: str
) -> None:
    with pytest.raises(kind, match=words):
        ask(client)


def test_one_failure_of_a_batch_is_told_in_its_place(client: Client) -> None:
    # No expression of three ones reaches 999.
    spec = gradus.task_spec("countdown", parameters={"number_max": 1, "numbers_max": 3, "target_min": 999})
    (result,) = client.batch_reset(spec, [1])
    assert result.task is None
    assert isinstance(result.error, GradusError)
    with pytest.raises(GradusError):
        result.result()


def unused_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def test_a_server_that_is_not_there_is_named(task: Task) -> None:
    address = f"localhost:{unused_port()}"
    with pytest.raises(gradus.UnavailableError, match=f"no Gradus server answers at {address}"):
        Client(address).list_environments()
    with pytest.raises(gradus.UnavailableError, match=address):
        list(Client(address).stream_steps([task.group(["?"])]))

    async def ask() -> None:
        async with aio.Client(address) as asynchronous:
            await asynchronous.list_environments()

    with pytest.raises(gradus.UnavailableError, match=address):
        asyncio.run(ask())


def test_a_call_that_a_load_balancer_cut_off_is_made_again(server: Server) -> None:
    with lossy(server.address) as proxy:
        proxy.code = grpc.StatusCode.CANCELLED
        proxy.lose["ListEnvironments"] = 1
        assert Client(proxy.address).list_environments()
        assert proxy.made.count("ListEnvironments") == 2


def test_a_full_server_is_tried_again_when_it_says(start_server: StartServer, task: Task) -> None:
    address = start_server("--max-inflight-calls", "1").address
    client = Client(address)
    run = client.run("watched")
    run.create([gradus.arm("countdown")], gradus.mixture(), num_generations=2, prompts_per_update=1)
    watch = run.watch()
    next(watch)
    with grpc.insecure_channel(address) as channel, pytest.raises(grpc.RpcError) as caught:
        EnvironmentServiceStub(channel).ListEnvironments(ListEnvironmentsRequest())
    error = error_of_rpc(caught.value, address)
    assert isinstance(error, gradus.ResourceExhaustedError)
    assert error.retry_delay
    leave = threading.Timer(0.5, watch.close)  # type: ignore[attr-defined]
    leave.start()
    assert client.list_environments()
    leave.join()


def test_a_token_is_brought_or_asked_for(guarded: Server, task: Task) -> None:
    address = guarded.address
    assert Client(address, token=TOKEN).list_environments()
    for client in (Client(address), Client(address, token="another")):
        with pytest.raises(gradus.UnauthenticatedError):
            client.list_environments()
        with pytest.raises(gradus.UnauthenticatedError):
            list(client.stream_steps([task.group(["?"])]))
        with pytest.raises(gradus.UnauthenticatedError):
            next(client.run("any").watch())

    async def ask(token: str | None) -> list[gradus.StreamResult]:
        async with aio.Client(address, token=token) as client:
            return [each async for each in client.stream_steps([task.group(["?"])])]

    assert len(asyncio.run(ask(TOKEN))) == 1
    with pytest.raises(gradus.UnauthenticatedError):
        asyncio.run(ask(None))
