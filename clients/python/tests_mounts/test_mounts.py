"""Test gradus.serve on RLVE-Gym and Reasoning Core themselves."""

from __future__ import annotations

import asyncio
import random
import sys
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import pytest
from real_server import StartServer

import gradus
from gradus import Client
from gradus.serve._catalogue import TargetError, load
from gradus.serve._level import Asked, plain, words
from gradus.serve._link import Host, Terms
from gradus.serve.adapters import reasoning_gym, rlve_gym

T = TypeVar("T")

NAMES = ("rlve-gym/sorting", "reasoning-core/arithmetics")


def with_host(target: str, ask: Callable[[Host], Awaitable[T]]) -> T:
    async def run() -> T:
        host = await Host.start(target, Terms(workers=1))
        try:
            return await ask(host)
        finally:
            await host.close()

    return asyncio.run(run())


def test_every_generator_of_rlve_gym_has_levels_that_grow() -> None:
    offered = rlve_gym.offer("")
    assert len({each.id for each in offered.environments}) == 400
    assert sum(len(each.levels) for each in offered.environments) > 3900
    assert all(list(each.axes["level"].levels) == list(each.levels) for each in offered.environments)
    slow = [name for name in offered.left_out if name.startswith("rlve-gym/grid-local-minimum-counting#")]
    assert slow == [f"rlve-gym/grid-local-minimum-counting#level-{level}" for level in range(5, 10)]
    assert "torch" not in sys.modules


def test_curricula_of_reasoning_gym_are_axes() -> None:
    chain, number = reasoning_gym.offer("chain_sum,gsm_symbolic").environments
    assert list(chain.axes["level"].levels) == list(chain.levels)
    assert (len(number.axes), len(number.levels)) == ((1, len(number.levels)) if len(number.levels) > 1 else (0, 1))


def test_an_unknown_name_is_refused_with_names_like_it() -> None:
    for target in ("rlve-gym:Sortin", "reasoning-core:arithmetic", "reasoning-gym:chain_sun"):
        with pytest.raises(
            TargetError, match=r"has no '.*'; it has .* others, such as (sorting|arithmetics|chain-sum)"
        ):
            load(target)


@pytest.mark.parametrize(
    "target",
    [
        "rlve-gym:Sorting,Multiplication,Knapsack,Integral",
        "reasoning-core:arithmetics,lambda_reduction,table_qa,logic_qa,graph_pathfinding",
    ],
)
def test_tasks_are_the_same_in_two_processes(target: str) -> None:
    async def play(host: Host, *, backwards: bool) -> dict[str, list[Any]]:
        found: dict[str, list[Any]] = {}
        environments = list(host.ready.described.environments)
        for environment in reversed(environments) if backwards else environments:
            for level in (environment.levels[0], environment.levels[-1]):
                asked = Asked(environment, level)
                for made in await asked.make(host, [1, 2**64 - 1]):
                    # Knapsack keeps no answer.
                    known = made.made.reference if made.made.HasField("reference") else "none"
                    texts = [known, "", "nonsense", "__import__('os')._exit(0)"]
                    verdicts = await asked.verify(host, made.made.instance, texts)
                    name = f"{environment.id} {level.name}"
                    found.setdefault(name, []).append((known, plain(made), [words(each) for each in verdicts]))
        return found

    first = with_host(target, lambda host: play(host, backwards=False))
    # Earlier items of a process must not change later ones.
    assert first == with_host(target, lambda host: play(host, backwards=True))
    played = [each for tasks in first.values() for each in tasks]
    assert {verdicts[0] for known, _, verdicts in played if known != "none"} == {"graded, score 1"}
    assert not any("score 1" in verdict for _, _, verdicts in played for verdict in verdicts[1:])


class Scored:
    """A problem whose score an answer says."""

    passing_reward_threshold = 1.0

    def _generate(self) -> None:
        if self.parameter["size"] == 0:
            raise ValueError("it is empty")
        if random.random() < self.parameter["none"]:
            self.parameter = None

    def set_config(self, config: dict[str, Any]) -> None:
        self.parameter = config["parameter"]

    def get_config(self) -> dict[str, Any]:
        return {"seed": self.seed, "parameter": self.parameter, "passing_reward_threshold": 1.0}

    def prompt_generator(self) -> str:
        return "Say a number."

    def _process(self, answer: str) -> str:
        return answer

    def scorer(self, output: str) -> float:
        return float(self.processor(output))


def test_negative_scores_are_0_and_a_scorer_that_raises_gives_no_reward() -> None:
    environment = rlve_gym.Generator("rlve-gym/scored", Scored, [[{"size": 1, "none": 0.5}], [{"size": 0, "none": 0}]])
    instance = environment.generate(random.Random(1), level=0)
    found = {text: environment.verify(instance, text) for text in ("1", "0.25", "0", "-0.5", "-1")}
    assert [each.components["score"] for each in found.values()] == [1, 0.25, 0, 0, 0]
    assert [each.solved for each in found.values()] == [True, False, False, False, False]
    assert found["-0.5"].violation == "RLVE-Gym's score is -0.5"
    for text in ("2", "nan", "a word"):
        with pytest.raises(ValueError, match=r"outside of|could not convert"):
            environment.verify(instance, text)
    with pytest.raises(Exception, match=r"none of 8 tries made a problem: ValueError\('it is empty'\)"):
        environment.generate(random.Random(1), level=1)


def test_a_server_mounts_both_and_runs_grow_along_their_levels(start_server: StartServer) -> None:
    mounts = ("--mount", "rlve-gym:Sorting", "--mount", "reasoning-core:arithmetics")
    started = start_server("--python", sys.executable, "--mount-workers", "1", *mounts)
    with Client(started.address) as client:
        for name in NAMES:
            task = client.reset(name, level="level-1", seed=1)
            assert client.step(task, "no answer").reward == 0
            (axis,) = client.get_environment(name).axes
            assert (axis.name, axis.first) == ("level", 1)
        arms = [gradus.arm(name, arm_id=name[-5:], grow=gradus.grow("level", cap=3)) for name in NAMES]
        run = client.run("growing")
        run.create(arms, gradus.frontier(), num_generations=2, prompts_per_update=4)
        run.advance("rting")
        assert [arm.growth and arm.growth.frontier for arm in run.get().state.arms] == [2, 1]
        assert len(run.next_batch().tasks) == 4
