"""Test gradus.skyrl in SkyRL-gym itself, by episodes of several steps and of one."""

from __future__ import annotations

from typing import Any

import pytest
import skyrl_gym
from mastermind import Code, next_code
from real_server import Server

import gradus
from gradus import Client
from gradus.skyrl import row_of, rows

skyrl_gym.register("gradus", "gradus.skyrl:TextEnv")


def env_of(row: dict[str, Any], **config: Any) -> Any:
    return skyrl_gym.make("gradus", env_config=config, extras=row)


def played(env: Any, write: Any) -> tuple[list[float], list[str]]:
    """Plays an episode. Returns its rewards and replies."""
    rewards: list[float] = []
    guesses: list[Code] = []
    replies: list[str] = []
    while True:
        guesses.append(next_code(guesses, replies))
        output = env.step(write(list(guesses[-1])))
        rewards.append(output["reward"])
        if output["done"]:
            assert output["observations"] == []
            return rewards, replies
        replies.append(output["observations"][0]["content"])


@pytest.mark.parametrize("tools", [True, False])
def test_an_episode_has_its_return_at_its_end(server: Server, tools: bool) -> None:
    chosen: dict[str, Any] = {"tools": ["guess"]} if tools else {}
    spec = gradus.task_spec("games/mastermind", level="easy", **chosen)
    made = rows(f"gradus://{server.address}", spec, range(3))
    assert [each["env_class"] for each in made] == ["gradus"] * 3
    for row in made:
        env = env_of(row, text_tools="hermes" if tools else None)
        prompt, _ = env.init(row["prompt"])
        assert prompt == row["prompt"]
        call = '<tool_call>{{"name": "guess", "arguments": {{"code": {}}}}}</tool_call>'
        rewards, replies = played(env, (call if tools else "<think></think><answer>{}</answer>").format)
        assert rewards[:-1] == [0.0] * len(replies)
        assert sum(rewards) > 0.5
        assert env.get_metrics() == {"solved": float(rewards[-1] == 1.0), "calls": float(len(rewards))}
        with pytest.raises(ValueError, match="the episode is over"):
            env.step("")


def test_samples_of_a_run_get_their_indices(server: Server, client: Client, run_id: str) -> None:
    run = client.run(run_id)
    arms = [gradus.arm("games/mastermind", "easy")]
    run.create(arms, gradus.mixture(), num_generations=2, prompts_per_update=1, length=1)
    row = row_of(run.next_batch(0, count=1).tasks[0], f"gradus://{server.address}")
    rewards = [played(env_of(row), "<think></think><answer>{}</answer>".format)[0][-1] for _ in range(2)]
    (group,) = run.groups(0)
    assert [(each.sample_index, each.reward) for each in group.samples] == list(enumerate(rewards))


def test_a_task_without_turns_is_one_step(server: Server) -> None:
    (row,) = rows(f"gradus://{server.address}", gradus.task_spec("countdown", level="T0"), [7])
    output = env_of(row).step("<think>so</think><answer>82 - (97 - 44)</answer>")
    assert (output["reward"], output["done"], output["metadata"]["verdict"]) == (1.0, True, "feasible")


def test_a_row_of_another_data_set_is_refused() -> None:
    with pytest.raises(ValueError, match=r"gradus\.skyrl\.rows"):
        env_of({})
