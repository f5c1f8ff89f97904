"""OpenEnv's own servers under gradus.serve, and OpenEnv's own client at Gradus's server."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import games
import pytest
from openenv.core.generic_client import GenericEnvClient
from real_server import Server

from gradus.serve import UnavailableError
from gradus.serve._catalogue import TargetError
from gradus.serve._environment import Environment
from gradus.serve.adapters import openenv

OpenEnv = Callable[..., str]


def mounted(address: str) -> Environment:
    (environment,) = openenv.offer(address).environments
    return environment


def test_a_server_whose_secret_follows_from_the_seed_is_mounted(open_env: OpenEnv) -> None:
    environment = mounted(open_env(games.SeededCoin))
    for seed in range(4):
        instance = environment.generate(random.Random(seed))
        assert environment.prompt(instance) == "Heads or tails?"
        right = random.Random(instance["seed"]).choice(["heads", "tails"])
        assert [environment.verify(instance, each) for each in ("heads", "tails")] == [
            float(right == "heads"),
            float(right == "tails"),
        ]


def test_a_server_of_several_fields_is_mounted(open_env: OpenEnv) -> None:
    environment = mounted(open_env(games.SeededPair, games.Pair))
    instance = environment.generate(random.Random(1))
    worth = {environment.verify(instance, f'{{"side": "{side}", "count": 1}}') for side in ("left", "right")}
    assert worth == {0.0, 1.0}


@pytest.mark.parametrize(
    ("game", "action"),
    [
        (games.Luck, games.Guess),
        (games.Coin, games.Guess),
        (games.Colour, games.Guess),
        (games.Digit, games.Guess),
        (games.Revealed, games.Guess),
        (games.Compass, games.Choice),
        (games.Drawer, games.Pair),
    ],
)
def test_a_server_that_takes_a_seed_and_ignores_it_is_refused(
    open_env: OpenEnv, game: type[games.Game], action: Any
) -> None:
    with pytest.raises(TargetError, match=r"to one seed earned 0\.0 and 1\.0.*does not follow from the seed"):
        openenv.offer(open_env(game, action))


def test_a_step_without_a_reward_is_no_zero(open_env: OpenEnv) -> None:
    environment = mounted(open_env(games.Silent))
    with pytest.raises(ValueError, match="its step gave no reward, but None"):
        environment.verify(environment.generate(random.Random(1)), "heads")


def test_a_server_that_is_slow_is_unavailable_before_a_worker_is_ended(
    open_env: OpenEnv, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment = mounted(open_env(games.Slow))
    monkeypatch.setattr(openenv, "SECONDS_MAX", 1)
    with pytest.raises(UnavailableError, match="does not answer within 1 s"):
        environment.verify(environment.generate(random.Random(1)), "slow")


@pytest.mark.parametrize(("environment", "level"), [("np/tsp", "easy"), ("countdown", "T0")])
def test_the_client_plays_tasks_by_their_seeds(server: Server, environment: str, level: str) -> None:
    address = f"http://{server.http}"
    with GenericEnvClient(address).sync() as player, GenericEnvClient(address).sync() as other:
        for seed in range(20):
            choice = {"environment": environment, "level": level, "seed": seed}
            shown = player.reset(**choice)
            assert not shown.done
            assert shown.reward is None
            assert other.reset(**choice).observation["prompt"] == shown.observation["prompt"]
            stepped = player.step({"completion": "I do not know."})
            assert stepped.done
            assert isinstance(stepped.reward, int | float)
            with pytest.raises(RuntimeError, match="reset first"):
                player.step({"completion": "Again."})


TASK = {"environment": "countdown", "level": "T0", "seed": 7}
UNCLOSED = "<think>97 - 44 is 53</think><answer>82 - (97 - 44)"


def test_the_client_passes_why_generation_ended(server: Server) -> None:
    with GenericEnvClient(f"http://{server.http}").sync() as client:
        rewards = {}
        for reason in ({}, {"finish_reason": "stop"}, {"finish_reason": "length"}):
            client.reset(**TASK)
            stepped = client.step({"completion": UNCLOSED, **reason})
            rewards[reason.get("finish_reason")] = stepped.reward
            assert stepped.done
            assert stepped.observation["outcome"]["score"].get("truncated") is True
        assert rewards == {None: 1.0, "stop": 1.0, "length": 0.0}


def test_a_completion_without_a_reward_is_an_error_of_the_client(server: Server) -> None:
    with GenericEnvClient(f"http://{server.http}").sync() as client:
        client.reset(**TASK)
        with pytest.raises(RuntimeError, match=r"there is no reward \(too_large\)"):
            client.step({"completion": "x" * 300 * 1024})
