"""Test episodes: a policy finds the code by the replies alone, and no failure of the server loses a sample."""

from __future__ import annotations

import asyncio
import itertools
import json
import re
from collections import Counter
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, Server, StartServer
from lossy import lossy
from mastermind import next_guess

import gradus
from gradus import Client, EpisodePosition, PolicyTurn, Run, Task, aio
from gradus.rollouts import Generated
from gradus.v1 import environment_pb2
from gradus.v1.outcome_pb2 import NoRewardReason

MASTERMIND: dict[str, Any] = {"level": "easy", "tools": ["guess"]}


@pytest.fixture
def game(client: Client) -> Task:
    return client.reset("games/mastermind", seed=3, **MASTERMIND)


def guesses(positions: list[EpisodePosition]) -> list[Generated]:
    return [next_guess(each) for each in positions]


def test_a_task_spec_names_its_calls_and_tools(client: Client, game: Task) -> None:
    assert [each.name for each in game.tools] == ["guess"]
    assert client.reset("games/mastermind", calls=7, **MASTERMIND).calls_max == 7
    spec = gradus.task_spec("games/mastermind", calls=7, **MASTERMIND)
    assert (spec.calls, spec.tools) == (7, ("guess",))
    assert gradus.arm("games/mastermind", "easy", calls=7, tools=["guess"]).spec == spec
    evaluated = gradus.evaluation_arm("games/mastermind", "easy", tasks=4, calls=7, tools=["guess"])
    assert (evaluated.spec.calls, evaluated.spec.tools) == (7, ("guess",))
    with pytest.raises(TypeError, match="tools: want a list, each a str"):
        gradus.task_spec("games/mastermind", tools="guess")
    with pytest.raises(gradus.InvalidArgumentError, match="guess"):
        client.reset("games/mastermind", tools=["gues"])


def test_the_samples_of_a_runs_group_are_played_together(client: Client, run_id: str) -> None:
    run, task = started(client, run_id)
    asked: list[int] = []

    def generate(positions: list[EpisodePosition]) -> list[Generated]:
        asked.append(len(positions))
        # One sample runs out of tokens.
        cut = PolicyTurn("I think", finish_reason="length")
        return [cut if each.sample_index == 3 else next_guess(each) for each in positions]

    episodes = client.rollout(task, generate, range(4))
    assert asked[:2] == [4, 3]
    assert [each.sample_index for each in episodes] == [0, 1, 2, 3]
    for episode in episodes[:3]:
        calls = episode.outcome.calls
        assert episode.reward is not None and episode.reward > 0.5
        assert (episode.outcome.stop_reason, episode.outcome.feedback) == ("goal", "recorded")
        # The prompt, and a call with its reply for each guess but the last, which has none.
        assert [each["role"] for each in episode.messages] == ["user", *["assistant", "tool"] * calls][:-1]
        assert episode.written == tuple(range(1, 2 * calls, 2))
        ids = [call["id"] for at in episode.written for call in episode.messages[at]["tool_calls"]]
        replies = [each for each in episode.messages if each["role"] == "tool"]
        assert [(each["tool_call_id"], each["name"]) for each in replies] == [(each, "guess") for each in ids[:-1]]
    cut = episodes[3].outcome
    assert (cut.truncated, cut.reward, cut.solved, cut.stop_reason) == (True, 0.0, False, "truncated")
    assert run.feedback_counts == {"recorded": 4}
    (group,) = run.groups(0)
    assert [each.reward for each in group.samples] == [each.reward for each in episodes]


def test_asyncio_plays_each_sample_on_its_own(server: Server, client: Client, game: Task) -> None:
    expected = client.rollout(game, guesses, range(3))
    longest = max(each.outcome.calls for each in expected)

    async def play() -> None:
        # The first sample's policy waits until the others have made all their calls.
        others, done = asyncio.Event(), Counter[int]()

        async def generate(position: EpisodePosition) -> Generated:
            index = position.sample_index
            if index == 0:
                await asyncio.wait_for(others.wait(), 60)
            done[index] += 1
            if done[1] == done[2] == longest:
                others.set()
            return next_guess(position)

        async with aio.Client(server.address) as asynchronous:
            played = await asynchronous.rollout(game, generate, range(3))
        assert [(each.messages, each.reward) for each in played] == [(each.messages, each.reward) for each in expected]
        # None of them is a whole group, so it has no advantage.
        assert [each.outcome.rloo_advantage for each in played] == [None] * 3

    asyncio.run(play())


def test_a_failing_policy_ends_the_other_episodes(server: Server, game: Task) -> None:
    async def play() -> None:
        ended: list[int] = []

        async def generate(position: EpisodePosition) -> Generated:
            if position.sample_index == 1:
                raise ZeroDivisionError
            try:
                await asyncio.sleep(60)
            finally:
                ended.append(position.sample_index)
            return ""

        async with aio.Client(server.address) as asynchronous:
            with pytest.raises(ZeroDivisionError):
                await asynchronous.rollout(game, generate, range(3))
        assert sorted(ended) == [0, 2]

    asyncio.run(play())


