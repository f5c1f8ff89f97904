"""OpenEnv's own clients against a server that asks for a token: each plays 100 tasks, and takes no failure for a 0."""

from __future__ import annotations

import asyncio
import json
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import mastermind
import pytest
from openenv.core import CallToolAction
from openenv.core.generic_client import GenericEnvClient
from openenv.core.mcp_client import MCPToolClient
from real_server import ROOT, TOKEN, Server, StartServer

from gradus import Client, Task

TASKS = 100
SECONDS_MAX = 120
"""Longest that mounting may take: a guard against hanging and nothing else."""


def with_token(server: Server, token: str = TOKEN) -> str:
    return f"http://any:{token}@{server.http}"


@pytest.fixture(scope="session")
def client(guarded: Server) -> Iterator[Client]:
    with Client(guarded.address, token=TOKEN) as client:
        yield client


def completion(task: Task, index: int) -> str:
    """Returns a tour, a sum, or no answer."""
    tour = list(range(int(task.metadata.get("cities", 1))))
    return f"<think>so</think><answer>{tour if index % 3 else '1 + 1'}</answer>" if index % 4 else "I do not know."


@pytest.mark.parametrize(("environment", "level"), [("np/tsp", "easy"), ("countdown", "T0")])
def test_the_generic_client_plays_tasks_of_the_task_api(
    guarded: Server, client: Client, environment: str, level: str
) -> None:
    address = with_token(guarded)
    assert environment in httpx.get(f"{address}/list_environments").json()
    splits = [each["name"] for each in httpx.get(f"{address}/{environment}/splits").json()]
    assert splits[:2] == ["train", "eval"]
    assert f"{level}:eval" in splits
    asked = {"split": f"{level}:eval", "start": 0, "stop": TASKS}
    tasks = httpx.post(f"{address}/{environment}/task_range", json=asked).json()["tasks"]
    assert len(tasks) == TASKS
    rewards = set()
    with GenericEnvClient(address).sync() as env:
        for index, each in enumerate(tasks):
            shown = env.reset(**each)
            task = client.reset(environment, level=level, split="eval", seed=each["seed"])
            assert shown.observation == {"prompt": task.prompt[0]["content"]}
            assert shown.metadata["instance_hash"] == task.instance_hash
            text = completion(task, index)
            stepped = env.step({"completion": text})
            assert stepped.done
            assert stepped.reward == client.step(task, text).reward
            rewards.add(stepped.reward)
    assert len(rewards) > 1


async def guessed(env: MCPToolClient, seed: int, *, by_step: bool) -> float:
    """Plays one game, and returns its reward. The calls go over /mcp, or as steps over the socket."""
    await env.reset(environment="games/mastermind", level="easy", seed=seed)
    guesses: list[mastermind.Code] = []
    replies: list[str] = []
    while True:
        guesses.append(mastermind.next_code(guesses, replies))
        code = list(guesses[-1])
        if by_step:
            stepped = await env.step(CallToolAction(tool_name="guess", arguments={"code": code}))
            if stepped.done:
                return float(stepped.reward)
            replies.append(stepped.observation.result)
        else:
            called = await env.call_tool("guess", code=code)
            if called["done"]:
                return float(called["reward"])
            replies.append(called["reply"])


def test_the_tool_client_plays_games_over_mcp(guarded: Server, client: Client) -> None:
    async def play() -> list[float]:
        async with MCPToolClient(base_url=with_token(guarded)) as env:
            rewards = [await guessed(env, seed, by_step=seed % 2 == 0) for seed in range(TASKS)]
            tools = await env.list_tools()
            assert [(tool.name, list(tool.input_schema["properties"])) for tool in tools] == [("guess", ["code"])]
            return rewards

    def generate(positions: Any) -> list[dict[str, Any]]:
        return [mastermind.next_guess(position) for position in positions]

    rewards = asyncio.run(play())
    for seed, reward in enumerate(rewards):
        task = client.reset("games/mastermind", level="easy", seed=seed, tools=["guess"])
        (episode,) = client.rollout(task, generate, samples=[0])
        assert reward == episode.reward
    assert len(set(rewards)) > 1


@pytest.mark.parametrize("path", ["", "/np/tsp"])
def test_the_server_passes_openenvs_validation(guarded: Server, path: str) -> None:
    command = [sys.executable, "-m", "openenv.cli", "validate", "--url", with_token(guarded) + path]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("PASS  ") == 6


