"""Test the stream with the real server. test_stream_logic.py has the tests with a fake clock or peer."""

from __future__ import annotations

import asyncio
import itertools
import threading
import time
from collections.abc import AsyncIterator, Iterator

import pytest
from conftest import Mortal, Server, wrong

import gradus
from gradus import Client, CompletionGroup, StreamResult, Task, aio
from gradus._op import arun, run
from gradus.outcomes import Reward


@pytest.fixture(scope="module")
def tasks(client: Client) -> list[Task]:
    spec = gradus.task_spec("countdown", level="T0")
    return [result.result() for result in client.batch_reset(spec, range(300))]


def groups_of(tasks: list[Task]) -> Iterator[CompletionGroup]:
    """Makes groups of different sizes, so that a reply to another request is noticed."""
    for i, task in enumerate(tasks):
        yield task.group(wrong(1 + i % 7))


def check(results: list[StreamResult], tasks: list[Task]) -> None:
    assert sorted(each.group.group_id for each in results) == sorted(each.group_id for each in tasks)
    for result in results:
        outcome = result.result()
        assert outcome.group_id == result.group.group_id
        assert len(outcome.outcomes) == len(result.group.completions)


@pytest.mark.parametrize("window", [1, 8, 1000])
def test_each_group_gets_its_own_result_once(client: Client, tasks: list[Task], window: int) -> None:
    check(list(client.stream_steps(groups_of(tasks), window=window)), tasks)


def test_the_same_for_asyncio(server: Server, tasks: list[Task]) -> None:
    async def slowly() -> AsyncIterator[CompletionGroup]:
        for group in groups_of(tasks):
            await asyncio.sleep(0)
            yield group

    async def ask() -> None:
        async with aio.Client(server.address) as client:
            check([each async for each in client.stream_steps(slowly(), window=8)], tasks)
            check([each async for each in client.stream_steps(groups_of(tasks))], tasks)

    asyncio.run(ask())


def test_groups_are_read_no_further_than_the_window(client: Client, tasks: list[Task]) -> None:
    read = 0

    def counted() -> Iterator[CompletionGroup]:
        nonlocal read
        for group in groups_of(tasks):
            read += 1
            yield group

    for done, _ in enumerate(client.stream_steps(counted(), window=4)):
        assert read <= done + 1 + 4


def test_nothing_to_send_is_no_result(client: Client) -> None:
    assert list(client.stream_steps([])) == []


def test_a_refused_group_resolves_to_its_error_and_the_stream_goes_on(client: Client, task: Task) -> None:
    too_many = task.group(["?"] * 2000)
    results = list(client.stream_steps([too_many, task.group(wrong())]))
    refused, scored = sorted(results, key=lambda each: each.error is None)
    assert isinstance(refused.error, gradus.InvalidArgumentError)
    assert refused.group is too_many
    with pytest.raises(gradus.InvalidArgumentError, match="2000"):
        refused.result()
    assert scored.result().rewards == [0.1]


def test_what_the_groups_raise_is_raised(client: Client, task: Task) -> None:
    def broken() -> Iterator[CompletionGroup]:
        yield task.group(wrong())
        raise LookupError("out of completions")

    with pytest.raises(LookupError, match="out of completions"):
        list(client.stream_steps(broken()))


def test_a_stream_that_is_left_early_leaves_no_thread(client: Client, tasks: list[Task]) -> None:
    before = {*threading.enumerate()}
    stream = client.stream_steps(groups_of(tasks), window=2)
    next(stream)
    ours = [each for each in threading.enumerate() if each not in before and each.name != "channel_spin"]
    assert ours
    stream.close()  # type: ignore[attr-defined]
    for thread in ours:
        thread.join(10)
        assert not thread.is_alive(), thread


