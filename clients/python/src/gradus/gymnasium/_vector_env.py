"""Many tasks at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from gradus._arguments import check_options
from gradus.arms import SpecOptions
from gradus.gymnasium._game import FAMILY, SERVER, Game, Shown, facts
from gradus.gymnasium._spaces import LENGTH_MAX, AnyText
from gradus.training import PATIENCE_SECONDS

if TYPE_CHECKING:
    from typing_extensions import Unpack


class TextVectorEnv(VectorEnv[tuple[str, ...], tuple[str, ...], "np.ndarray[Any, Any]"]):
    """Many tasks at a time, made and scored in one call each.

    Each step ends `num_envs` episodes and gives the next prompts (`AutoresetMode.SAME_STEP`, as in gymnasium's
    `SyncVectorEnv`). `infos["final_info"]` describes the completions, and the rest of `infos` the new tasks.
    `reset(seed=7)` gives the tasks of the seeds 7, 8, ….

    Parameters
    ----------
    environment
        See `TextEnv`.
    num_envs
        Number of tasks at a time. With a run: number of completions at a time; those of one task are adjacent.
    **others
        See `TextEnv`.

    Raises
    ------
    ValueError
        If the run would wait for ever, because `num_envs` completions at a time are too many for its feedback lag.

    """

    metadata: dict[str, Any] = {"autoreset_mode": AutoresetMode.SAME_STEP, "render_modes": []}  # noqa: RUF012

    def __init__(
        self,
        environment: str | None = None,
        *,
        num_envs: int = 1,
        address: str = SERVER,
        max_prompt_length: int = LENGTH_MAX,
        max_completion_length: int = LENGTH_MAX,
        unscored: float | None = None,
        patience: float = PATIENCE_SECONDS,
        render_mode: str | None = None,
        **family: Unpack[SpecOptions],
    ) -> None:
        check_options("TextVectorEnv", family, FAMILY)
        if render_mode is not None:
            raise ValueError(f"render_mode={render_mode!r}: only gradus.gymnasium.TextEnv renders")
        self.num_envs = num_envs
        self.single_observation_space = AnyText(max_prompt_length)
        self.single_action_space = AnyText(max_completion_length)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._game = Game(environment, address, max_prompt_length, unscored, patience, family, num_envs)
        self._shown: list[Shown] = []

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[tuple[str, ...], dict[str, Any]]:
        """Returns the next prompts and facts about their tasks. Unanswered prompts of a run come again."""
        super().reset(seed=seed)
        if options and "reset_mask" in options:
            raise ValueError("options['reset_mask']: all tasks end together here; reset without a mask")
        self._game.put_back(self._shown)
        return self._next(seed, {})

    def step(
        self, actions: tuple[str, ...]
    ) -> tuple[tuple[str, ...], np.ndarray[Any, Any], np.ndarray[Any, Any], np.ndarray[Any, Any], dict[str, Any]]:
        """Scores a completion of each prompt, and returns the next prompts."""
        if not self._shown:
            raise gym.error.ResetNeeded("call reset() before the first step()")
        played = self._game.play(self._shown, actions)
        infos: dict[str, Any] = {}
        for place, (outcome, _) in enumerate(played):
            infos = self._add_info(infos, {"final_obs": "", "final_info": facts(outcome)}, place)
        prompts, infos = self._next(None, infos)
        rewards = np.array([reward for _, reward in played], dtype=np.float64)
        truncated = np.array([outcome.truncated for outcome, _ in played], dtype=np.bool_)
        return prompts, rewards, np.ones(self.num_envs, dtype=np.bool_), truncated, infos

    def close_extras(self, **_: Any) -> None:
        """Closes the connection."""
        self._game.client.close()

    def _next(self, seed: int | None, infos: dict[str, Any]) -> tuple[tuple[str, ...], dict[str, Any]]:
        self._shown = self._game.show(self.num_envs, seed, self.np_random)
        for place, each in enumerate(self._shown):
            infos = self._add_info(infos, each.info(), place)
        return tuple(each.prompt for each in self._shown), infos