def test_the_token_may_come_in_a_header(guarded: Server) -> None:
    headers = {"Authorization": f"Bearer {TOKEN}"}
    with GenericEnvClient(f"http://{guarded.http}", headers=headers).sync() as env:
        assert env.reset(environment="countdown", level="T0", seed=1).observation["prompt"]


def test_a_wrong_token_is_refused(guarded: Server) -> None:
    address = with_token(guarded, "another")
    with pytest.raises(ConnectionError, match="401"), GenericEnvClient(address).sync():
        pass
    with pytest.raises(httpx.HTTPStatusError, match="401"):
        asyncio.run(MCPToolClient(base_url=address).connect())


def test_a_failure_of_the_environment_is_an_error_of_each_client(start_server: StartServer) -> None:
    mounted = ROOT / "test/support/mounted/guess.py"
    server = start_server("--python", sys.executable, "--python", str(mounted), "--mount-workers", "1")
    address = f"http://{server.http}"
    # While the environment is being mounted, the server says that it is not healthy.
    deadline = time.monotonic() + SECONDS_MAX
    while httpx.get(f"{address}/health").json() != {"status": "healthy"}:
        assert time.monotonic() < deadline
        time.sleep(0.1)

    async def play() -> None:
        async with MCPToolClient(base_url=address) as env:
            await env.reset(environment="mine/guess", seed=1)
            with pytest.raises(RuntimeError, match="there is no reward"):
                await env.call_tool("guess", number=666)
            # The episode goes on.
            assert not (await env.call_tool("note", text="hm"))["done"]
            with pytest.raises(RuntimeError, match=r"there is no reward.*EXECUTION_ERROR"):
                await env.step(CallToolAction(tool_name="guess", arguments={"number": 666}))

    asyncio.run(play())
    with GenericEnvClient(address).sync() as env:
        env.reset(environment="mine/guess", seed=1, calls=1)
        with pytest.raises(RuntimeError, match=r"there is no reward.*EXECUTION_ERROR"):
            env.step({"completion": "<think>hm</think><answer>666</answer>"})


def test_an_overload_is_an_error_of_each_client(start_server: StartServer, tmp_path: Path) -> None:
    tokens = tmp_path / "tokens.json"
    tokens.write_text(json.dumps([{"name": "slow", "role": "trainer", "token": TOKEN, "max_calls_per_second": 0.01}]))
    tokens.chmod(0o600)
    address = with_token(start_server("--tokens-file", str(tokens)))
    with GenericEnvClient(address).sync() as env:
        env.reset(environment="countdown", level="T0", seed=1)
        with pytest.raises(RuntimeError, match="CAPACITY_REACHED"):
            env.step({"completion": "none"})
    with pytest.raises(RuntimeError, match=r"more than 0\.01 calls a second"):
        asyncio.run(MCPToolClient(base_url=address).connect())


def test_a_restart_is_an_error_of_each_client(start_server: StartServer) -> None:
    server = start_server()
    address = f"http://{server.http}"
    generic = GenericEnvClient(address).sync()
    generic.connect()
    generic.reset(environment="countdown", level="T0", seed=1)

    async def play() -> None:
        async with MCPToolClient(base_url=address) as env:
            await env.reset(environment="games/mastermind", level="easy", seed=1)
            server.kill()
            start_server("--http-port", server.http.rpartition(":")[2])
            with pytest.raises(RuntimeError, match="no such session"):
                await env.call_tool("guess", code=[1, 1, 2])
            # The client connects again, and the server does not know its session.
            with pytest.raises(ConnectionError, match="404"):
                await env.step(CallToolAction(tool_name="guess", arguments={"code": [1, 1, 2]}))

    asyncio.run(play())
    with pytest.raises(RuntimeError, match="send a reset first"):
        generic.step({"completion": "none"})
    generic.close()


def test_sessions_share_nothing(guarded: Server) -> None:
    seeds = random.Random(1).sample(range(1000), 8)

    async def play(seed: int) -> str:
        async with MCPToolClient(base_url=with_token(guarded)) as env:
            shown = await env.reset(environment="games/maze", level="easy", seed=seed)
            return str(shown.observation.prompt)

    async def all_at_once() -> list[str]:
        return await asyncio.gather(*[play(seed) for seed in seeds + seeds])

    prompts = asyncio.run(all_at_once())
    assert prompts[:8] == prompts[8:]
    assert len(set(prompts)) > 1