def test_messages_of_parsers_are_read(client: Client, game: Task) -> None:
    first = {"name": "guess", "arguments": {"code": [1, 1, 1]}}
    calls: list[Generated] = [
        {"role": "assistant", "content": None, "tool_calls": [{"id": "abc", "type": "function", "function": first}]},
        {"role": "assistant", "content": "", "tool_calls": [first]},
        {"role": "assistant", "tool_calls": [first | {"arguments": '{"code": [1, 1, 1]}'}]},
        PolicyTurn('<tool_call>{"name": "guess", "arguments": {"code": [1, 1, 1]}}</tool_call>', text_tools="hermes"),
    ]
    seen = [messages_after(client, game, each)[-1] for each in calls]
    assert len({each["content"] for each in seen}) == 1
    assert "of 3 in place" in seen[0]["content"]
    assert [each.get("tool_call_id") for each in seen] == ["abc", None, None, "call00000"]


@pytest.mark.parametrize(
    "arguments", [json.loads('{"code": [1e400, 1, 1]}'), None, [], "{", '{"code": "\ud800"}', {"code": float("nan")}]
)
def test_bad_arguments_get_a_reply_and_count(client: Client, game: Task, arguments: Any) -> None:
    call = {"id": "a", "function": {"name": "guess", "arguments": arguments}}
    with pytest.warns() if "\ud800" in str(arguments) else nullcontext():
        reply = messages_after(client, game, {"role": "assistant", "content": "", "tool_calls": [call]})[-1]
    assert reply["role"] == "tool"
    assert "in place" not in reply["content"]


def test_thoughts_of_a_parser_come_before_the_text() -> None:
    turn = PolicyTurn.of_message({"content": "<answer>1</answer>", "reasoning_content": "so"}, finish_reason="stop")
    assert (turn.text, turn.finish_reason) == ("<think>so</think><answer>1</answer>", "stop")
    assert turn.to_message() == {"content": "<answer>1</answer>", "reasoning_content": "so"}


def test_a_policy_may_end_its_episode(client: Client, game: Task) -> None:
    (episode,) = client.rollout(game, lambda _: [PolicyTurn(end=True)])
    assert (episode.outcome.stop_reason, episode.outcome.calls) == ("ended", 0)


def test_a_task_without_turns_takes_one_completion(client: Client, task: Task) -> None:
    (episode,) = client.rollout(task, lambda positions: [f"{positions[0].calls_left}"])
    assert (episode.outcome.verdict, episode.written) == ("malformed", (1,))
    assert episode.messages == [*task.prompt, {"role": "assistant", "content": "0"}]


def test_tools_are_in_the_form_of_chat_templates(game: Task) -> None:
    (tool,) = EpisodePosition(game, 0, game.prompt, 1).tools
    assert (tool["type"], tool["function"]["name"]) == ("function", "guess")
    assert tool["function"]["parameters"]["required"] == ["code"]


@pytest.mark.parametrize(
    ("generated", "words"),
    [
        ([], "want 1 completions, one per position; got 0"),
        ([7], "generate: want a PolicyTurn, a chat message or a str"),
    ],
)
def test_other_completions_are_refused(client: Client, game: Task, generated: Any, words: str) -> None:
    with pytest.raises((TypeError, ValueError), match=words):
        client.rollout(game, lambda _: generated)


def test_a_server_that_fails_every_fifth_call_loses_no_sample(server: Server, client: Client, run_id: str) -> None:
    run, task = started(client, run_id)

    async def play(address: str) -> list[gradus.PlayedEpisode]:
        async def generate(position: EpisodePosition) -> Generated:
            return next_guess(position)

        async with aio.Client(address) as asynchronous:
            return await asynchronous.rollout(task, generate, range(4))

    with lossy(server.address) as proxy:
        proxy.lose_every = 5
        episodes = asyncio.run(play(proxy.address))
        assert proxy.made.count("BatchStep") > sum(each.outcome.calls for each in episodes)
    assert all(each.reward is not None for each in episodes)
    assert {each.outcome.feedback for each in episodes} <= {"recorded", "duplicate"}
    (group,) = run.groups(0)
    assert [each.reward for each in group.samples] == [each.reward for each in episodes]


def test_a_sample_without_a_reward_is_sent_again_with_the_same_id(server: Server, game: Task) -> None:
    with lossy(server.address) as proxy, Client(proxy.address) as behind:
        proxy.change = sometimes_without_reward()
        episodes = behind.rollout(game, guesses, range(4))
    assert all(each.reward is not None and each.outcome.stop_reason == "goal" for each in episodes)


