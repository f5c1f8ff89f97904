"""OpenReward's own client, unmodified, at Gradus's server."""

from __future__ import annotations

import json
import urllib.request
from functools import partial
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from conftest import Connect
from openreward.api._session.http import AuthenticationError
from openreward.api.environments.types import Message, TextBlock
from openreward.api.errors import MaxRetriesError, SessionTerminatedError, ToolCallError, ToolFailed
from real_server import TOKEN, Server, StartServer, lasting_port

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
        answer = answers(guarded, wanted, index)
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


def answers(server: Server, task: gradus.Task, index: int) -> str:
    """Returns the solution for even indices, and a wrong answer for odd ones."""
    if index % 2 == 1:
        return "[0, 0]"
    body = json.dumps({"taskId": task.task_id}).encode()
    headers = {"content-type": "application/json", "authorization": f"Bearer {TOKEN}"}
    url = f"http://{server.http}/gradus.v1.EnvironmentService/SolveTask"
    with urllib.request.urlopen(urllib.request.Request(url, body, headers)) as reply:
        return str(json.load(reply)["answer"])


def guess_next(made: list[list[int]], positions: list[Any]) -> list[Any]:
    """Returns the same guess for each position, and adds it to those that were made."""
    made.append([len(made) % 4 + 1, len(made) // 4 % 4 + 1, 1])
    call = {"id": "", "function": {"name": "guess", "arguments": json.dumps({"code": made[-1]})}}
    return [{"role": "assistant", "content": "", "tool_calls": [call]} for _ in positions]


def test_games_are_played_by_their_tools(connect: Connect, guarded: Server, gradus_client: gradus.Client) -> None:
    environment = connect(guarded).environments.get("games/mastermind", variant="easy")
    rewards = set()
    for seed in range(GAMES):
        wanted = gradus_client.reset("games/mastermind", level="easy", seed=seed, tools=["guess"], thinking="stripped")
        made: list[list[int]] = []
        (played,) = gradus_client.rollout(wanted, partial(guess_next, made), samples=range(1))
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


def test_candidates_are_scored_together_and_one_without_a_reward_fails_all(
    connect: Connect, guarded: Server, gradus_client: gradus.Client
) -> None:
    def candidate(text: str) -> list[Message]:
        return [Message(role="assistant", blocks=[TextBlock(text=text)])]

    environment = connect(guarded).environments.get("countdown", variant="T0")
    wanted = gradus_client.reset("countdown", level="T0", seed=2, thinking="stripped")
    texts = [f"<answer>{answer}</answer>" for answer in ("1 + 1", answers(guarded, wanted, 0))]
    with environment.session(split="train", index=2) as session:
        assert session.supports_score_group()
        assert session.is_assistant_message_final()
        scores = session.score_group([candidate(text) for text in texts])
        assert [each.reward for each in scores] == [gradus_client.step(wanted, text).reward for text in texts]
        with pytest.raises(aiohttp.ClientResponseError, match="too_large"):
            session.score_group([candidate("1"), candidate("x" * 300_000)])
        output = session.call_terminal_tool(f"So it is {texts[1]}")
        assert (output.finished, output.reward) == (True, scores[1].reward)
        messages = session.get_messages(format="openai")
        assert messages == [{"role": each["role"], "content": each["content"]} for each in wanted.prompt]


def test_a_missing_reward_and_an_overload_are_tried_again_or_raised(
    connect: Connect, start_server: StartServer, tmp_path: Path
) -> None:
    tokens = tmp_path / "tokens.yaml"
    tokens.write_text(f"- {{ name: slow, role: operator, token: {TOKEN}, max_calls_per_second: 2 }}\n")
    tokens.chmod(0o600)
    judge = ("--judge-url", "http://127.0.0.1:9/v1", "--judge-model", "none")
    server = start_server("--tokens-file", str(tokens), *judge)
    environments = connect(server).environments
    # The client sends refused calls again, so that each task gets its reward.
    for index in range(3):
        with environments.get("countdown", variant="T0").session(split="train", index=index) as session:
            assert session.call_tool("submit_answer", {"answer": "1"}).reward is not None
    request = urllib.request.Request(f"http://{server.http}/metrics", headers={"authorization": f"Bearer {TOKEN}"})
    with urllib.request.urlopen(request) as reply:
        counted = reply.read().decode().splitlines()
    assert any("openreward/" in line and "RESOURCE_EXHAUSTED" in line for line in counted)
    # The judge does not answer.
    text = " ".join(f"Sentence {i} tells more." for i in range(60))
    writing = environments.get("writing").session(split="train", index=1)
    with writing as session, pytest.raises((MaxRetriesError, ToolFailed)):
        session.call_tool("submit_answer", {"answer": text})


def test_a_session_outlasts_its_server_if_there_is_a_store(connect: Connect, start_server: StartServer) -> None:
    port = str(lasting_port())
    flags = ("--token", TOKEN, "--http-port", port)
    first = start_server(*flags)
    environment = connect(first).environments.get("games/mastermind", variant="easy")
    with environment.session(split="train", index=4) as session:
        one = session.call_tool("guess", {"code": [1, 1, 2]})
        first.kill()
        second = start_server(*flags)
        two = session.call_tool("guess", {"code": [2, 2, 1]})
        assert two.metadata["calls_left"] == one.metadata["calls_left"] - 1
        second.kill()
        start_server(*flags, "--store", "memory")
        with pytest.raises(SessionTerminatedError):
            session.call_tool("guess", {"code": [2, 2, 1]})
