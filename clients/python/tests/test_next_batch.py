"""Test NextBatch: lost replies, kept positions, and stalls that say why."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import Iterator

import pytest
from conftest import Server, wrong
from lossy import Lossy, lossy

import gradus
from gradus import Client, NotFoundError, Run, _notices, aio

ARMS = [gradus.arm("countdown", "T0"), gradus.arm("countdown", "T1")]
LENGTH = 12


@pytest.fixture
def proxy(server: Server) -> Iterator[Lossy]:
    with lossy(server.address) as proxy:
        yield proxy


def create(run: Run, feedback_lag: int = 1) -> Run:
    run.create(
        ARMS, gradus.mixture(), num_generations=1, prompts_per_update=4, length=LENGTH, feedback_lag=feedback_lag
    )
    return run


def test_lost_replies_cost_no_tasks(client: Client, proxy: Lossy, run_id: str) -> None:
    create(client.run(run_id))
    proxy.lose = {"NextBatch": 2, "GetRun": 1}
    with Client(proxy.address) as behind:
        run = behind.run(run_id)
        cursors: list[int] = []
        while True:
            batch = run.next_batch()
            cursors += [task.cursor for task in batch.tasks]
            for task in batch.tasks:
                run.step_group(task, wrong())
            proxy.lose["NextBatch"] = 1
            if batch.done:
                break
    assert cursors == list(range(LENGTH))
    assert proxy.made.count("NextBatch") > len(cursors) / 4
    assert client.run(run_id).get().state.cursor == LENGTH


def test_a_call_that_fails_for_good_leaves_the_position(client: Client, proxy: Lossy, run_id: str) -> None:
    create(client.run(run_id))
    proxy.lose = {"NextBatch": 1}
    with Client(proxy.address) as behind:
        run = behind.run(run_id)
        with pytest.raises(gradus.UnavailableError, match="the connection broke"):
            run.next_batch(retries=0)
        assert [task.cursor for task in run.next_batch().tasks] == [0, 1, 2, 3]
        assert run.cursor == 4


def test_lost_replies_cost_no_tasks_of_asyncio(client: Client, proxy: Lossy, run_id: str) -> None:
    create(client.run(run_id))
    proxy.lose = {"NextBatch": 3, "BatchStep": 1}

    async def read() -> list[int]:
        async with aio.Client(proxy.address) as behind:
            run = behind.run(run_id)
            cursors: list[int] = []
            async for batch in run.batches():
                cursors += [task.cursor for task in batch.tasks]
                for task in batch.tasks:
                    await run.step_group(task, wrong())
            # A lost reply makes the same completion come twice, which is no reason to warn.
            assert run.feedback_counts == {"recorded": LENGTH - 1, "duplicate": 1}
            return cursors

    assert asyncio.run(read()) == list(range(LENGTH))


def test_the_position_is_the_handles_own(client: Client, run_id: str) -> None:
    run = create(client.run(run_id), feedback_lag=2)
    assert run.cursor is None
    assert run.next_batch().tasks[0].cursor == 0
    assert run.next_batch(0).tasks[0].cursor == 0
    assert run.next_batch(count=2).next_cursor == run.cursor == 6
    other = client.run(run_id)
    assert other.next_batch().tasks[0].cursor == 0
    other.cursor = 6
    assert other.next_batch().tasks == run.next_batch().tasks
    assert next(run.batches(0)).next_cursor == run.cursor == 4


def test_a_state_that_is_put_back_moves_the_handle(client: Client, run_id: str) -> None:
    run = create(client.run(run_id))
    state = run.export_state()
    run.next_batch()
    run.import_state(state)
    assert run.cursor == 0


def test_a_run_that_is_deleted_and_created_again_begins_at_its_beginning(client: Client, run_id: str) -> None:
    run = create(client.run(run_id))
    for another in (run, client.run(run_id)):
        run.next_batch()
        another.delete()
        with contextlib.suppress(NotFoundError):
            run.delete()
        assert create(run).next_batch().tasks[0].cursor == 0


def test_a_time_out_of_no_time_is_refused_and_not_taken_for_none(client: Client, run_id: str) -> None:
    run = create(client.run(run_id))
    for cursor in (None, 0):
        with pytest.raises(ValueError, match="timeout: want seconds above 0; got 0"):
            run.next_batch(cursor, timeout=0)


def test_a_stall_says_of_which_groups(client: Client, run_id: str) -> None:
    run = client.run(run_id)
    run.create(ARMS, gradus.bandit(), num_generations=2, prompts_per_update=2, feedback_lag=0)
    first, second = run.next_batch().tasks
    client.step(first, wrong()[0], sample_index=1)
    words = (
        f"run {run_id!r} gave no tasks from cursor 2 on within 0.4 s: it waits for feedback of update batch 0, of "
        f"which 2 groups are open: {first.group_id} (cursor 0, arm {first.arm_id}; without samples 0); "
        f"{second.group_id} (cursor 1, arm {second.arm_id}; without samples 0, 1)."
    )
    with pytest.raises(gradus.StalledError, match=re.escape(words)) as caught:
        run.next_batch(timeout=0.4)
    assert caught.value.update_batch == 0
    assert [each.group_id for each in caught.value.open_groups] == [first.group_id, second.group_id]
    run.close_groups([first, second])
    assert [task.cursor for task in run.next_batch().tasks] == [2, 3]


def test_a_long_stall_is_warned_of_while_it_lasts(client: Client, run_id: str, monkeypatch: pytest.MonkeyPatch) -> None:
    run = client.run(run_id)
    run.create(ARMS, gradus.bandit(), num_generations=2, prompts_per_update=1, feedback_lag=0)
    run.next_batch()
    monkeypatch.setattr(_notices, "NOTICE_SECONDS", 0.0)
    with (
        pytest.warns(gradus.StallWarning, match="waits for feedback of update batch 0.*Still waiting") as warned,
        pytest.raises(gradus.StalledError),
    ):
        run.next_batch(timeout=3, wait=0.1)
    assert [each.filename for each in warned if each.category is gradus.StallWarning] == [__file__]
