"""Every game that can be mounted shows and rewards the same as its own library does without Gradus."""

from __future__ import annotations

import asyncio
import random
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest
from playing import direct, through_host, totals

from gradus.serve._catalogue import TargetError, load
from gradus.serve._level import Asked
from gradus.serve._link import Host, Terms
from gradus.serve._turns import Action
from gradus.serve.adapters.textarena import TextArenaGame

T = TypeVar("T")

LIBRARIES = ("textarena", "gem", "chuk-puzzles")
LEAST = {"textarena": 21, "gem": 8, "chuk-puzzles": 29}
"""Number of games that need no word lists."""
WORD_GAMES = ("hangman", "word-ladder", "word-search", "wordle", "crosswords")


def with_host(target: str, ask: Callable[[Host], Awaitable[T]]) -> T:
    """Run a function with a host that serves a target."""

    async def run() -> T:
        host = await Host.start(target, Terms(workers=1))
        try:
            return await ask(host)
        finally:
            await host.close()

    return asyncio.run(run())


def has_word_lists() -> bool:
    return (Path(sys.prefix) / "nltk_data" / "corpora" / "words").is_dir()


def named(library: str) -> str:
    """Return the target of the games that can be played here."""
    known = [name.partition("/")[2] for name in load(library).served]
    return f"{library}:{','.join(name for name in known if name not in WORD_GAMES or has_word_lists())}"


async def play_easiest(host: Host) -> tuple[list[dict[str, Any]], list[Any]]:
    """Play the first level of each game."""
    games, seen = [], []
    for environment in host.ready.described.environments:
        game, found = await through_host(host, Asked(environment, environment.levels[0]), seed=3)
        games.append(game)
        seen.append(found)
    return games, seen


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_host_shows_and_rewards_the_same_as_the_library(library: str) -> None:
    target = named(library)
    games, seen = with_host(target, play_easiest)
    assert len(games) >= LEAST[library]
    assert with_host(target, play_easiest) == (games, seen)
    for game, found, expected in zip(games, seen, direct(games), strict=True):
        assert found == totals(expected), game


def moves_of_hanoi(disks: int, start: str = "A", goal: str = "C", other: str = "B") -> list[str]:
    if disks == 0:
        return []
    before, after = moves_of_hanoi(disks - 1, start, other, goal), moves_of_hanoi(disks - 1, other, goal, start)
    return [*before, f"{start} {goal}", *after]


def test_a_game_is_won_in_a_host() -> None:
    async def play(host: Host) -> list[Any]:
        (environment,) = host.ready.described.environments
        return (await through_host(host, Asked(environment, environment.levels[0]), 1, moves_of_hanoi(3)))[1]

    *before, last = with_host("textarena:tower-of-hanoi", play)
    assert all(total == 0 and not over for _, total, over in before)
    assert last[1:] == (1.0, True)


def test_a_game_that_draws_chance_in_its_steps_continues_it() -> None:
    """Each move of 2048 adds a tile by `random`, so equal moves must lead to equal boards in any process."""

    async def play(host: Host) -> list[Any]:
        (environment,) = host.ready.described.environments
        seen = []
        for _ in range(2):
            seen.append((await through_host(host, Asked(environment, environment.levels[0]), 1, ["up", "left"] * 8))[1])
            await host.kill_workers()
        return seen

    first, second = with_host("textarena:2048", play)
    assert first == second
    assert len({shown for shown, _, _ in first}) > 2


def test_what_cannot_be_mounted_is_named() -> None:
    left_out = {library: load(library).left_out for library in LIBRARIES}
    assert "no opponents" in left_out["textarena"]["textarena/chess"]
    assert "language model" in left_out["textarena"]["textarena/guess-who"]
    assert "mount reasoning-gym" in left_out["gem"]["gem/rg:*"]
    assert "minute" in left_out["chuk-puzzles"]["chuk-puzzles/cryptarithmetic"]
    with pytest.raises(TargetError, match="textarena/chess cannot be mounted: it has several players"):
        load("textarena:chess")
    with pytest.raises(TargetError, match="gem has no game hanabi; it has crosswords, "):
        load("gem:hanabi")


def test_levels_of_a_size_are_a_growth_axis() -> None:
    hanoi = load("gem:towerof-hanoi").served["gem/towerof-hanoi"].describe()
    assert {axis.name: list(axis.levels)[:2] for axis in hanoi.axes} == {
        "difficulty": ["easy", "hard"],
        "disks": ["2 disks", "3 disks"],
    }


def test_an_action_that_is_too_long_changes_nothing() -> None:
    game = TextArenaGame("test/hanoi", {"default": {"id": "TowerOfHanoi-v0-raw"}})
    instance = game.generate(random.Random(1), id="TowerOfHanoi-v0-raw")
    turn = game.advance(instance, b"", Action(0, "", {}, "x" * 29, 0))
    assert (turn.reply, turn.state) == ("This action is too long. The limit is 28 bytes.", b"")
