"""Test gradus.serve on other libraries' environments: reasoning-gym, verifiers, OpenEnv's protocol."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Awaitable, Callable, Iterator
from http import HTTPStatus
from pathlib import Path
from typing import Any, TypeVar

import pytest
from websockets.datastructures import Headers
from websockets.http11 import Request, Response
from websockets.sync.server import ServerConnection, serve

from gradus.serve._catalogue import load
from gradus.serve._level import Asked, plain, words
from gradus.serve._link import Host, HostError, Terms
from gradus.serve.adapters import reasoning_gym

T = TypeVar("T")

RUN_ANSWERS = {
    "binary-matrix", "countdown", "intermediate-integration", "n-queens", "polynomial-multiplication", "puzzle24",
    "simple-integration", "spiral-matrix", "string-insertion",
}  # fmt: skip


def with_host(target: str, ask: Callable[[Host], Awaitable[T]]) -> T:
    async def run() -> T:
        host = await Host.start(target, Terms(workers=1))
        try:
            return await ask(host)
        finally:
            await host.close()

    return asyncio.run(run())


def test_every_set_of_reasoning_gym_is_offered_or_named() -> None:
    from reasoning_gym.factory import DATASETS  # noqa: PLC0415

    offered = reasoning_gym.offer("")
    names = {each.id.removeprefix("reasoning-gym/") for each in offered.environments}
    # Programs of codeio read the clock, and composite mixes other data sets.
    left_out = {"codeio", "composite"}
    assert {name.replace("_", "-") for name in DATASETS} == names | left_out
    assert all(any(name in each for each in offered.left_out) for name in left_out)
    assert {each.id.removeprefix("reasoning-gym/") for each in offered.environments if each.runs_answers} >= RUN_ANSWERS
    assert sum(len(each.levels) for each in offered.environments) > 450
    assert "min_nodes must be >= 6" in offered.left_out["reasoning-gym/knight-swap#level-0"]


def test_sets_of_reasoning_gym_are_the_same_in_two_processes() -> None:
    # rotten-oranges and game-of-life have tuples in their metadata; spiral-matrix runs answers.
    target = "reasoning-gym:spiral_matrix,chain_sum,graph_color,shortest_path"

    async def play(host: Host) -> list[tuple[bytes, str]]:
        found = []
        for environment in host.ready.described.environments:
            asked = Asked(environment, environment.levels[-1])
            for made in await asked.make(host, [1, 2**64 - 1]):
                texts = [made.made.reference, "0", "__import__('os')._exit(0)"]
                verdicts = await asked.verify(host, made.made.instance, texts)
                found += [(plain(made), words(each)) for each in verdicts]
        return found

    first, second = with_host(target, play), with_host(target, play)
    assert first == second
    told = [each for _, each in first]
    assert told[:6:3] == ["graded, score 1"] * 2
    assert any(each.startswith("crashed") for each in told)


TASKSET = """
import verifiers.v1 as vf

__all__ = ["Sums"]


class SumData(vf.TaskData):
    answer: str


class Sum(vf.Task[SumData]):
    @vf.reward
    async def right(self, trace: vf.Trace) -> float:
        return float(trace.last_message.content == f"<answer>{self.data.answer}</answer>")


class Sums(vf.Taskset[Sum, vf.TasksetConfig]):
    def load(self):
        for number in range(5):
            yield Sum(SumData(prompt=f"{number} + {number}?", answer=str(2 * number)), self.config.task)
"""

BOXED = TASKSET.replace("class Sum(vf.Task[SumData]):", "class Sum(vf.Task[SumData]):\n    NEEDS_CONTAINER = True\n")


def test_a_taskset_of_verifiers_is_scored_from_the_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sums_of_two.py").write_text(TASKSET)
    (tmp_path / "sums_in_a_box.py").write_text(BOXED)
    monkeypatch.syspath_prepend(str(tmp_path))
    served = load("verifiers:sums-of-two,wrap=tag").served["verifiers/sums-of-two"]
    made = served.make("tasks", "{}", 3)
    verify = served.verifier(made.instance)
    assert made.prompt[0].content == "3 + 3?"
    assert verify("6").solved
    assert verify("6").info["right"] == "1"
    assert not verify("7").solved
    with pytest.raises(Exception, match="task 0: it needs a container"):
        load("verifiers:sums-in-a-box")


# Tasksets with rewards that were not measured. The sum of verifiers itself skips them, or is 0.
NONE = """
    async def score(self, trace, runtime=None):
        await super().score(trace, runtime)
        trace.rewards["style"] = None