def test_a_sample_that_stays_without_a_reward_has_its_reason(server: Server, game: Task) -> None:
    with lossy(server.address) as proxy, Client(proxy.address) as behind:
        proxy.change = sometimes_without_reward(every=1)
        (episode,) = behind.rollout(game, guesses, retries=1)
        assert proxy.made == ["BatchStep"] * 2
        assert episode.reward is None
        assert episode.outcome.no_reward is not None and episode.outcome.no_reward.reason == "overloaded"
        # A delay beyond the timeout is not waited for.
        proxy.change = sometimes_without_reward(every=1, delay_ms=10**8)
        (episode,) = behind.rollout(game, guesses)
        assert episode.outcome.no_reward is not None


def started(client: Client, run_id: str) -> tuple[Run, Task]:
    run = client.run(run_id)
    run.create(
        [gradus.arm("games/mastermind", "easy", tools=["guess"])],
        gradus.mixture(),
        num_generations=4,
        prompts_per_update=1,
    )
    return run, run.next_batch(0, count=1).tasks[0]


def test_the_guides_snippet_runs(server: Server, capsys: pytest.CaptureFixture[str]) -> None:
    (snippet,) = re.findall(r"```python\n(.*?)```", (ROOT / "docs/guides/turns.md").read_text(), re.DOTALL)
    exec(compile(snippet.replace("localhost:50051", server.address), "turns.md", "exec"), {})
    assert capsys.readouterr().out.count("0.0 budget") == 8


def messages_after(client: Client, task: Task, generated: Generated) -> list[Any]:
    """Return the conversation after one completion."""
    seen: list[Any] = []

    def generate(positions: list[EpisodePosition]) -> list[Generated]:
        seen[:] = positions[0].messages
        return [generated if len(seen) == len(task.prompt) else PolicyTurn(end=True)]

    client.rollout(task, generate)
    return seen


def sometimes_without_reward(every: int = 3, delay_ms: int = 5) -> Callable[[str, bytes], bytes]:
    """Returns a change of replies: every n-th outcome says that the server was too busy."""
    counter = itertools.count(1)

    def change(name: str, reply: bytes) -> bytes:
        read = environment_pb2.BatchStepResponse.FromString(reply)
        for outcome in read.groups[0].outcomes:
            if next(counter) % every == 0:
                outcome.no_reward.reason = NoRewardReason.NO_REWARD_REASON_OVERLOADED
                outcome.no_reward.retry_delay_ms = delay_ms
        return read.SerializeToString()

    return change


def test_conversations_are_kept_and_evaluated(start_server: StartServer, tmp_path: Path, run_id: str) -> None:
    part = {"environment": "games/mastermind", "tasks": 1, "split": "eval", "calls": 3, **MASTERMIND}
    suite = tmp_path / "suite.json"
    suite.write_text(json.dumps({"id": "games", "version": 1, "parts": [part]}))
    address = start_server("--keep-samples", "8", "--suite-file", str(suite)).address
    with Client(address) as client:
        run, task = started(client, run_id)
        thoughts = "long " * 30_000

        def generate(positions: list[EpisodePosition]) -> list[Generated]:
            calls = [PolicyTurn.of_message(next_guess(each)).tool_calls for each in positions]
            return [PolicyTurn(thoughts, each) for each in calls]

        [episode, *_] = client.rollout(task, generate, range(4))
        [sample, *_] = sorted(run.samples(), key=lambda each: each.sample_index)
        assert sample.completion == thoughts
        assert [each.name for each in sample.tool_calls] == ["guess"]
        between = episode.messages[len(task.prompt) : -1]
        # The first messages of a long conversation are left out, so that the server takes the rest.
        assert 0 < len(sample.transcript) < len(between)
        assert sample.transcript == between[len(between) - len(sample.transcript) :]
        assert suite_parts(client) == [(3, ("guess",))]
        evaluation = client.evaluation(run_id)
        evaluation.create("games")
        [pending] = evaluation.pending()
        given: Any = pending.task
        for _ in range(3):
            turn = next_guess(EpisodePosition(pending.task, 0, pending.task.prompt, 3))
            [submitted] = evaluation.submit([(given, 0, turn)])
            if submitted.outcome is None or submitted.outcome.turn is None:
                break
            assert submitted.status is None
            assert submitted.outcome.turn.rewards == (submitted.outcome.turn.turn_reward,)
            given = submitted.outcome.turn.task_id
        assert submitted.status == "recorded"
        [stored] = evaluation.samples()
        assert stored.outcome.stop_reason in ("budget", "goal")
        assert [each.name for each in stored.tool_calls] == ["guess"]


def suite_parts(client: Client) -> list[tuple[int, tuple[str, ...]]]:
    return [
        (part.calls, part.tools) for each in client.list_suites() if each.suite_id == "games" for part in each.parts
    ]
