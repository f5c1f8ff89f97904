"""An environment for TRL's `environment_factory`, in which the policy answers by calling a tool."""

from __future__ import annotations

from typing import Any


class AnswerEnvironment:
    """One rollout of a task, in which the policy submits its response by a tool call.

    TRL makes one for each concurrent completion, and uses it again. The reward function of the same `GradusSpec` scores
    `response`; if there is none, the empty text.

    Attributes
    ----------
    response
        Last submission; None: there was none.

    """

    def __init__(self) -> None:
        self.response: str | None = None

    def reset(self, **_: Any) -> None:
        """Begins another rollout. Returns no text, because the data set's row has the prompt."""
        self.response = None

    # TRL makes the tool's schema from this docstring, which must be in this style.
    def submit(self, response: str) -> str:
        """Submit your response to the task.

        Args:
            response: The whole response, in the format that the task asks for.

        Returns:
            A note that it came in.

        """
        self.response = response
        return "Submitted."