def test_groups_that_wait_for_what_is_cancelled_end_the_stream(server: Server, task: Task) -> None:
    async def groups() -> AsyncIterator[CompletionGroup]:
        yield task.group(["?"])
        written: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        written.cancel()
        yield task.group([await written])

    async def stream() -> None:
        async with aio.Client(server.address) as client:
            async for _ in client.stream_steps(groups()):
                pass

    async def ask() -> None:
        streaming = asyncio.ensure_future(stream())
        done, _ = await asyncio.wait([streaming], timeout=20)
        assert done
        assert streaming.cancelled()

    asyncio.run(ask())


@pytest.mark.parametrize("window", [1, 8, 64])
def test_a_task_that_streams_can_be_cancelled(server: Server, task: Task, window: int) -> None:
    async def ask() -> None:
        async with aio.Client(server.address) as client:
            results = 0

            async def stream() -> None:
                nonlocal results
                async for _ in client.stream_steps(itertools.repeat(task.group(["?"]), 5000), window=window):
                    results += 1

            for more in (1, 100, 300):
                streaming, results = asyncio.ensure_future(stream()), 0
                while results < more:
                    await asyncio.sleep(0)
                streaming.cancel()
                done, _ = await asyncio.wait([streaming], timeout=20)
                assert done
                assert streaming.cancelled()

    asyncio.run(ask())


def test_what_came_in_time_is_no_late_result_however_slow_the_caller(client: Client, task: Task) -> None:
    results = []
    for result in client.stream_steps((task.group(wrong()) for _ in range(6)), window=3, timeout=4):
        results.append(result)
        if len(results) == 1:
            time.sleep(4.2)
    assert [each.result().rewards for each in results] == [[0.1]] * 6


def test_a_killed_server_costs_no_result(mortal: Mortal) -> None:
    client = Client(mortal.server.address)
    spec = gradus.task_spec("countdown", level="T0")
    tasks = [result.result() for result in client.batch_reset(spec, range(60))]
    results: list[StreamResult] = []
    for result in client.stream_steps(groups_of(tasks), window=4):
        results.append(result)
        if len(results) == 20:
            mortal.server.kill()
            mortal.again()
    check(results, tasks)


def test_the_same_for_asyncio_where_the_server_drains(mortal: Mortal) -> None:
    spec = gradus.task_spec("countdown", level="T0")

    async def ask() -> None:
        async with aio.Client(mortal.server.address) as client:
            tasks = [result.result() for result in await client.batch_reset(spec, range(60))]
            results: list[StreamResult] = []
            async for result in client.stream_steps(groups_of(tasks), window=4):
                results.append(result)
                if len(results) == 20:
                    mortal.server.stop()
                    mortal.again()
            check(results, tasks)

    asyncio.run(ask())


def test_rewards_alone_are_those_of_whole_outcomes(client: Client, task: Task) -> None:
    group = task.group([*wrong(3), "no answer", "x" * 2**21])
    (whole,) = (each.result() for each in client.stream_steps([group]))
    (brief,) = run(client._core.rewards([[group]], {}))
    fields = ("sample_index", "reward", "solved", "no_reward", "feedback", "feedback_detail")
    for ours, theirs in zip(brief, whole.outcomes, strict=True):
        assert [getattr(ours, name) for name in fields] == [getattr(theirs, name) for name in fields]


def test_rewards_of_several_messages_are_in_order_in_both_worlds(server: Server, tasks: list[Task]) -> None:
    groups = list(groups_of(tasks))
    messages = [groups[:1], groups[1:200], groups[200:]]

    async def ask() -> list[tuple[Reward, ...]]:
        async with aio.Client(server.address) as client:
            return await arun(client._core.rewards(messages, {}))

    with Client(server.address) as client:
        whole = [[each.reward for each in outcome.outcomes] for outcome in client.batch_step(groups)]
        for found in (run(client._core.rewards(messages, {})), asyncio.run(ask())):
            assert [[each.reward for each in rewards] for rewards in found] == whole
