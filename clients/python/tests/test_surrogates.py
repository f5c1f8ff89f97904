"""Test that half of a surrogate pair in a completion is replaced and named, and other samples are unharmed."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable

import pytest
from conftest import Server, wrong

import gradus
from gradus import Client, SurrogateWarning, Task, aio
from gradus._texts import sendable
from gradus.training import SampleIndices, TaskReference, WrittenCompletion, score_all

RIGHT = "<think>\ud83d</think><answer>{}</answer>"


@pytest.mark.parametrize(
    ("text", "sent"),
    [
        ("plain", "plain"),
        ("ä\U0001f600", "ä\U0001f600"),
        ("a\ud83db", "a\ufffdb"),
        ("\udc80", "\ufffd"),
        ("\ude00\ud83d", "\ufffd\ufffd"),
        ("a\ud83d\ude00b", "a\U0001f600b"),
        ("\ud83d\ud83d\ude00", "\ufffd\U0001f600"),
    ],
)
@pytest.mark.filterwarnings("ignore::gradus.SurrogateWarning")
def test_lone_halves_are_replaced_and_pairs_joined(text: str, sent: str) -> None:
    assert sendable(text, "text") == sent


@pytest.fixture
def texts() -> list[str]:
    return [wrong()[0], wrong()[0].replace("none", "\ud83d"), *wrong(2)]


def test_the_samples_beside_it_are_scored_and_so_is_it(
    server: Server, client: Client, task: Task, texts: list[str]
) -> None:
    group = task.group(texts)
    reference = TaskReference.of(task, None, 4)
    written = [WrittenCompletion(reference, text, i) for i, text in enumerate(wrong(4))]
    assert [each.reward for each in score_all(client, SampleIndices(), written)] == [0.1] * 4

    async def asynchronously() -> list[float | None]:
        async with aio.Client(server.address) as asynchronous:
            streamed = [each async for each in asynchronous.stream_steps([group])]
            (batched,) = await asynchronous.batch_step([group])
            assert streamed[0].outcome is not None
            assert streamed[0].outcome.rewards == batched.rewards
            return batched.rewards

    def streamed() -> list[float | None]:
        (result,) = client.stream_steps([group])
        assert result.outcome is not None
        return result.outcome.rewards

    ways: list[Callable[[], list[float | None]]] = [
        lambda: client.batch_step(group)[0].rewards,
        lambda: [each.reward for each in client.batch_step([task.group(["x"]), group])[1].outcomes],
        streamed,
        lambda: asyncio.run(asynchronously()),
        lambda: [each.reward for each in score_all(client, SampleIndices(), _written(reference, texts))],
    ]
    for way in ways:
        with pytest.warns(SurrogateWarning, match=_named(1, task)):
            assert way() == [0.1] * 4
    with pytest.warns(SurrogateWarning, match="completion of sample 7: character 7 is half"):
        assert client.step(task, texts[1], sample_index=7).reward == 0.1


def _written(reference: TaskReference, texts: list[str]) -> list[WrittenCompletion]:
    return [WrittenCompletion(reference, text, i) for i, text in enumerate(texts)]


def _named(index: int, task: Task) -> str:
    return re.escape(
        f"text of sample {index} of group {task.group_id}: character 7 is half of a surrogate pair (U+D83D)"
    )


def test_a_submitted_completion_is_scored(client: Client, run_id: str) -> None:
    evaluation = client.evaluation(run_id)
    evaluation.create("countdown")
    pending = next(iter(evaluation.pending())).task
    with pytest.warns(SurrogateWarning, match=r"completion of sample 0 of task .*: character 0 is half"):
        (submitted,) = evaluation.submit([(pending, 0, "\ud83d")])
    assert submitted.error is None


def test_other_mistakes_are_still_named(client: Client, task: Task) -> None:
    with pytest.raises(ValueError, match="sample_index: want a whole number in the range"):
        client.batch_step(task.group(["\udc80"], first_index=-1))
    broken = gradus.CompletionGroup("\udc80", "g", (gradus.Completion(0, "\udc80"),))
    with pytest.raises(ValueError, match="task_id: want a str, without lone surrogates"):
        client.batch_step(broken)
