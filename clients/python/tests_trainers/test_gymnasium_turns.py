"""Test that gradus.gymnasium plays episodes of several steps, and makes snapshots of them as texts."""

from __future__ import annotations

import json
import re
import sys
import warnings
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest
from gymnasium.utils.env_checker import check_env
from mastermind import Code, next_code
from real_server import ROOT, Server, launch

import gradus
from gradus import Client
from gradus.gymnasium import TextEnv, WrittenText


def made(server: Server, **options: Any) -> TextEnv:
    address = f"gradus://{server.address}"
    chosen = {"environment": "games/mastermind", "level": "easy", "address": address} | options
    env: Any = gym.make("gradus.gymnasium:Gradus/Text-v0", **chosen).unwrapped
    return env


def answer(code: Code) -> str:
    return f"<think></think><answer>{list(code)}</answer>"


def play_on(env: TextEnv, guesses: list[Code], replies: list[str]) -> tuple[float, dict[str, Any], list[str]]:
    """Plays to the end. Every step but the last must have the reward 0."""
    seen: list[str] = []
    while True:
        guesses.append(next_code(guesses, replies))
        after, reward, terminated, truncated, info = env.step(answer(guesses[-1]))
        assert not truncated
        assert after in env.observation_space
        if terminated:
            assert after == ""
            return reward, info, seen
        assert (reward, info["messages"][0]["content"]) == (0.0, after)
        replies.append(after)
        seen.append(after)


def test_an_environment_of_several_steps_passes_check_env(server: Server) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        check_env(made(server))


def test_a_snapshot_is_a_text_from_which_any_environment_goes_on(server: Server) -> None:
    env = made(server, render_mode="ansi")
    env.reset(seed=4)
    first, *_, info = env.step(answer((1, 1, 2)))
    assert info["calls_left"] == 9
    assert env.render().endswith(first)
    snapshot = env.snapshot()
    assert json.loads(snapshot)["task_id"]
    expected = play_on(env, [(1, 1, 2)], [first])
    assert (expected[0] > 0.5, expected[1]["solved"], expected[1]["stop_reason"]) == (True, True, "goal")
    for _ in range(2):
        other = made(server)
        other.restore(snapshot)
        assert play_on(other, [(1, 1, 2)], [first]) == expected
    with pytest.raises(gym.error.ResetNeeded):
        env.step("")
    with pytest.raises(gym.error.ResetNeeded):
        env.snapshot()
    with pytest.raises(ValueError, match="the text is no snapshot of an episode"):
        env.restore("{}")


def test_a_policy_ends_or_is_cut(server: Server) -> None:
    env = made(server)
    for action, reason, truncated in (
        (WrittenText("", end=True), "ended", False),
        (WrittenText("", "length"), "truncated", True),
    ):
        env.reset(seed=1)
        _, reward, terminated, was_truncated, info = env.step(action)
        assert (reward, terminated, was_truncated, info["stop_reason"]) == (0.0, True, truncated, reason)


def test_calls_in_texts_are_read(server: Server) -> None:
    env = made(server, tools=["guess"], text_tools="hermes")
    env.reset(seed=1)
    reply, *_, info = env.step('<tool_call>{"name": "guess", "arguments": {"code": [1, 1, 1]}}</tool_call>')
    assert "of 3 in place" in reply
    assert info["messages"][0]["role"] == "tool"


def test_a_run_is_played_to_its_end(server: Server, client: Client, run_id: str) -> None:
    run = client.run(run_id)
    arms = [gradus.arm("games/mastermind", "easy")]
    run.create(arms, gradus.mixture(), num_generations=2, prompts_per_update=1, length=2)
    env = TextEnv(address=f"gradus://{server.address}/{run_id}")
    for _ in range(4):
        env.reset()
        reward, info, _ = play_on(env, [], [])
        assert (reward > 0.5, info["feedback"]) == (True, "recorded")
    assert run.get().state.done


def test_the_guides_game_of_gymnasium_is_mounted_and_played(tmp_path: Path) -> None:
    guide = (ROOT / "docs/guides/python-environments.md").read_text()
    (example,) = [each for each in re.findall(r"```python\n(.*?)```", guide, re.DOTALL) if "(TextGame)" in each]
    file = tmp_path / "lake.py"
    file.write_text(example)
    server = launch(tmp_path, "--python", sys.executable, "--python", str(file), "--mount-workers", "1")
    way = ["swim", "down", "down", "right", "down", "right", "right"]

    def generate(positions: Any) -> list[str]:
        made = [sum(message["role"] == "assistant" for message in each.messages) for each in positions]
        return [f"<think></think><answer>{way[number]}</answer>" for number in made]

    try:
        with Client(server.address) as client:
            task = client.reset("mine/lake", level="small", seed=1)
            assert "You are on field 0." in task.prompt[-1]["content"]
            (episode,) = client.rollout(task, generate, samples=range(1))
    finally:
        server.stop()
    replies = [each["content"] for each in episode.messages if each["role"] == "user"][1:]
    assert replies[0] == "This is no action: 'swim'."
    assert [re.findall(r"\d+", each) for each in replies[1:]] == [["4"], ["8"], ["9"], ["13"], ["14"]]
    assert (episode.reward, episode.outcome.stop_reason) == (1.0, "goal")
