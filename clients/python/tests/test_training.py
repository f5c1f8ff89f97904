"""Test the common parts of the trainers' adapters without a trainer: addresses, scoring, places in groups."""

from __future__ import annotations

import asyncio
import multiprocessing
import re
import warnings
from dataclasses import replace
from typing import Any

import pytest
from conftest import Mortal, Server, wrong
from training_run import create

import gradus
from gradus import Client, FeedbackWarning, GroupOutcome, NoReward, Outcome, Run
from gradus._client_core import ClientCore
from gradus._io import BlockingIo
from gradus._op import Op, run_each
from gradus.training import (
    RunAddress,
    SampleIndices,
    Scorer,
    TaskReference,
    UnscoredError,
    WrittenCompletion,
    index_in_group,
    reward_or,
    score_all,
    score_one,
)
from gradus.training._scorer import _scorers
from gradus.training._scoring import score


@pytest.fixture
def run(client: Client, run_id: str) -> Run:
    return create(client.run(run_id))


@pytest.fixture
def address(server: Server, run: Run) -> RunAddress:
    return RunAddress(server.address, run.run_id)


def references(run: Run, address: RunAddress) -> list[TaskReference]:
    size = run.get().config.num_generations
    return [TaskReference.of(each, address, size) for each in run.next_batch().tasks]


@pytest.mark.parametrize(
    "address",
    [
        RunAddress("localhost:50051", "my-run"),
        RunAddress("localhost:50051", "my-run", "eval/countdown/T1", tls=True),
        RunAddress("[::1]:50051", "50% of it/really?#1"),
        RunAddress("localhost:50051", ""),
    ],
)
def test_an_address_is_read_as_it_is_written(address: RunAddress) -> None:
    assert RunAddress.parse(str(address)) == address


def test_an_address_looks_as_the_guide_says() -> None:
    assert str(RunAddress("localhost:50051", "my-run", "eval/countdown/T1")) == (
        "gradus://localhost:50051/my-run#eval/countdown/T1"
    )
    for text in ("localhost:50051/my-run", "http://localhost:8080/my-run", "rows.parquet", ""):
        with pytest.raises(ValueError, match="want gradus://HOST:PORT/RUN_ID"):
            RunAddress.parse(text)
    with pytest.raises(ValueError, match="names a server and no run"):
        RunAddress.of_run("gradus://localhost:50051")


def test_the_token_is_the_environments_and_not_in_the_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRADUS_TOKEN", "secret")
    address = RunAddress("localhost:50051", "my-run")
    assert address.client()._core.settings.token == "secret"
    assert "secret" not in str(address)


def test_completions_that_come_together_go_out_together(run: Run, address: RunAddress) -> None:
    tasks = references(run, address)

    async def score() -> int:
        scorer = Scorer(address)
        written = [WrittenCompletion(task, text) for task in tasks for text in wrong(8)]
        outcomes = await asyncio.gather(*map(scorer.score, written))
        assert [each.reward for each in outcomes] == [0.1] * 32
        assert sorted(each.sample_index for each in outcomes) == sorted([*range(8)] * 4)
        return scorer.messages_sent

    assert asyncio.run(score()) == 1
    assert run.get().state.batches_closed == 1


def test_no_more_is_held_than_is_allowed(run: Run, address: RunAddress) -> None:
    tasks = references(run, address)

    async def score() -> int:
        scorer = Scorer(address, window=0.001, samples_max=5, messages_max=2, held_max=10)
        written = [WrittenCompletion(task, text, index) for task in tasks for index, text in enumerate(wrong(8))]
        waiting = [asyncio.ensure_future(scorer.score(each)) for each in written]
        while not all(each.done() for each in waiting):
            assert scorer.held <= 10
            await asyncio.sleep(0)
        assert [(await each).feedback for each in waiting] == ["recorded"] * 32
        return scorer.messages_sent

    assert asyncio.run(score()) >= 7


def test_each_event_loop_has_a_scorer_of_its_own(run: Run, address: RunAddress) -> None:
    task = references(run, address)[0]
    for index in range(2):
        assert asyncio.run(score_one(WrittenCompletion(task, "none", index))).feedback == "recorded"


