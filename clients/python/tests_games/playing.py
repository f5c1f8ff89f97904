"""Plays games through a host and by their own libraries, for tests and bench/mounted/answers.py."""

from __future__ import annotations

import json
import math
import random
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from gradus.serve._level import Asked
from gradus.serve._link import Host
from gradus.v1 import outcome_pb2, provider_pb2

MOVES = 20
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
        assert math.isclose(turn.facts.components[0].value, min(1, max(0, total)), rel_tol=1e-6, abs_tol=1e-12)
        seen.append((turn.reply, total, turn.over))
        if turn.over:
            break
    library, _, name = level.environment.id.partition("/")
    more = {"name": name.replace("-", "_")} if library == "chuk-puzzles" else {}
    parameters = {**value["parameters"], **more}
    return {"library": library, "seed": value["seed"], "parameters": parameters, "moves": moves}, seen


def totals(expected: list[Any]) -> list[Any]:
    """Return what a library shows with the sum of its rewards so far, as `through_host` does."""
    sums, total = [], 0.0
    for shown, reward, over in expected:
        total += reward
        sums.append((shown, total, over))
    return sums
