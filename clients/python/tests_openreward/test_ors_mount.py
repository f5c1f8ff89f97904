"""ORS servers of openreward's own classes, mounted, beside openreward's own client at the same server."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from openreward import OpenReward
from openreward.api.environments.types import Task
from openreward.api.errors import ToolCallError
from real_server import StartServer, lasting_port

import gradus
from gradus.serve import Action, UnavailableError
from gradus.serve._catalogue import TargetError
from gradus.serve._facts import MisshapenError
from gradus.serve._link import Host, Terms
from gradus.serve.adapters import ors
from gradus.serve.adapters._http import Asking, StatusError
from gradus.serve.adapters._ors_session import REPLY_BYTES_MAX, Output, cut, output_of, text_of

TASKS = 100
GAMES = 100
SECONDS_MAX = 600
"""Longest that an ORS server may take to start: a guard against hanging and nothing else."""
PROGRAM = Path(__file__).parent / "ors_server.py"


class OrsServer:
    """An ORS server on a port, as a process that can be killed and started again."""

    def __init__(self, *names: str) -> None:
        self.port = lasting_port()
        self._names = names
        self.start()

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def start(self) -> None:
        command = [sys.executable, str(PROGRAM), str(self.port), *self._names]
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + SECONDS_MAX
        while True:
            with contextlib.suppress(OSError), urllib.request.urlopen(f"http://{self.address}/health"):
                return
            assert time.monotonic() < deadline
            assert self._process.poll() is None
            time.sleep(0.1)

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()


StartOrs = Callable[..., OrsServer]


@pytest.fixture
def start_ors() -> Iterator[StartOrs]:
    with contextlib.ExitStack() as stack:

        def start(*names: str) -> OrsServer:
            server = OrsServer(*names)
            stack.callback(server.kill)
            return server

        yield start


@pytest.fixture
def native(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[OrsServer, str], Any]]:
    """Yields a function that makes openreward's own client of an environment of an ORS server."""
    with contextlib.ExitStack() as stack:

        def make(server: OrsServer, name: str) -> Any:
            for each in ("OPENREWARD_URL", "OPENREWARD_API_URL", "OPENREWARD_SESSION_URL"):
                monkeypatch.setenv(each, f"http://{server.address}")
            return stack.enter_context(OpenReward(api_key="none")).environments.get(name, variant=name)

        yield make


def mount(start_server: StartServer, target: str) -> gradus.Client:
    server = start_server("--python", sys.executable, "--mount-workers", "2", "--mount", target)
    return gradus.Client(server.address)


def session(environment: Any, spec: dict[str, int]) -> Any:
    return environment.session(task=Task("none", environment.variant, spec, None))


def play(environment: gradus.serve.Environment, spec: Any, calls: list[Any], state: bytes = b"") -> list[Any]:
    """Makes calls of an environment without a host, each a tool's name and arguments, or a text."""
    turns = []
    for number, call in enumerate(calls):
        tool, given, text = (*call, "") if isinstance(call, tuple) else ("", {}, call)
        turns.append(environment.advance(spec, state, Action(number, tool, given, text, 1)))
        state = turns[-1].state
    return turns


def test_answers_earn_the_rewards_of_openrewards_client(
    start_ors: StartOrs, start_server: StartServer, native: Callable[..., Any]
) -> None:
    server = start_ors("Sums")
    environment = native(server, "sums")
    rewards = []
    with mount(start_server, f"ors={server.address}") as client:
        described = client.get_environment("ors/sums")
        assert [(each.name, each.evaluation_only) for each in described.levels] == [("train", False), ("hard", True)]
        for seed in range(TASKS):
            task = client.reset("ors/sums", level="train", seed=seed)
            left, right = map(int, re.findall(r"Add (\d+) and (\d+)\.\n\nBe brief\.", task.prompt[-1]["content"])[0])
            answer = (str(left + right), str(left + right + 3), "-1", "no number")[seed % 4]
            outcome = client.step(task, f"<think>so</think><answer>{answer}</answer>")
            with session(environment, {"left": left, "right": right}) as one:
                output = one.call_terminal_tool(answer)
            assert (outcome.reward, outcome.solved) == (output.reward, output.reward == 1)
            rewards.append(output.reward)
    assert set(rewards) == {0, 0.25, 1}