"""
ONLY_NONE = """
    async def score(self, trace, runtime=None):
        trace.rewards["right"] = None
"""
DEFERRED = "\n    scoring_deferred = True\n"
MAPPING = """
    @vf.reward
    async def more(self, trace: vf.Trace) -> dict:
        return {"style": None}
"""
ERROR = """
    async def score(self, trace, runtime=None):
        await super().score(trace, runtime)
        trace.record_error(RuntimeError("its judge is down"))
"""
NAN = """
    @vf.reward
    async def more(self, trace: vf.Trace) -> float:
        return float("nan")
"""
RAISES = """
    @vf.reward
    async def more(self, trace: vf.Trace) -> float:
        raise RuntimeError("its judge is down")
"""


UNMEASURED = {
    "none": (NONE, "gave no reward for style"),
    "alone": (ONLY_NONE, "gave no reward for right"),
    "deferred": (DEFERRED, "gave no reward for the answer"),
    "mapping": (MAPPING, "must be a string or a real number"),
    "error": (ERROR, "gave no reward for the answer"),
    "nan": (NAN, "lies outside of"),
    "raises": (RAISES, "its judge is down"),
}


@pytest.mark.parametrize("name", UNMEASURED)
def test_a_reward_of_verifiers_that_was_not_measured_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    more, why = UNMEASURED[name]
    (tmp_path / f"sums_{name}.py").write_text(TASKSET.replace("\n\nclass Sums", f"\n{more}\n\nclass Sums"))
    monkeypatch.syspath_prepend(str(tmp_path))
    served = load(f"verifiers:sums-{name},wrap=tag").served[f"verifiers/sums-{name}"]
    verify = served.verifier(served.make("tasks", "{}", 3).instance)
    for answer in ("6", "7"):
        with pytest.raises(Exception, match=why):
            verify(answer)


def test_a_taskset_of_verifiers_that_rewards_nothing_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sums_unrewarded.py").write_text(TASKSET.replace("@vf.reward", "@vf.metric"))
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(Exception, match="task 0: no function rewards it"):
        load("verifiers:sums-unrewarded")


class Server:
    """A server of OpenEnv's protocol. It shows a number, rewards its echo, and ends after `steps` steps."""

    def __init__(self, steps: int) -> None:
        self._steps = steps
        self._server = serve(self.play, "127.0.0.1", 0, process_request=self.answer)
        self.address = f"http://127.0.0.1:{self._server.socket.getsockname()[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()

    def answer(self, _: ServerConnection, request: Request) -> Response | None:
        if request.path == "/ws":
            return None
        schema = {"action": {"properties": {"message": {"type": "string"}, "metadata": {}}, "required": ["message"]}}
        return Response(HTTPStatus.OK, "OK", Headers(), json.dumps(schema).encode())

    def play(self, connection: ServerConnection) -> None:
        seed, left = 0, self._steps
        for text in connection:
            asked = json.loads(text)
            if asked["type"] == "reset":
                seed, left = asked["data"]["seed"], self._steps
                shown: dict[str, Any] = {"observation": {"text": f"Say {seed}."}, "reward": None, "done": False}
            else:
                left -= 1
                reward = float(asked["data"]["message"] == str(seed))
                shown = {"observation": {"text": ""}, "reward": reward, "done": left == 0}
            connection.send(json.dumps({"type": "observation", "data": shown}))


@pytest.fixture
def open_env(request: pytest.FixtureRequest) -> Iterator[str]:
    server = Server(request.param)
    yield server.address
    server.close()


@pytest.mark.parametrize("open_env", [1], indirect=True)
def test_an_episode_of_one_step_is_a_task(open_env: str) -> None:
    async def play(host: Host) -> tuple[str, list[str]]:
        environment = host.ready.described.environments[0]
        asked = Asked(environment, environment.levels[0])
        (made,) = await asked.make(host, [5])
        prompt = made.made.prompt[0].content
        right = prompt.removeprefix("Say ").removesuffix(".")
        found = await asked.verify(host, made.made.instance, [right, "0"])
        return environment.id, [words(each) for each in found]

    name, found = with_host(f"openenv:{open_env},name=echo", play)
    assert (name, found) == ("openenv/echo", ["graded, score 1", "graded, score 0"])


@pytest.mark.parametrize("open_env", [2], indirect=True)
def test_an_episode_that_goes_on_is_refused(open_env: str) -> None:
    async def nothing(_: Host) -> None:
        pass

    with pytest.raises(HostError, match="goes on after a step"):
        with_host(f"openenv:{open_env}", nothing)
