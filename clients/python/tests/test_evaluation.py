from __future__ import annotations

import asyncio
import time
from contextlib import ExitStack, suppress

import pytest
from conftest import Server, wrong

import gradus
from gradus import Client, aio

TASKS = 500


def test_suites(client: Client) -> None:
    countdown = next(suite for suite in client.list_suites() if suite.suite_id == "countdown")
    assert countdown.tasks == TASKS
    assert [part.level for part in countdown.parts] == ["T0", "T1", "T2", "T3", "OOD"]


def test_an_evaluation_goes_on_where_it_stopped(client: Client, run_id: str) -> None:
    evaluation = client.evaluation(run_id)
    created = evaluation.create("countdown", samples_per_task=2, model="a model")
    assert (created.samples_total, created.suite_version) == (2 * TASKS, 1)
    tasks = evaluation.pending(page_size=3)
    first, second = next(tasks), next(tasks)
    assert first.sample_indices == (0, 1)
    submitted = evaluation.submit([(first.task, i, wrong()[0]) for i in (0, 1)] + [(second.task.task_id, 1, "none")])
    assert [each.status for each in submitted] == ["recorded"] * 3
    assert [each.outcome and each.outcome.reward for each in submitted] == [0.1, 0.1, 0]
    assert next(evaluation.pending()).sample_indices == (0,)
    assert (
        evaluation.get().samples_scored
        == evaluation.create("countdown", samples_per_task=2, model="a model").samples_scored
        == 3
    )
    samples = list(evaluation.samples(page_size=2))
    assert [(each.sample_index, each.completion, each.part) for each in samples] == [
        (0, wrong()[0], "countdown T0"),
        (1, wrong()[0], "countdown T0"),
        (1, "none", "countdown T0"),
    ]
    row = evaluation.report().overall
    assert (row.samples, row.tasks) == (3, 2)
    assert row.figures["mean_score"] == pytest.approx(0.05)


def test_what_is_wrong_harms_no_other(client: Client, run_id: str) -> None:
    evaluation = client.evaluation(run_id)
    evaluation.create("countdown")
    task = next(evaluation.pending()).task
    [beyond, foreign, right, again] = evaluation.submit(
        [(task, 1, "a"), ("no such task", 0, "a"), (task, 0, "a"), (task, 0, "b")]
    )
    assert isinstance(beyond.error, gradus.InvalidArgumentError)
    assert isinstance(foreign.error, gradus.InvalidArgumentError)
    assert (right.status, again.status) == ("recorded", "conflicting_completion")
    with pytest.raises(gradus.AlreadyExistsError, match="samples_per_task"):
        evaluation.create("countdown", samples_per_task=4)
    with pytest.raises(gradus.NotFoundError, match="did you mean 'countdown'"):
        client.evaluation(f"{run_id}-other").create("countdwn")


def test_what_was_cut_off_counts_as_truncated(client: Client, run_id: str) -> None:
    evaluation = client.evaluation(run_id)
    evaluation.create("countdown")
    pending = next(iter(evaluation.pending()))
    [submitted] = evaluation.submit([(pending.task, 0, "<think>a</think><answer>1", "length")])
    assert submitted.outcome is not None
    assert submitted.outcome.truncated
    assert next(iter(evaluation.samples())).outcome.truncated
    assert evaluation.report().overall.figures["truncated_rate"] == 1


def test_asyncio(server: Server, run_id: str) -> None:
    async def main() -> None:
        async with aio.Client(server.address) as client:
            assert "countdown" in {suite.suite_id for suite in await client.list_suites()}
            evaluation = client.evaluation(run_id)
            await evaluation.create("countdown", answer_format="boxed")
            async for pending in evaluation.pending():
                [submitted] = await evaluation.submit([(pending.task, 0, "\\boxed{1 + 1}")])
                assert submitted.outcome is not None
                assert submitted.outcome.verdict == "infeasible"
                break
            assert (await evaluation.get()).samples_scored == 1
            assert [sample.outcome.reward async for sample in evaluation.samples()] == [0.1]
            assert (await evaluation.report()).evaluation.samples_scored == 1

    asyncio.run(main())


def test_one_holds_it_at_a_time(client: Client, server: Server, run_id: str) -> None:
    evaluation = client.evaluation(run_id)
    evaluation.create("countdown")
    other = Client(server.address).evaluation(run_id)
    with evaluation.hold():
        assert next(other.pending()).sample_indices == (0,)
        with pytest.raises(gradus.FailedPreconditionError, match="another"), other.hold():
            pytest.fail("two hold it")
    with pytest.raises(KeyError), until_free(other):
        raise KeyError
    with until_free(evaluation):
        pass


def until_free(evaluation: gradus.Evaluation, tries: int = 100) -> ExitStack:
    """Holds the evaluation, after the server has noticed that the former holder released it."""
    stack = ExitStack()
    for _ in range(tries):
        with suppress(gradus.FailedPreconditionError):
            stack.enter_context(evaluation.hold())
            return stack
        time.sleep(0.05)
    pytest.fail("it is never let go")


def test_what_does_not_exist_is_not_held(client: Client, run_id: str) -> None:
    with pytest.raises(gradus.NotFoundError), client.evaluation(run_id).hold():
        pytest.fail("it is held")


def test_asyncio_holds_it_too(server: Server, run_id: str) -> None:
    async def main() -> None:
        async with aio.Client(server.address) as client:
            evaluation = client.evaluation(run_id)
            await evaluation.create("countdown")
            async with evaluation.hold():
                with pytest.raises(gradus.FailedPreconditionError):
                    async with client.evaluation(run_id).hold():
                        pytest.fail("two hold it")

    asyncio.run(main())
