"""Tokens of completions: how they are sent, and what a run sums of them."""

from __future__ import annotations

import asyncio

import pytest
from conftest import Server
from mastermind import next_guess

import gradus
from gradus import Client, EpisodePosition, PolicyTurn, SurrogateWarning, Task, aio
from gradus.lengths import CompletionLengths
from gradus.rollouts import Generated
from gradus.tasks import Completion
from gradus.training._place import Place

COUNTDOWN = gradus.arm("countdown", "T0", arm_id="T0")


def lengths_of(client: Client, run_id: str) -> CompletionLengths | None:
    return client.run(run_id).get().state.arms[0].lengths


def started(client: Client, run_id: str, arm: gradus.Arm = COUNTDOWN, num_generations: int = 2) -> Task:
    run = client.run(run_id)
    run.create(arms=[arm], policy=gradus.mixture(), num_generations=num_generations, prompts_per_update=1)
    return run.next_batch().tasks[0]


def test_a_group_has_the_tokens_of_its_texts(task: Task) -> None:
    group = task.group(["one", "two"], tokens=[3, 0])
    assert [each.tokens for each in group.completions] == [3, 0]
    assert [each.HasField("tokens") for each in group.to_proto().completions] == [True, True]
    assert [each.HasField("tokens") for each in task.group(["one"]).to_proto().completions] == [False]
    with pytest.raises(ValueError, match="tokens: want one number for each text, 2; got 1"):
        task.group(["one", "two"], tokens=[3])
    with pytest.raises((TypeError, ValueError), match="tokens: want"):
        task.group(["one"], tokens=[-1]).to_proto()


def test_a_run_sums_tokens_and_counts_characters_without_them(client: Client, run_id: str) -> None:
    task = started(client, run_id)
    client.step(task, "four", sample_index=0, tokens=12)
    client.batch_step(task.group(["three"], first_index=1))
    lengths = lengths_of(client, run_id)
    assert lengths == CompletionLengths(12, 1, 5, 1)
    assert lengths is not None
    assert (lengths.unit, lengths.total, lengths.mean) == ("tokens", 12, 12)
    history = client.run(run_id).history()
    assert [each.batch.lengths for each in history if each.batch is not None] == [lengths]


def test_lengths_are_in_characters_if_no_sample_has_tokens() -> None:
    lengths = CompletionLengths(0, 0, 9, 2)
    assert (lengths.unit, lengths.total, lengths.mean) == ("characters", 9, 4.5)
    assert CompletionLengths(0, 0, 0, 0).mean is None


def test_too_many_tokens_are_refused(client: Client, run_id: str) -> None:
    task = started(client, run_id)
    with pytest.raises(gradus.InvalidArgumentError, match="tokens: must be from 0 to 16777216"):
        client.step(task, "one", tokens=2**24 + 1)


GAME = gradus.arm("games/mastermind", "easy", tools=["guess"])


def guess_of(position: EpisodePosition, tokens: int | None) -> PolicyTurn:
    return PolicyTurn.of_message(next_guess(position), tokens=tokens)


def calls_before(position: EpisodePosition) -> int:
    return sum(each["role"] == "assistant" for each in position.messages)


def test_an_episode_has_the_tokens_of_all_its_completions(client: Client, run_id: str) -> None:
    task = started(client, run_id, GAME)

    def generate(positions: list[EpisodePosition]) -> list[Generated]:
        return [guess_of(each, 10 + calls_before(each)) for each in positions]

    played = client.rollout(task, generate, samples=range(2))
    calls = [each.outcome.calls or 0 for each in played]
    expected = sum(10 + call for count in calls for call in range(count))
    assert lengths_of(client, run_id) == CompletionLengths(expected, 2, 0, 0)


def test_an_episode_with_a_completion_of_unknown_tokens_counts_in_characters(
    server: Server, client: Client, run_id: str
) -> None:
    task = started(client, run_id, GAME, 1)

    async def generate(position: EpisodePosition) -> Generated:
        return guess_of(position, None if calls_before(position) == 0 else 5)

    async def play() -> None:
        async with aio.Client(server.address) as asynchronous:
            await asynchronous.rollout(task, generate)

    asyncio.run(play())
    lengths = lengths_of(client, run_id)
    assert lengths is not None
    assert (lengths.token_samples, lengths.character_samples) == (0, 1)


def test_a_turn_without_words_adds_no_tokens() -> None:
    assert PolicyTurn(end=True).after(7).tokens == 7
    assert PolicyTurn("three", tokens=3).after(7).tokens == 10
    assert PolicyTurn("unknown").after(7).tokens is None
    assert PolicyTurn("three", tokens=3).after(None).tokens is None


def test_the_position_of_an_episode_keeps_its_tokens(client: Client, run_id: str) -> None:
    task = started(client, run_id, GAME, 1)
    place = Place(task, 0, 1, task.task_id)
    position = EpisodePosition(task, 0, task.prompt, task.calls_max)
    following, outcome = place.after(client, guess_of(position, 4), 10)
    while following is not None:
        following, outcome = Place.from_text(following.to_text()).after(client, guess_of(position, 4), 10)
    assert lengths_of(client, run_id) == CompletionLengths(4 * (outcome.calls or 0), 1, 0, 0)
    text = Place(task, 0, 1, task.task_id).to_text().replace(', "tokens": 0', "")
    assert Place.from_text(text).tokens is None


def test_a_sample_keeps_its_tokens_over_a_repaired_surrogate(task: Task) -> None:
    group = task.group(["half \ud800"], tokens=[3])
    with pytest.warns(SurrogateWarning):
        assert [each.tokens for each in group.to_proto().completions] == [3]


def test_a_completion_is_a_value() -> None:
    assert Completion(0, "a", tokens=1) != Completion(0, "a")
    assert Completion(0, "a", None, None, 1) == Completion(0, "a", tokens=1)
