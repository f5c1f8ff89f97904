"""chuk-puzzles-gym: logic puzzles that are filled in by commands, `chuk-puzzles/NAME`, in three difficulties.

The library's own rewards pay each accepted command, so a policy could earn without end by placing and clearing a value.
Here only completion is rewarded, by the library's own settings. Hints, which tell the solution, are off.
"""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any, TypeVar

from gradus.serve._catalogue import Offer, TargetError
from gradus.serve.adapters._games import Game, Step, offer_of
from gradus.serve.adapters._target import slug_of

T = TypeVar("T")

LIBRARY = "chuk-puzzles"
DIFFICULTIES = ("easy", "medium", "hard")
_LEFT_OUT = {
    "cryptarithmetic": "a puzzle takes up to a minute to make",
    "rush_hour#medium": "a move takes seconds, because each looks for the shortest solution",
    "rush_hour#hard": "a puzzle takes up to 12 s to make",
}
REWARDS = {"correct_placement": 0.0, "invalid_attempt": 0.0, "hint_penalty": 0.0, "completion_bonus": 1.0}


def offer(names: str) -> Offer:
    """Returns all puzzles, or those whose names are given between commas."""
    try:
        from chuk_puzzles_gym.gym_env import PuzzleEnv  # noqa: PLC0415  # Not required by gradus-gym.
    except ImportError as error:
        raise TargetError('chuk-puzzles-gym is not installed: pip install "chuk-puzzles-gym>=0.10.3,<0.11"') from error
    games = [Puzzle(name) for name in PuzzleEnv.available_games() if name not in _LEFT_OUT]
    return offer_of(
        LIBRARY, games, {f"{LIBRARY}/{name.replace('_', '-')}": why for name, why in _LEFT_OUT.items()}, names
    )


class Puzzle(Game):
    """A puzzle of chuk-puzzles-gym."""

    def __init__(self, name: str) -> None:
        levels = {each: {"difficulty": each} for each in DIFFICULTIES if f"{name}#{each}" not in _LEFT_OUT}
        super().__init__(f"{LIBRARY}/{slug_of(name)}", levels)
        self._name = name

    def begin(self, seed: int, **parameters: Any) -> tuple[Any, str]:
        """Returns a puzzle, and its rules, commands and grid."""
        from chuk_puzzles_gym.gym_env import PuzzleEnv  # noqa: PLC0415
        from chuk_puzzles_gym.models import SolverConfig  # noqa: PLC0415

        solver = SolverConfig(solver_allowed=False)
        game = PuzzleEnv(self._name, **parameters, solver_config=solver, reward_config=REWARDS)
        seen, _ = run(game.reset(seed=seed))
        return game, "\n\n".join((game.game.get_rules(), game.game.get_commands(), seen["render"]))

    def play(self, game: Any, text: str) -> Step:
        """Plays a command."""
        seen, reward, terminated, truncated, info = run(game.step(text))
        said = info.get("message") or info.get("error") or ""
        return Step(f"{said}\n\n{seen['render']}".strip(), float(reward), terminated or truncated, terminated)


def run(work: Coroutine[Any, Any, T]) -> T:
    """Runs a coroutine that waits for nothing, and returns its result."""
    try:
        work.send(None)
    except StopIteration as done:
        result: T = done.value
        return result
    work.close()
    raise RuntimeError("the library waits for something, which no driver of puzzles does")