def open_doors(doors: Iterator[int], positions: list[Any]) -> list[Any]:
    """Returns calls that open the next door in each position."""
    message = {"role": "assistant", "content": ""}
    arguments = [json.dumps({"door": next(doors)}) for _ in positions]
    return [
        {**message, "tool_calls": [{"id": "", "function": {"name": "open_door", "arguments": each}}]}
        for each in arguments
    ]


def spec_of(task: gradus.Task) -> dict[str, int]:
    (left,) = map(int, re.findall(r"task (\d+)", task.prompt[-1]["content"]))
    return {"left": left, "right": ((left - 1) // 7) ** 2}


def native_game(environment: Any, spec: dict[str, int]) -> tuple[list[str], float]:
    """Returns the replies to doors that are opened in order, and the sum of their rewards."""
    with session(environment, spec) as one:
        outputs = []
        for number in range(8):
            outputs.append(one.call_tool("open_door", {"door": number % 4 + 1}))
            if outputs[-1].finished:
                break
    return [each.blocks[0].text for each in outputs], sum(each.reward for each in outputs)


def doors() -> Iterator[int]:
    return iter([1, 2, 3, 4] * 2)


def test_games_earn_the_rewards_of_openrewards_client(
    start_ors: StartOrs, start_server: StartServer, native: Callable[..., Any]
) -> None:
    server = start_ors("Doors")
    environment = native(server, "doors")
    rewards = set()
    with mount(start_server, f"ors={server.address}") as client:
        for seed in range(GAMES):
            task = client.reset("ors/doors", level="train", seed=seed)
            assert [each["role"] for each in task.prompt] == ["system", "user"]
            (played,) = client.rollout(task, partial(open_doors, doors()), samples=range(1))
            replies, reward = native_game(environment, spec_of(task))
            assert played.reward == reward
            assert [each["content"] for each in played.messages if each["role"] == "tool"] == replies[:-1]
            rewards.add(reward)
    assert len(rewards) > 4


def test_a_game_goes_on_after_its_server_was_killed_and_started_again(
    start_ors: StartOrs, start_server: StartServer, native: Callable[..., Any]
) -> None:
    server = start_ors("Doors")
    with mount(start_server, f"ors={server.address}") as client:
        # Chooses one of the first tasks whose game takes several calls.
        tasks = (client.reset("ors/doors", level="train", seed=seed) for seed in range(100))
        environment = native(server, "doors")
        task, replies, reward = next(
            (task, *found) for task in tasks for found in [native_game(environment, spec_of(task))] if len(found[0]) > 4
        )
        opened = doors()
        calls = 0

        def generate(positions: list[Any]) -> list[Any]:
            nonlocal calls
            calls += 1
            if calls in (2, 4):
                # The session is lost.
                server.kill()
                server.start()
            return open_doors(opened, positions)

        (played,) = client.rollout(task, generate, samples=range(1))
        assert played.reward == reward
        assert [each["content"] for each in played.messages if each["role"] == "tool"] == replies[:-1]
        assert calls == len(replies)


def test_a_server_that_is_away_gives_no_reward_that_may_come_later(
    start_ors: StartOrs, start_server: StartServer
) -> None:
    server = start_ors("Sums", "Failing")
    with mount(start_server, f"ors={server.address}") as client:
        failing = client.step(
            client.reset("ors/failing", level="train", seed=1, thinking="stripped"), "<answer>boom</answer>"
        )
        assert failing.reward is None
        assert failing.no_reward is not None
        assert "the judge is away" in failing.no_reward.detail
        assert failing.no_reward.retry_delay is None
        task = client.reset("ors/sums", level="train", seed=1, thinking="stripped")
        server.kill()
        away = client.step(task, "<answer>1</answer>")
        assert away.reward is None
        assert away.no_reward is not None
        assert away.no_reward.retry_delay is not None
        server.start()
        assert client.step(task, "<answer>no number</answer>").reward == 0


def test_what_cannot_be_mounted_is_refused_by_name(start_ors: StartOrs, start_server: StartServer) -> None:
    server = start_ors("Sums", "Drawn", "Extra", "Lucky", "Silent", "Rich", "Empty")

    async def described() -> dict[str, str]:
        host = await Host.start(f"ors:{server.address},name=mine", Terms(workers=1))
        try:
            assert {each.id for each in host.ready.described.environments} == {
                f"ors/mine/{name}" for name in ("sums", "lucky", "silent", "rich")
            }
            return {each.name: each.reason for each in host.ready.described.left_out}
        finally:
            await host.close()

    left_out = asyncio.run(described())
    assert left_out["ors/mine/empty"] == "it has no task"
    assert "its prompt has a block of type 'image': only text can be shown" in left_out["ors/mine/drawn"]
    assert "the task has tools of its own (own), which a mount cannot offer" in left_out["ors/mine/extra"]
    # The rules that a server tries leave out the others.
    with mount(start_server, f"ors={server.address}") as client:
        client.get_environment("ors/sums")
        assert {
            each.environment_id for each in client.list_environments() if each.environment_id.startswith("ors/")
        } == {"ors/sums"}


def test_arguments_and_messages_that_are_invalid_get_a_reply(start_ors: StartOrs, native: Callable[..., Any]) -> None:
    server = start_ors("Doors", "Typed")
    game, typed = ors.offer(server.address).environments
    spec = {"left": 8, "right": 1}
    wrong, right = play(game, spec, [("open_door", {"door": "one"}), ("open_door", {"door": 1})])
    assert "valid integer" in wrong.reply
    assert (wrong.state, wrong.over, wrong.result) == (b"", False, None)
    assert right.reply.startswith("Opened: [1].")
    with session(native(server, "doors"), spec) as one, pytest.raises(ToolCallError, match="input_validation"):
        one.call_tool("open_door", {"door": "one"})
    facts: Any = typed.verify({"left": 1, "right": 1}, "two")
    assert (facts.verdict, "valid integer" in facts.violation) == ("malformed", True)
    assert typed.verify({"left": 1, "right": 1}, "2").components == {"score": 1}


def test_a_state_is_enough_for_another_process_and_for_a_branch(start_ors: StartOrs) -> None:
    server = start_ors("Doors", "Quiet")
    first, quiet = ors.offer(server.address).environments
    other, _ = ors.offer(server.address).environments
    spec = {"left": 15, "right": 4}
    calls = [("open_door", {"door": 9}), ("rest", {}), ("open_door", {"door": 8}), "2"]
    turns = play(first, spec, calls)
    assert [turn.over for turn in turns] == [False, False, False, True]
    assert [turn.result.info["reward"] for turn in turns] == ["0.0625", "0.0625", "0.125", "0.375"]
    # A long text is cut, and a short one is as it was sent.
    assert turns[1].reply.endswith(f"… ({30_000 * 9:,} bytes, of which the rest is cut)")
    assert turns[1].reply.startswith("é\r\n\n \u2028é")
    assert play(other, spec, calls[3:], turns[2].state) == turns[3:]
    assert play(first, spec, calls[1:], turns[0].state) == turns[1:]
    # An episode whose log is full ends, with what it has earned.
    long = play(first, spec, [("open_door", {"door": 10**450}) for _ in range(7)])
    assert (long[6].over, long[6].reply.endswith(ors.NO_ROOM), long[6].result.info["reward"]) == (True, True, "0.4375")
    with pytest.raises(MisshapenError, match="tool 'open_door' failed: the door is broken"):
        play(first, spec, [("open_door", {"door": 13})])
    with pytest.raises(MisshapenError, match="its episode ended without a reward"):
        play(quiet, spec, [("rest", {}), "0"])
    server.kill()
    with pytest.raises(UnavailableError, match="is not reached"):
        play(first, spec, calls[1:], turns[0].state)
    server.start()
    assert play(first, spec, calls[1:], turns[0].state) == turns[1:]


def test_rewards_may_lie_in_another_range(start_ors: StartOrs) -> None:
    server = start_ors("Rich")
    (rich,) = ors.offer(f"http://{server.address}/,low=0,high=14").environments
    facts: Any = rich.verify({"left": 15, "right": 4}, "any")
    assert facts.components == {"score": 0.5}
    (rich,) = ors.offer(server.address).environments
    with pytest.raises(ValueError, match=r"a reward of 7 lies outside of \[0, 1\]: give low= and high="):
        rich.verify({"left": 15, "right": 4}, "any")


@pytest.mark.parametrize(
    ("result", "problem"),
    [
        ([], "the result must be an object"),
        ({"ok": True}, "the result has no output"),
        ({"ok": False, "reason": "not_found", "error": "x" * 9999}, r"was refused \(not_found\): x{500}$"),
        ({"ok": True, "output": {"blocks": [], "reward": "1", "finished": True}}, "output.reward must be a finite"),
        ({"ok": True, "output": {"blocks": [], "reward": True, "finished": True}}, "output.reward must be a finite"),
        ({"ok": True, "output": {"blocks": [], "reward": float("nan"), "finished": True}}, "output.reward must be"),
        ({"ok": True, "output": {"blocks": [], "reward": 1, "finished": 1}}, "output.finished must be true or false"),
        ({"ok": True, "output": {"blocks": "text", "reward": 1, "finished": True}}, "output.blocks must be a list"),
        ({"ok": True, "output": {"blocks": [{"type": "image"}], "finished": True}}, "a block of type 'image'"),
    ],
)
def test_a_result_of_a_wrong_form_is_no_reward(result: Any, problem: str) -> None:
    with pytest.raises(MisshapenError, match=problem):
        output_of("submit", result)


def test_a_result_of_an_older_server_is_read() -> None:
    error = {"ok": False, "error": "Tool input validation error: []"}
    assert output_of("submit", error) == Output(error["error"], None, finished=False, refused=True)
    assert text_of([{"text": "a"}, {"text": "b"}], "its prompt") == "a\n\nb"
    assert cut("é" * REPLY_BYTES_MAX).startswith("é" * (REPLY_BYTES_MAX // 2) + "\n…")


@pytest.mark.parametrize(
    ("found", "problem"),
    [
        ([], "tools must be of the type list"),
        ({"tools": [{"name": 1}]}, "name must be of the type str"),
        ({"tools": ["a"]}, "name must be of the type str"),
        ({"tools": [{"name": "a", "input_schema": []}]}, "input_schema of a tool must be an object"),
        ({"tools": [], "terminal_tool": {"name": "a", "arg": 1}}, "arg must be of the type str"),
    ],
)
def test_tools_of_a_wrong_form_are_refused(found: Any, problem: str) -> None:
    with pytest.raises(MisshapenError, match=problem):
        ors.read_tools(found)


@pytest.mark.parametrize(
    ("target", "problem"),
    [
        ("", "write ors=host:port"),
        ("ftp://host", "write ors=host:port"),
        ("host:1,environment=x", "there is no option 'environment'"),
        ("127.0.0.1:9", "127.0.0.1:9 is not reached"),
    ],
)
def test_a_target_that_cannot_be_is_refused(target: str, problem: str) -> None:
    with pytest.raises(TargetError, match=problem):
        ors.offer(target)


def test_a_server_of_another_kind_is_refused(start_ors: StartOrs) -> None:
    server = start_ors("Sums")
    with pytest.raises(TargetError, match=r"/list_environments answered 404"):
        ors.offer(f"{server.address}/sums/nowhere")
    asking = Asking(f"http://{server.address}", (404,))
    with pytest.raises(UnavailableError, match="/none/tools answered 404"):
        asking.ask("/none/tools")
    with pytest.raises(StatusError, match="/sums/task answered 422"):
        asking.ask("/sums/task", {})
    asking.restart(0)
    with pytest.raises(UnavailableError, match="takes too long"):
        asking.ask("/health")
