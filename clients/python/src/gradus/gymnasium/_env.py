"""One environment with one task at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import gymnasium as gym

from gradus._arguments import check_options
from gradus.arms import SpecOptions
from gradus.enums import TextTools
from gradus.gymnasium._game import FAMILY, SERVER, Game, Shown, facts
from gradus.gymnasium._spaces import LENGTH_MAX, AnyText
from gradus.training import PATIENCE_SECONDS, Place

if TYPE_CHECKING:
    from typing_extensions import Unpack


class TextEnv(gym.Env[str, str]):
    """One task at a time. `reset(seed=7)` gives the task of seed 7, as `Client.reset` does.

    A step is a completion. An episode of a task with turns has several: an observation is then the reply to the last
    completion, and the last step's reward is the return of the whole episode.

    Parameters
    ----------
    environment
        Environment that makes the tasks, e.g. "countdown". None: tasks come from the run at `address`, each as often as
        the run's `num_generations`, and seeds have no effect.
    address
        Address of the server or of a run, see `gradus.training.RunAddress`.
    max_prompt_length, max_completion_length
        Maximum lengths of observations and actions, in characters. A longer prompt raises a ValueError.
    unscored
        Reward to use if the server could not score a completion; None: raise an `UnscoredError`.
    patience
        Maximum seconds for which a completion is sent again while the server asks for it.
    render_mode
        "ansi": `render` returns the prompt and the completion as text.
    text_tools
        Format of tool calls that the server reads from completions, "hermes"; None: it reads none.
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
        text_tools: TextTools | None = None,
        **family: Unpack[SpecOptions],
    ) -> None:
        check_options("TextEnv", family, FAMILY)
        self.observation_space = AnyText(max_prompt_length)
        self.action_space = AnyText(max_completion_length)
        self.render_mode = render_mode
        self._game = Game(environment, address, max_prompt_length, unscored, patience, family, 1)
        self._shown: Shown | None = None
        self._completion = ""
        self._text_tools = text_tools
        self._place: Place | None = None
        self._reply = ""

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        """Returns the next prompt and facts about its task. If a run's last prompt was not answered, it comes again."""
        super().reset(seed=seed)
        if self._shown is not None:
            self._game.put_back([self._shown])
        (self._shown,) = self._game.show(1, seed, self.np_random)
        self._place, self._completion, self._reply = self._shown.place, "", ""
        return self._shown.prompt, self._shown.info()

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Scores a completion, a text or a `WrittenText`. After the last one the observation is empty."""
        if self._shown is None or self._place is None:
            raise gym.error.ResetNeeded("the episode is over: call reset() before the next step()")
        # The episode's position stays until the completion is scored, so a step that fails can be repeated.
        if not self._shown.task.calls_max:
            ((outcome, reward),) = self._game.play([self._shown], [action])
            self._place = None
        else:
            self._place, outcome, reward = self._game.go_on(self._shown, self._place, action, self._text_tools)
        self._completion = action
        turn = outcome.turn
        self._reply = "" if turn is None else "\n\n".join(each["content"] for each in turn.messages)
        if self._place is None:
            self._shown = None
        return self._reply, reward, self._place is None, outcome.truncated, facts(outcome)

    def snapshot(self) -> str:
        """Returns the position of the episode as text. Any process with the same server can continue from it."""
        if self._place is None:
            raise gym.error.ResetNeeded("there is no episode to keep: call reset()")
        return self._place.to_text()

    def restore(self, snapshot: str) -> None:
        """Continues from a position. Outside runs, several environments may continue from one position; each is scored.

        Raises
        ------
        ValueError
            If the text was not returned by `snapshot`.

        """
        self._place = Place.from_text(snapshot)
        self._shown, self._completion, self._reply = self._game.shown_at(self._place), "", ""

    def render(self) -> str:
        """Returns the prompt, the last completion and its reply; after the episode only the completion."""
        return f"{self._shown.prompt if self._shown else ''}{self._completion}{self._reply}"

    def close(self) -> None:
        """Closes the connection. A later call opens another."""
        self._game.client.close()