def test_scorers_of_closed_event_loops_are_let_go(run: Run, address: RunAddress) -> None:
    task = references(run, address)[0]
    for index in range(4):
        asyncio.run(score_one(WrittenCompletion(task, "none", index)))
    assert sum(loop.is_closed() for loop in _scorers) <= 1


def _score_in_a_process(server: str, task: TaskReference, texts: list[str]) -> list[str | None]:
    client = Client(server, on_feedback="ignore")
    return [
        each.feedback for each in score_all(client, SampleIndices(), [WrittenCompletion(task, text) for text in texts])
    ]


@pytest.mark.parametrize("alike", [True, False])
def test_processes_that_know_no_index_fill_a_group_together(run: Run, server: Server, alike: bool) -> None:
    """Four processes score two completions each of one group of eight, independently."""
    address = RunAddress(server.address, run.run_id)
    task = references(run, address)[0]
    texts = [[f"no answer {0 if alike else (process, each)}" for each in range(2)] for process in range(4)]
    with multiprocessing.get_context("spawn").Pool(4) as pool:
        statuses = pool.starmap(_score_in_a_process, [(server.address, task, each) for each in texts])
    (group,) = run.groups([task.group_id])
    assert group.closed
    assert group.missing == ()
    assert statuses == [["recorded"] * 2] * 4


def test_a_completion_too_many_is_scored_and_said_to_be_one(run: Run, address: RunAddress) -> None:
    task = references(run, address)[0]

    async def score() -> None:
        scorer = Scorer(address)
        await asyncio.gather(*(scorer.score(WrittenCompletion(task, f"no answer {index}")) for index in range(8)))
        with pytest.warns(gradus.FeedbackWarning, match="conflicting_completion"):
            assert (await scorer.score(WrittenCompletion(task, wrong()[0]))).reward == 0.1

    asyncio.run(score())


def test_what_has_no_reward_is_none_and_never_zero(client: Client, run: Run, address: RunAddress) -> None:
    task = references(run, address)[0]
    broken = TaskReference(task.address, "AAAA", task.group_id, task.run_id, task.num_generations)
    (outcome,) = score_all(client, SampleIndices(), [WrittenCompletion(broken, "none", 0)])
    assert outcome.reward is None
    assert reward_or(outcome, -1.0) == -1.0
    with pytest.raises(UnscoredError, match="invalid_task_id"):
        reward_or(outcome, None)


class Busy(ClientCore):
    """A client whose server asks `times` times to send every other sample again."""

    times = 0

    def batch_step(self, groups: Any, **options: Any) -> Op[list[GroupOutcome]]:
        outcomes = yield from super().batch_step(groups, **options)
        if self.times == 0:
            return outcomes
        self.times -= 1
        return [replace(each, outcomes=tuple(map(_asked_again, each.outcomes))) for each in outcomes]


def _asked_again(outcome: Outcome) -> Outcome:
    missing = NoReward("overloaded", "busy", 0.01)
    return outcome if outcome.sample_index % 2 == 0 else replace(outcome, reward=None, no_reward=missing)


@pytest.mark.parametrize(("times", "rewards"), [(3, [0.1] * 4), (10**9, [0.1, None, 0.1, None])])
def test_what_is_asked_for_again_is_sent_again_as_long_as_there_is_patience(
    client: Client, run: Run, address: RunAddress, times: int, rewards: list[float | None]
) -> None:
    task = references(run, address)[0]
    busy = Busy(BlockingIo, client._core.settings)
    busy.times = times
    written = [WrittenCompletion(task, text, index) for index, text in enumerate(wrong(4))]
    outcomes = dict(run_each(score(busy, SampleIndices(), written, patience=0.5)))
    assert [outcomes[index].reward for index in range(4)] == rewards
    # The run does not wait for a group that was given up, but for the rest of another group.
    (group,) = run.groups([task.group_id])
    assert (group.closed, len(group.missing)) == (None in rewards, 4)


