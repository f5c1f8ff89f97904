"""OpenReward's own client, unmodified, at Gradus's server."""

from __future__ import annotations

import itertools
import json
import threading
import time
from typing import Any

import aiohttp
import pytest
from conftest import Connect
from openreward.api._session.http import AuthenticationError
from openreward.api.errors import ToolCallError
from real_server import TOKEN, WITHOUT_SANDBOX, Server, StartServer, lasting_port, launch

import gradus

SINGLE = [("np/tsp", "easy", 34), ("countdown", "T0", 33)]
GAMES = 33


@pytest.fixture
def gradus_client(guarded: Server) -> Any:
    with gradus.Client(guarded.address, token=TOKEN) as client:
        yield client


@pytest.mark.parametrize(("name", "level", "count"), SINGLE)
def test_tasks_earn_the_rewards_of_steps(
    connect: Connect, guarded: Server, gradus_client: gradus.Client, name: str, level: str, count: int
) -> None:
    environment = connect(guarded).environments.get(name, variant=level)
    rewards = set()
    for index, task in enumerate(environment.get_task_range("train", 0, count)):
        wanted = gradus_client.reset(name, level=level, seed=index, thinking="stripped")
        answer = answers(gradus_client, wanted, index)
        with environment.session(task=task) as session:
            blocks = session.get_prompt()
            assert blocks[0].text == "\n\n".join(each["content"] for each in wanted.prompt)
            assert [each.name for each in session.list_tools()] == ["submit_answer"]
            output = session.call_tool("submit_answer", {"answer": answer})
        assert output.finished
        stepped = gradus_client.step(wanted, f"<answer>{answer}</answer>")
        assert output.reward == stepped.reward
        rewards.add(output.reward)
    assert len(rewards) > 1


def answers(client: gradus.Client, task: gradus.Task, index: int) -> str:
    """Returns a right answer for even indices, and a wrong one for odd ones."""
    return client.solve(task).answer if index % 2 == 0 else "[0, 0]"


def test_games_are_played_by_their_tools(connect: Connect, guarded: Server, gradus_client: gradus.Client) -> None:
    environment = connect(guarded).environments.get("games/mastermind", variant="easy")
    rewards = set()
    for seed in range(GAMES):
        wanted = gradus_client.reset("games/mastermind", level="easy", seed=seed, tools=["guess"], thinking="stripped")
        guesses = itertools.cycle([[colour, other, 1] for colour in (1, 2, 3, 4) for other in (1, 2, 3, 4)])
        made: list[list[int]] = []

        def generate(positions: list[Any]) -> list[Any]:
            made.append(next(guesses))
            call = {"id": "", "function": {"name": "guess", "arguments": json.dumps({"code": made[-1]})}}
            return [{"role": "assistant", "content": "", "tool_calls": [call]} for _ in positions]

        (played,) = gradus_client.rollout(wanted, generate, samples=range(1))
        with environment.session(split="train", index=seed) as session:
            assert [each.name for each in session.list_tools()] == ["guess", "submit_answer"]
            outputs = [session.call_tool("guess", {"code": guess}) for guess in made]
        assert [each.finished for each in outputs] == [*[False] * (len(made) - 1), True]
        assert [each.reward for each in outputs] == [*[None] * (len(made) - 1), played.reward]
        replies = [each["content"] for each in played.messages if each["role"] == "tool"]
        assert [each.blocks[0].text for each in outputs[:-1]] == replies
        rewards.add(played.reward)
    assert len(rewards) > 1


def test_tasks_are_counted_and_given_but_not_listed(connect: Connect, guarded: Server) -> None:
    environment = connect(guarded).environments.get("np/tsp")
    assert environment.list_splits() == ["train", "eval", "bench"]
    assert environment.num_tasks("train") == 1_000_000
    assert [each.task_spec["seed"] for each in environment.get_task_range("eval", -2)] == [999_998, 999_999]
    with pytest.raises(aiohttp.ClientResponseError, match="501"):
        environment.list_tasks("train")


def test_a_wrong_token_and_a_wrong_call_are_raised(connect: Connect, guarded: Server) -> None:
    with pytest.raises(AuthenticationError):
        connect(guarded, "not-the-token-of-the-server").environments.get("np/tsp").list_splits()
    environment = connect(guarded).environments.get("countdown", variant="T0")
    with environment.session(split="train", index=1) as session, pytest.raises(ToolCallError, match="submit_answer"):
        session.call_tool("guess", {})


def test_a_completion_that_has_no_reward_is_raised(connect: Connect, guarded: Server) -> None:
    environment = connect(guarded).environments.get("countdown", variant="T0")
    with environment.session(split="train", index=1) as session:
        with pytest.raises(aiohttp.ClientResponseError, match="too_large"):
            session.call_tool("submit_answer", {"answer": "x" * 300_000})
        assert session.call_tool("submit_answer", {"answer": "1"}).finished
