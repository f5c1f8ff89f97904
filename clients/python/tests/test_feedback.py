"""Test the effect of scores on runs: counted, warned of once, or raised; and missing rewards."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Callable

import pytest
from conftest import Server, wrong

import gradus
from gradus import Client, CompletionGroup, Outcome, Task, aio
from gradus._feedback import FeedbackLog
from gradus.v1 import outcome_pb2

ARMS = [gradus.arm("countdown", "T0")]


def create(client: Client, run_id: str) -> tuple[Task, ...]:
    run = client.run(run_id)
    run.create(ARMS, gradus.mixture(), num_generations=2, prompts_per_update=2)
    return run.next_batch().tasks


def test_what_a_run_does_not_record_is_warned_of_once(server: Server, run_id: str) -> None:
    with Client(server.address) as client:
        first, second = create(client, run_id)
        client.batch_step(first.group(wrong(2)))
        with pytest.warns(gradus.FeedbackWarning, match=f"run '{run_id}' did not learn from sample 0") as warned:
            client.batch_step(first.group(["another", "another"]))
            client.step(first, "another", sample_index=1)
            list(client.stream_steps([second.group(wrong(2)), first.group(["another"])]))
        assert [each.filename for each in warned] == [__file__]
        counts = {"recorded": 4, "conflicting_completion": 4}
        assert client.run(run_id).feedback_counts == client.feedback_counts == counts
        # Completions sent by ids alone are scored, though they do not count for a run.
        client.step(second.task_id, wrong()[0], group_id=second.group_id)
        client.batch_step(CompletionGroup(second.task_id, second.group_id, second.group(wrong()).completions))
        assert client.run(run_id).feedback_counts == counts
        assert client.feedback_counts == counts | {"duplicate": 2}


@pytest.mark.parametrize(
    "score",
    [
        lambda client, task: client.step(task, "another"),
        lambda client, task: client.batch_step(task.group(["another"])),
        lambda client, task: [each.result() for each in client.stream_steps([task.group(["another"])])],
        lambda client, task: client.run(task.run_id).step_group(task, ["another"]),
    ],
)
def test_it_is_raised_where_that_is_asked_for(
    server: Server, run_id: str, score: Callable[[Client, Task], object]
) -> None:
    with Client(server.address, on_feedback="raise") as client:
        first, _ = create(client, run_id)
        client.batch_step(first.group(wrong(2)))
        client.batch_step(first.group(wrong(2)))
        with pytest.raises(gradus.FeedbackError, match="another completion of this sample") as caught:
            score(client, first)
        assert caught.value.status == "conflicting_completion"
    with Client(server.address, on_feedback="ignore") as client:
        score(client, first)
        assert client.feedback_counts == {"conflicting_completion": 1}


def test_asyncio_counts_and_raises_too(server: Server, client: Client, run_id: str) -> None:
    first, _ = create(client, run_id)
    client.batch_step(first.group(wrong(2)))

    async def ask() -> None:
        async with aio.Client(server.address, on_feedback="raise") as asynchronous:
            async for result in asynchronous.stream_steps([first.group(["another", *wrong()])]):
                assert isinstance(result.error, gradus.FeedbackError)
            assert asynchronous.run(run_id).feedback_counts == {"conflicting_completion": 1, "duplicate": 1}

    asyncio.run(ask())


def test_a_choice_that_there_is_not_is_refused() -> None:
    with pytest.raises(ValueError, match='want "warn", "raise" or "ignore"'):
        Client("a:1", on_feedback="shout")  # type: ignore[arg-type]


def outcome(**given: object) -> Outcome:
    return Outcome.from_proto(outcome_pb2.Outcome(**given))  # type: ignore[arg-type]


REASONS = [reason for name, reason in outcome_pb2.NoRewardReason.items() if reason != 0]


@pytest.mark.parametrize("reason", REASONS)
def test_a_failure_that_is_not_the_policys_has_no_reward_rather_than_0(reason: int) -> None:
    failed = outcome(no_reward={"reason": reason, "detail": "because", "retry_delay_ms": 250})
    assert failed.reward is None
    assert failed.solved is None
    assert failed.verdict is None
    assert failed.no_reward is not None
    assert (failed.no_reward.detail, failed.no_reward.retry_delay) == ("because", 0.25)


def test_a_failure_of_the_outside_names_what_failed() -> None:
    failed = outcome(
        no_reward={"reason": outcome_pb2.NO_REWARD_REASON_RESOURCE_UNAVAILABLE, "resource": "dictionary"}
    ).no_reward
    assert failed is not None
    assert (failed.reason, failed.resource) == ("resource_unavailable", "dictionary")


def test_a_sample_that_is_to_be_sent_again_is_no_reason_to_warn() -> None:
    log = FeedbackLog("warn")
    again = outcome(
        no_reward={"reason": outcome_pb2.NO_REWARD_REASON_OVERLOADED, "retry_delay_ms": 250},
        feedback={"status": outcome_pb2.FEEDBACK_STATUS_NOT_RECORDED},
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert log.note("run", [again]) is None
    assert log.counts("run") == {"not_recorded": 1}
    closed = outcome(score={}, feedback={"status": outcome_pb2.FEEDBACK_STATUS_NOT_RECORDED, "detail": "closed"})
    with pytest.warns(gradus.FeedbackWarning, match="run 'run' did not learn from sample 0: not_recorded: closed"):
        log.note("run", [closed])