@pytest.fixture
def evaluated(client: Client, run_id: str, server: Server) -> TaskReference:
    """A task of an evaluation arm, with four samples."""
    arm = gradus.evaluation_arm("countdown", "T1", tasks=2, num_generations=4)
    run = create(client.run(run_id), evaluation_arms=[arm])
    (arm,) = run.get().config.evaluation_arms
    return TaskReference.of(run.next_evaluation(arm.arm_id, 0).tasks[0], RunAddress(server.address, run_id), 4)


def test_processes_fill_a_group_of_an_evaluation_together_too(client: Client, evaluated: TaskReference) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FeedbackWarning)
        outcomes = [
            score_all(client, SampleIndices(), [WrittenCompletion(evaluated, f"process {process}")])[0]
            for process in range(4)
        ]
    assert [each.feedback for each in outcomes] == ["recorded"] * 4
    assert sorted(each.sample_index for each in outcomes) == list(range(4))


def test_an_evaluations_sample_that_is_given_up_harms_no_other(client: Client, evaluated: TaskReference) -> None:
    busy = Busy(BlockingIo, client._core.settings)
    busy.times = 10**9
    written = [WrittenCompletion(evaluated, text, index) for index, text in enumerate(wrong(4))]
    outcomes = dict(run_each(score(busy, SampleIndices(), written, patience=0.5)))
    assert [outcomes[index].reward for index in range(4)] == [0.1, None, 0.1, None]


def test_a_group_that_lies_on_two_ranks_has_each_sample_once() -> None:
    row = [(group, sample) for group in "abc" for sample in range(4)]
    placed = [(row[rank * 6 + place][0], index_in_group(place, rank, 6, 4)) for rank in (0, 1) for place in range(6)]
    assert placed == row


def test_a_message_holds_no_more_than_the_server_takes(client: Client) -> None:
    """Groups of 40 MB in all, which no message may hold."""
    task = client.reset("countdown", level="T0", seed=1)
    written = [
        WrittenCompletion(TaskReference("", task.task_id, f"group-{index}", "", 1), "x" * 200_000, 0)
        for index in range(200)
    ]
    outcomes = score_all(client, SampleIndices(), written)
    assert {each.verdict for each in outcomes} == {"malformed"}
    assert len(outcomes) == 200


def test_a_server_that_is_restarted_is_waited_for(mortal: Mortal, run_id: str) -> None:
    run = create(Client(mortal.server.address).run(run_id))
    address = RunAddress(mortal.server.address, run_id)
    tasks = references(run, address)

    async def score_while_it_is_away() -> list[Outcome]:
        scorer = Scorer(address)
        await scorer.score(WrittenCompletion(tasks[0], "none", 0))
        mortal.server.kill()
        asked = asyncio.gather(*(scorer.score(WrittenCompletion(task, wrong()[0], 1)) for task in tasks))
        await asyncio.to_thread(mortal.again)
        return await asked

    assert [each.feedback for each in asyncio.run(score_while_it_is_away())] == ["recorded"] * 4


def test_half_a_surrogate_pair_keeps_no_sample_from_its_score(run: Run, address: RunAddress) -> None:
    task = references(run, address)[0]

    async def ask(index: int, text: str) -> Outcome:
        return await score_one(WrittenCompletion(task, text, index))

    async def asked() -> list[Outcome]:
        texts = [wrong()[0], "half of \ud83d"]
        return await asyncio.gather(*(ask(i, text) for i, text in enumerate(texts)))

    with pytest.warns(gradus.SurrogateWarning, match=f"text of sample 1 of group {re.escape(task.group_id)}: char"):
        outcomes = asyncio.run(asked())
    assert [(each.reward, each.feedback) for each in outcomes] == [(0.1, "recorded"), (0.0, "recorded")]


def test_an_error_reaches_everyone_who_asked() -> None:
    address = RunAddress("localhost:1", "none")
    task = TaskReference(str(address), "a", "b", "none", 2)

    async def score() -> list[object]:
        scorer = Scorer(address, patience=1)
        asked = [scorer.score(WrittenCompletion(task, "none", index)) for index in range(2)]
        return await asyncio.gather(*asked, return_exceptions=True)

    assert [type(each) for each in asyncio.run(score())] == [gradus.UnavailableError] * 2
