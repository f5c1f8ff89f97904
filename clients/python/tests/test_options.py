"""Options: misspelled ones, and time-outs and retries of clients and of calls."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from conftest import Server
from lossy import Lossy, lossy

import gradus
from gradus import Client, Task, aio


def loose(function: Any) -> Any:
    return function


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda c, t: c.reset("countdown", seed=1, levl="T2"), "reset() has no option 'levl'; did you mean 'level'?"),
        (
            lambda c, t: c.run("r").create([], gradus.mixture(), num_generations=1, feedbck_lag=0),
            "create() has no option 'feedbck_lag'; did you mean 'feedback_lag'?",
        ),
        (
            lambda c, t: c.run("r").create([], gradus.mixture(), num_generation=1, prompts_per_update=1),
            "create() has no option 'num_generation'; did you mean 'num_generations'?",
        ),
        (lambda c, t: c.run("r").batches(coutn=1), "batches() has no option 'coutn'; did you mean 'count'?"),
        (
            lambda c, t: c.run("r").update_shape(polcy=1),
            "update_shape() has no option 'polcy'; did you mean 'policy'",
        ),
        (lambda c, t: c.stream_steps([], timeot=1), "stream_steps() has no option 'timeot'; did you mean 'timeout'?"),
        (
            lambda c, t: c.evaluation("e").create("s", modle="m"),
            "create() has no option 'modle'; did you mean 'model'?",
        ),
        (lambda c, t: c.step(t, "?", index=1), "step() has no option 'index'; did you mean 'sample_index'?"),
        (lambda c, t: c.get_environment("a", colour=1), "there are environment, retries, timeout, version"),
        (
            lambda c, t: loose(gradus.task_spec)("a", sorce="real"),
            "no option 'sorce'; did you mean 'source'?",
        ),
        (lambda c, t: loose(gradus.arm)("a", weigth=1), "arm() has no option 'weigth'; did you mean 'weight'?"),
        (lambda c, t: loose(gradus.Client)("a:1", tokn=""), "Client() has no option 'tokn'; did you mean 'token'?"),
        (
            lambda c, t: loose(aio.Client)("a:1", time_out=1),
            "no option 'time_out'; did you mean 'timeout'?",
        ),
    ],
)
def test_a_misspelled_option_is_refused_with_the_nearest(
    client: Client, task: Task, ask: Callable[[Any, Task], object], words: str
) -> None:
    made: list[Any] = [client]
    if "Client" not in words:
        made.append(aio.Client(client._core.settings.target))
    for each in made:
        with pytest.raises(TypeError) as caught:
            ask(each, task)
        assert words in str(caught.value)


@contextmanager
def silent() -> Iterator[str]:
    """A port that takes connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield f"localhost:{listening.getsockname()[1]}"


def test_time_outs_are_the_clients_and_the_calls(server: Server) -> None:
    with silent() as address, Client(address, timeout=0.2) as hurried, pytest.raises(gradus.GradusError):
        hurried.list_environments()
    with Client(server.address, timeout=1e-4) as hurried:
        assert hurried.list_environments(timeout=30)
    with silent() as address, Client(address) as client, pytest.raises(gradus.GradusError):
        client.list_environments(timeout=0.2)


def test_retries_are_the_clients_and_the_calls(server: Server) -> None:
    with lossy(server.address) as proxy, Client(proxy.address, retries=1) as client:
        proxy.lose = {"ListRuns": 1}
        assert client.list_runs() is not None
        assert proxy.made == ["ListRuns"] * 2
        proxy.lose = {"ListRuns": 2}
        with pytest.raises(gradus.UnavailableError):
            client.list_runs()
        proxy.lose = {"ListRuns": 6}
        assert client.list_runs(retries=6) is not None
        proxy.lose = {"ListRuns": 1}
        with pytest.raises(gradus.UnavailableError):
            client.list_runs(retries=0)


def test_what_does_more_when_made_twice_is_not_made_again(server: Server, client: Client, run_id: str) -> None:
    arms = [gradus.arm("countdown", level, arm_id=level) for level in ("T0", "T1")]
    policy = gradus.staged(gradus.stage({"T0": 1}), gradus.stage({"T1": 1}), gradus.stage({"T0": 1}))
    client.run(run_id).create(arms, policy, num_generations=1, prompts_per_update=1)
    state = client.run(run_id).export_state()
    calls: dict[str, Callable[[gradus.Run], object]] = {
        "Advance": lambda run: run.advance(retries=3),
        "UpdateShape": lambda run: run.update_shape(add_arms=[gradus.arm("countdown", "T2")], retries=3),
        "ImportRun": lambda run: run.import_state(state, retries=3),
        "DeleteRun": lambda run: run.delete(retries=3),
    }
    with lossy(server.address) as proxy, Client(proxy.address) as behind:
        for name, call in calls.items():
            proxy.lose = {name: 1}
            with pytest.raises(gradus.UnavailableError, match="the connection broke"):
                call(behind.run(run_id))
        assert proxy.made == list(calls)


def test_the_same_for_asyncio(server: Server) -> None:
    async def ask(proxy: Lossy) -> None:
        async with aio.Client(proxy.address, retries=0) as client:
            proxy.lose = {"ListRuns": 2}
            await client.list_runs(retries=2)
            proxy.lose = {"ListRuns": 1}
            with pytest.raises(gradus.UnavailableError):
                await client.list_runs()

    with lossy(server.address) as proxy:
        asyncio.run(ask(proxy))
        assert proxy.made == ["ListRuns"] * 4
