"""Plays games by their own libraries, without Gradus, and prints what they show and reward.

Reads a JSON list of games from standard input: library, parameters, seed, moves. Prints a list with, for each game,
what it shows at its start, and for each move what it shows, its reward, and whether the game is over.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import sys
from collections.abc import Iterator
from typing import Any

import numpy.random

Seen = tuple[str, float, bool]


def gem(parameters: dict[str, Any], seed: int, moves: list[str]) -> Iterator[Seen]:
    import gem as library  # noqa: PLC0415

    game = library.make(parameters.pop("id"), **parameters)
    shown, info = game.reset(seed=seed)
    yield f"{shown}\n{info.get('suffix', '')}".strip(), 0.0, False
    for move in moves:
        shown, reward, terminated, truncated, info = game.step("\\boxed{" + move + "}")
        yield f"{shown}\n{info.get('suffix', '')}".strip(), reward, terminated or truncated


def textarena(parameters: dict[str, Any], seed: int, moves: list[str]) -> Iterator[Seen]:
    import textarena as library  # noqa: PLC0415

    game = library.make(parameters["id"])
    game.reset(num_players=1, seed=seed)

    def said() -> list[str]:
        return [str(text) for sender, text, _ in game.get_observation()[1] if sender == library.GAME_ID]

    yield "\n".join(said()), 0.0, False
    for move in moves:
        over, info = game.step(move if set(move) & set("[]") else f"[{move}]")
        texts = said()
        if over:
            texts += [info["reason"]] if info.get("reason") else []
        reward = game.close()[0][0] if over else 0.0
        # Three games give the reason in place of a reward if they end by invalid actions.
        yield "\n".join(text for text in texts if text), 0.0 if isinstance(reward, str) else float(reward), over


def chuk_puzzles(parameters: dict[str, Any], seed: int, moves: list[str]) -> Iterator[Seen]:
    from chuk_puzzles_gym.gym_env import PuzzleEnv  # noqa: PLC0415
    from chuk_puzzles_gym.models import SolverConfig  # noqa: PLC0415

    name = parameters.pop("name")
    rewards = {"correct_placement": 0, "invalid_attempt": 0, "hint_penalty": 0, "completion_bonus": 1}
    game = PuzzleEnv(name, **parameters, solver_config=SolverConfig(solver_allowed=False), reward_config=rewards)
    loop = asyncio.new_event_loop()
    seen, _ = loop.run_until_complete(game.reset(seed=seed))
    puzzle = game.game
    assert puzzle is not None
    yield "\n\n".join((puzzle.get_rules(), puzzle.get_commands(), seen["render"])), 0.0, False
    for move in moves:
        seen, reward, terminated, truncated, info = loop.run_until_complete(game.step(move))
        said = info.get("message") or info.get("error") or ""
        yield f"{said}\n\n{seen['render']}".strip(), float(reward), terminated or truncated


def played(asked: dict[str, Any]) -> list[Seen]:
    """Return what a game shows and rewards, up to its end."""
    random.seed(asked["seed"])
    numpy.random.seed(asked["seed"] % 2**32)
    player = {"gem": gem, "textarena": textarena, "chuk-puzzles": chuk_puzzles}[asked["library"]]
    seen: list[Seen] = []
    for each in player(asked["parameters"], asked["seed"], asked["moves"]):
        seen.append(each)
        if each[2]:
            break
    return seen


if __name__ == "__main__":
    # The libraries print. Only the result goes to standard output.
    out = os.dup(1)
    os.dup2(2, 1)
    found = [played(asked) for asked in json.load(sys.stdin)]
    with os.fdopen(out, "w") as file:
        json.dump(found, file)
