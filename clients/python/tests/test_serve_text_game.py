"""Test games with Gymnasium's `reset` and `step` as environments of several turns."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any, ClassVar

import pytest

from gradus.serve import TextGame
from gradus.serve._catalogue import load
from gradus.serve._served import Served
from gradus.v1 import outcome_pb2, provider_pb2

FOLDER = Path(__file__).parent / "environments"


class Walk:
    """A walk on a line from a random place to 0, in Gymnasium's form. Each step costs 0.1, and 0 earns 1."""

    def __init__(self, size: int) -> None:
        self.size, self.at, self.steps = size, 0, 0

    def reset(self, *, seed: int) -> tuple[int, dict[str, Any]]:
        self.at = random.Random(seed).randint(1, self.size)
        return self.at, {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        self.at += action
        self.steps += 1
        over = self.at == 0
        return self.at, 1.0 if over else -0.1, over, self.steps == 10, {}


class Line(TextGame):
    """Walk to 0."""

    id = "test/line"
    levels: ClassVar[Any] = {"short": {"size": 3}, "long": {"size": 9}}
    reward_range = (-1.0, 1.0)

    def make(self, size: int) -> Walk:
        return Walk(size)

    def action(self, game: Walk, text: str) -> int:
        return {"left": -1, "right": 1}[text]

    def show(self, game: Walk, observation: int) -> str:
        return f"You stand at {observation}."


def call(number: int, text: str) -> provider_pb2.ProvidedCall:
    return provider_pb2.ProvidedCall(number=number, text=text)


def play(served: Served, instance: bytes, texts: list[str]) -> provider_pb2.ProvidedTurn:
    calls = [call(number, text) for number, text in enumerate(texts)]
    return served.advance(provider_pb2.EnvironmentProviderAdvanceRequest(instance=instance, calls=calls))


def at_3(served: Served) -> bytes:
    """Return an instance that begins at 3."""
    made = (served.make("short", '{"size": 3}', seed) for seed in range(100))
    return next(each.instance for each in made if each.prompt[0].content == "You stand at 3.")


def test_the_sum_of_rewards_so_far_is_the_result_of_a_call() -> None:
    served = Served(Line(), FOLDER, {})
    instance = at_3(served)
    first = play(served, instance, ["left"])
    assert (first.reply, first.over) == ("You stand at 2.", False)
    assert not first.HasField("state")
    assert first.facts.components[0].value == pytest.approx((1 - 0.1) / 2)
    last = play(served, instance, ["left", "left", "left"])
    assert (last.reply, last.over) == ("You stand at 0.", True)
    assert last.facts.verdict == outcome_pb2.VERDICT_GRADED
    assert last.facts.components[0].value == pytest.approx((1 + 0.8) / 2)
    truncated = play(served, instance, ["right"] * 10)
    assert truncated.over
    assert truncated.facts.components[0].value == pytest.approx(0)


def test_a_text_that_names_no_action_gets_a_reply_and_changes_nothing() -> None:
    served = Served(Line(), FOLDER, {})
    instance = at_3(served)
    wrong = play(served, instance, ["jump"])
    assert (wrong.reply, wrong.HasField("facts")) == ("This is no action: 'jump'.", False)
    assert play(served, instance, ["jump", "left"]).reply == "You stand at 2."


def test_a_game_that_is_not_kept_is_played_again() -> None:
    served = Served(Line(), FOLDER, {})
    instance = at_3(served)
    live = [play(served, instance, ["left"] * count) for count in (1, 2)]
    fresh = [play(Served(Line(), FOLDER, {}), instance, ["left"] * count) for count in (1, 2)]
    assert live == fresh
    assert play(served, instance, ["left", "right"]).reply == "You stand at 3."


def test_tasks_follow_from_seeds_and_levels() -> None:
    served = Served(Line(), FOLDER, {})
    long = [served.make("long", '{"size": 9}', seed) for seed in range(50)]
    assert {json.loads(each.instance)["parameters"]["size"] for each in long} == {9}
    assert len({each.prompt[0].content for each in long}) == 9
    assert long[7] == served.make("long", '{"size": 9}', 7)


def test_a_game_that_ignores_its_seed_is_a_failure() -> None:
    class Chance(Line):
        def make(self, size: int) -> Walk:
            game = Walk(size)
            game.reset = lambda seed: (random.SystemRandom().getrandbits(60), {})  # type: ignore[method-assign,misc]
            return game

    served = Served(Chance(), FOLDER, {})
    with pytest.raises(ValueError, match="the same seed shows something else"):
        play(served, served.make("short", '{"size": 3}', 1).instance, ["left"])


def test_rewards_outside_of_the_range_are_a_failure_that_says_so() -> None:
    class Narrow(Line):
        reward_range = (0.0, 1.0)

    served = Served(Narrow(), FOLDER, {})
    with pytest.raises(ValueError, match=r"add up to -0\.1, outside of reward_range = \(0, 1\): widen it"):
        play(served, at_3(served), ["left"])


def test_a_file_with_a_game_is_loaded_and_the_base_class_is_not(tmp_path: Path) -> None:
    file = tmp_path / "line.py"
    file.write_text(
        "from gradus.serve import TextGame\n\n"
        'class Line(TextGame):\n    """Walk."""\n    id = "mine/line"\n\n'
        "    def make(self):\n        raise NotImplementedError\n"
    )
    (served,) = load(str(file)).served.values()
    described = served.describe()
    assert (described.id, described.turns_max, described.turns.state_bytes) == ("mine/line", 20, 0)
