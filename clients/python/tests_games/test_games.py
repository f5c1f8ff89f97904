"""Every game that can be mounted shows and rewards the same as its own library does without Gradus."""

from __future__ import annotations

import asyncio
import json
import random
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from gradus.serve._level import Asked
from gradus.serve._link import Host, Terms
from gradus.v1 import outcome_pb2, provider_pb2

LIBRARIES = ("textarena", "gem", "chuk-puzzles")
MOVES = 16
DIRECT = Path(__file__).parent / "direct.py"


def moves_for(prompt: str, seed: int) -> list[str]:
    """Return moves that a prompt names, and others like them."""
    rng = random.Random(seed)
    named = re.findall(r"\[([^\[\]\n]{1,20})\]|\\boxed\{([^{}\n]{1,20})\}|'([^'\n]{1,20})'", prompt)
    pool = [text for groups in named for text in groups if text] + ["up", "left", "down", "right"]
    commands = re.findall(r"^\s+(\w+) <", prompt, re.MULTILINE) or [""]

    def move() -> str:
        numbers = [str(rng.randint(0, 6)) for _ in range(rng.randint(1, 4))]
        words = re.findall(r"\b[a-z]{3,7}\b", prompt)
        choice = rng.randrange(5)
        if choice < 2:
            return rng.choice(pool)
        if choice == 2:
            return " ".join(numbers)
        if choice == 3:
            return rng.choice([rng.choice(words), rng.choice("abcdefghijklmnopqrstuvwxyz")])
        return " ".join([rng.choice(commands), *numbers]).strip()

    return [move()[:28] for _ in range(MOVES)]


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


async def through_host(host: Host, level: Asked, seed: int) -> tuple[dict[str, Any], list[Any]]:
    """Return a game for `direct`, and what a host shows and rewards, with the sum of rewards after each move."""
    (made,) = await level.make(host, [seed])
    assert made.HasField("made"), made
    instance = made.made.instance
    prompt = made.made.prompt[0].content
    value = json.loads(instance)
    seen: list[Any] = [(prompt, 0.0, False)]
    moves = moves_for(prompt, seed)
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


def games_of(host: Host) -> list[Asked]:
    return [Asked(each, level) for each in host.ready.described.environments for level in each.levels]


async def play_all(library: str) -> tuple[list[dict[str, Any]], list[Any], list[str]]:
    """Return what all games of a library do in a host, and the names of those that are not served."""
    host = await Host.start(library, Terms(workers=2))
    try:
        games, seen = [], []
        for level in games_of(host):
            game, found = await through_host(host, level, seed=3)
            name = level.environment.id.partition("/")[2].replace("-", "_")
            of_chuk = {"name": name} if library == "chuk-puzzles" else {}
            games.append({"library": library, **game, "parameters": {**game["parameters"], **of_chuk}})
            seen.append(found)
        return games, seen, [each.name for each in host.ready.described.left_out]
    finally:
        await host.close()


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_host_shows_and_rewards_the_same_as_the_library(library: str) -> None:
    games, seen, _ = asyncio.run(play_all(library))
    again = asyncio.run(play_all(library))[1]
    assert seen == again
    own = direct(games)
    assert own == direct(games)
    for game, found, expected in zip(games, seen, own, strict=True):
        totals, total = [], 0.0
        for shown, reward, over in expected:
            total += reward
            totals.append((shown, total, over))
        assert found == totals, game
