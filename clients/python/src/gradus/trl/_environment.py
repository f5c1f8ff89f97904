"""An environment for TRL's `environment_factory`, in which the policy answers by calling a tool."""

from __future__ import annotations

from typing import Any


class AnswerEnvironment:
    """One rollout of a task, whose response is what the policy submits.

    TRL makes one for each completion that is written at a time, and uses it again. The reward function of the same
    `GradusSpec` scores `response`, and a completion that submitted nothing as an empty one.

    Attributes
    ----------
    response
        Last submission; None: there was none.

    """

    def __init__(self) -> None:
        self.response: str | None = None

    def reset(self, **_: Any) -> None:
        """Begins another rollout. The prompt is in the data set's row already."""
        self.response = None

    # TRL makes the tool's schema of this docstring, and wants it in this style.
    def submit(self, response: str) -> str:
        """Submit your response to the task.

        Args:
            response: The whole response, in the format that the task asks for.

        Returns:
            A note that it came in.

        """
        self.response = response
        return "Submitted."
