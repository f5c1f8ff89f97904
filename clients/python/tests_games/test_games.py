"""Every game that can be mounted shows and rewards the same as its own library does without Gradus."""

from __future__ import annotations

import asyncio
import json
import random
import re
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest

from gradus.serve._catalogue import TargetError, load
from gradus.serve._level import Asked
from gradus.serve._link import Host, Terms
from gradus.serve._turns import Action
from gradus.serve.adapters.textarena import TextArenaGame
from gradus.v1 import outcome_pb2, provider_pb2

T = TypeVar("T")

LIBRARIES = ("textarena", "gem", "chuk-puzzles")
LEAST = {"textarena": 21, "gem": 8, "chuk-puzzles": 29}
"""Number of games that need no word lists."""
WORD_GAMES = ("hangman", "word-ladder", "word-search", "wordle", "crosswords")
MOVES = 16
DIRECT = Path(__file__).parent / "direct.py"


def moves_for(prompt: str, seed: int, size: int) -> list[str]:
    """Return moves that a prompt names, and others like them."""
    rng = random.Random(seed)
    named = re.findall(r"\[([^\[\]\n]{1,20})\]|\\boxed\{([^{}\n]{1,20})\}|'([^'\n]{1,20})'", prompt)
    pool = [text for groups in named for text in groups if text] + ["up", "left", "down", "right"]
    commands = re.findall(r"^\s+(\w+) <", prompt, re.MULTILINE) or [""]

    def move() -> str:
        numbers = [str(rng.randint(0, 6)) for _ in range(rng.randint(1, 4))]
        words = re.findall(r"\b[a-z]{3,7}\b", prompt)
        kinds = [
            rng.choice(pool),
            " ".join(numbers),
            rng.choice(words),
            rng.choice("abcdefghijklmnopqrstuvwxyz"),
            " ".join([rng.choice(commands), *numbers]).strip(),
        ]
        return rng.choice(kinds)

    return [move()[:size] for _ in range(MOVES)]


def direct(games: list[dict[str, Any]]) -> list[Any]:
    """Return what the libraries do in a process of their own, which hashes texts as hosts do."""
    run = subprocess.run(
        [sys.executable, str(DIRECT)],
        input=json.dumps(games),
        env={"PYTHONHASHSEED": "0"},
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(run.stdout)


async def through_host(
    host: Host, level: Asked, seed: int, moves: list[str] | None = None
) -> tuple[dict[str, Any], list[Any]]:
    """Return a game for `direct`, and what a host shows and rewards, with the sum of rewards after each move."""
    (made,) = await level.make(host, [seed])
    assert made.HasField("made"), made
    instance = made.made.instance
    prompt = made.made.prompt[0].content
    value = json.loads(instance)
    seen: list[Any] = [(prompt, 0.0, False)]
    moves = moves or moves_for(prompt, seed, level.environment.turns.action_bytes)
    state = b""
    for number, move in enumerate(moves):
        request = provider_pb2.EnvironmentProviderAdvanceRequest(
            environment=level.environment.id,
            version=level.environment.version,
            digest=level.environment.digest,
            instance=instance,
            calls=[provider_pb2.ProvidedCall(number=number, text=move, seed=number)],
        )
        if number > 0:
            request.state = state
        response = await host.advance(request)
        assert response.HasField("turn"), (level.environment.id, level.level.name, move, response)
        turn = response.turn
        state = turn.state
        assert turn.facts.verdict == outcome_pb2.VERDICT_GRADED
        total = float(turn.facts.info["game_reward"])
        assert turn.facts.components[0].value == pytest.approx(min(1, max(0, total)))
        seen.append((turn.reply, total, turn.over))
        if turn.over:
            break
    return {"seed": value["seed"], "parameters": value["parameters"], "moves": moves}, seen


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
        library, _, name = environment.id.partition("/")
        more = {"name": name.replace("-", "_")} if library == "chuk-puzzles" else {}
        games.append({"library": library, **game, "parameters": {**game["parameters"], **more}})
        seen.append(found)
    return games, seen


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_host_shows_and_rewards_the_same_as_the_library(library: str) -> None:
    target = named(library)
    games, seen = with_host(target, play_easiest)
    assert len(games) >= LEAST[library]
    assert with_host(target, play_easiest) == (games, seen)
    for game, found, expected in zip(games, seen, direct(games), strict=True):
        totals, total = [], 0.0
        for shown, reward, over in expected:
            total += reward
            totals.append((shown, total, over))
        assert found == totals, game


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
