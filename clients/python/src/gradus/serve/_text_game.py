"""Environments whose tasks are episodes of a game with Gymnasium's `reset` and `step`, which is played by texts."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from typing import Any, ClassVar

from gradus.serve._environment import Environment
from gradus.serve._turns import Action, Turn

SEED_BITS = 31


@dataclass
class _Playing:
    """A game in progress, with the sum of its rewards so far."""

    game: Any
    total: float = 0.0


class TextGame(Environment):
    """Base class for games of other libraries that have Gymnasium's `reset(seed=...)` and `step(action)`.

    Each marked answer of the policy is an action. The task id has the seed and the answers so far; a process keeps
    games in progress, and plays a missing one again. So the seed must decide all chance of a game.

    The result of a call is the sum of the game's rewards so far, scaled to [0, 1] by `reward_range`. With the reward
    scheme `last`, which is the default, the return of a task is therefore that of its episode.

    Examples
    --------
    >>> class Lake(TextGame):
    ...     id = "mine/lake"
    ...     def make(self):
    ...         return gymnasium.make("FrozenLake-v1", is_slippery=False)
    ...     def action(self, game, text):
    ...         return {"left": 0, "down": 1, "right": 2, "up": 3}[text]

    """

    replay = True
    calls_max = 20
    action_bytes = 100
    components = ("score",)
    reward_range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    """Smallest and largest sum of rewards of an episode."""

    def make(self, *args: Any, **parameters: Any) -> Any:
        """`make(self, **parameters)`: a new game; the parameters are the level's."""
        raise NotImplementedError(f"{type(self).__name__} has no make")

    def action(self, game: Any, text: str) -> Any:
        """Returns the action that a text names; by default the text. A ValueError or KeyError becomes a reply."""
        return text

    def show(self, game: Any, observation: Any) -> str:
        """Returns an observation as text."""
        return str(observation)

    def generate(self, rng: random.Random, **parameters: Any) -> Any:
        """Returns a seed, and what the game shows at its start."""
        instance = {"seed": rng.getrandbits(SEED_BITS), "parameters": parameters}
        return {**instance, "shown": self._begin(instance)[1]}

    def prompt(self, instance: Any) -> str:
        """Returns what the game shows at its start."""
        return str(instance["shown"])

    def start(self, instance: Any) -> Any:
        """Returns the game at its start."""
        game, shown = self._begin(instance)
        if shown != instance["shown"]:
            raise ValueError("a reset with the same seed shows something else, so tasks do not follow from seeds")
        return _Playing(game)

    def advance(self, instance: Any, state: Any, action: Action) -> Turn:
        """Plays an action. The reply to an invalid action says why it is invalid, and the game does not change."""
        try:
            chosen = self.action(state.game, action.text)
        except (ValueError, KeyError) as error:
            return Turn(f"This is no action: {error}.")
        observation, reward, terminated, truncated, *_ = state.game.step(chosen)
        state.total += float(reward)
        return Turn(
            self.show(state.game, observation), over=bool(terminated or truncated), result=self._share(state.total)
        )

    def _begin(self, instance: Any) -> tuple[Any, str]:
        game = self.make(**instance["parameters"])
        observation, *_ = game.reset(seed=instance["seed"])
        return game, self.show(game, observation)

    def _share(self, total: float) -> float:
        low, high = self.reward_range
        share = (total - low) / (high - low)
        if not (math.isfinite(share) and 0 <= share <= 1):
            raise ValueError(f"rewards add up to {total:g}, outside of reward_range = ({low:g}, {high:g}): widen it")
        return share
