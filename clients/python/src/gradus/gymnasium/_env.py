"""One environment with one task at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import gymnasium as gym

from gradus._arguments import check_options
from gradus.arms import SpecOptions
from gradus.gymnasium._game import FAMILY, SERVER, Game, Shown, facts
from gradus.gymnasium._spaces import LENGTH_MAX, AnyText
from gradus.training import PATIENCE_SECONDS

if TYPE_CHECKING:
    from typing_extensions import Unpack


class TextEnv(gym.Env[str, str]):
    """One task at a time. `reset(seed=7)` gives the task of seed 7, as `Client.reset` does.

    Parameters
    ----------
    environment
        Environment that gives the tasks, e.g. "countdown". None: the run at `address` gives them, each as often as the
        run has generations; seeds then change nothing.
    address
        Address of the server or of a run, see `gradus.training.RunAddress`.
    max_prompt_length, max_completion_length
        Maximum lengths of observations and actions, in characters. A longer prompt raises a ValueError.
    unscored
        Reward to use if the server could not score a completion; None: raise an `UnscoredError`.
    patience
        Seconds for which a completion is sent again, if the server asks for that.
    render_mode
        "ansi": `render` gives the prompt and the completion as text.
    **family
        `level` or `parameters`, `split`, …, see `gradus.task_spec`.

    """

    metadata: dict[str, Any] = {"render_modes": ["ansi"], "render_fps": 1}  # noqa: RUF012

    def __init__(
        self,
        environment: str | None = None,
        *,
        address: str = SERVER,
        max_prompt_length: int = LENGTH_MAX,
        max_completion_length: int = LENGTH_MAX,
        unscored: float | None = None,
        patience: float = PATIENCE_SECONDS,
        render_mode: str | None = None,
        **family: Unpack[SpecOptions],
    ) -> None:
        check_options("TextEnv", family, FAMILY)
        self.observation_space = AnyText(max_prompt_length)
        self.action_space = AnyText(max_completion_length)
        self.render_mode = render_mode
        self._game = Game(environment, address, max_prompt_length, unscored, patience, family, 1)
        self._shown: Shown | None = None
        self._completion = ""

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        """Returns the next prompt and facts about its task; an unanswered prompt of a run comes again."""
        super().reset(seed=seed)
        if self._shown is not None:
            self._game.put_back([self._shown])
        (self._shown,) = self._game.show(1, seed, self.np_random)
        self._completion = ""
        return self._shown.prompt, self._shown.info()

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Scores a completion, a text or a `WrittenText`. The episode is then over, and the observation empty."""
        if self._shown is None:
            raise gym.error.ResetNeeded("an episode is one completion: call reset() before each step()")
        # A step that fails can be repeated: the prompt waits until a completion is scored.
        ((outcome, reward),) = self._game.play([self._shown], [action])
        self._shown, self._completion = None, action
        return "", reward, True, outcome.truncated, facts(outcome)

    def render(self) -> str:
        """Returns the prompt and the completion; after the episode only the completion."""
        return f"{self._shown.prompt if self._shown else ''}{self._completion}"

    def close(self) -> None:
        """Closes the connection. A later call opens another."""
        self._game.client.close()
