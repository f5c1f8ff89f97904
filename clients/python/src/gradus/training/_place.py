"""The position of an episode of several steps, as a text from which any process can continue."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

from gradus._op import run
from gradus._rollout_core import Sent
from gradus.client import Client
from gradus.outcomes import Outcome
from gradus.rollouts import PolicyTurn
from gradus.tasks import Task


@dataclass(frozen=True)
class Place:
    """Position of an episode.

    Attributes
    ----------
    task
        The first task of the episode.
    sample_index
        Index of the sample in its group.
    size
        Size of the group.
    task_id
        Id of the task for the next completion, which contains the whole state of the episode.
    sample_key
        Random name of a sample whose index is not known; "": the index is known.
    tokens
        Number of tokens of the episode's completions so far; None: not known.

    """

    task: Task
    sample_index: int
    size: int
    task_id: str
    sample_key: str = ""
    tokens: int | None = 0

    def to_text(self) -> str:
        """Returns the position as text."""
        return json.dumps({**self.__dict__, "task": self.task.to_json()}, ensure_ascii=False)

    @staticmethod
    def from_text(text: str) -> Place:
        """Returns the position from the text of `to_text`. Raises ValueError for any other text."""
        try:
            read: Any = json.loads(text)
            # Texts of older versions do not have the number of tokens.
            return Place(**{"tokens": None, **read, "task": Task.from_json(read["task"])})
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"the text is no snapshot of an episode: {error}") from None

    def after(self, client: Client, turn: PolicyTurn, patience: float) -> tuple[Place | None, Outcome]:
        """Sends a completion. Returns the next position, or None if the episode is over, and the outcome.

        If the server still asks for the sample again after `patience` seconds, its group is closed, because the run
        would wait for it.
        """
        turn = turn.after(self.tokens)
        sent = Sent(self.task, turn.to_proto(self.sample_index, self.task_id, self.sample_key), self.size)
        (outcome,) = run(client._core.scored([sent], {"timeout": patience}))
        if outcome.turn is not None:
            return replace(self, task_id=outcome.turn.task_id, tokens=turn.tokens), outcome
        lost = outcome.no_reward is not None and outcome.no_reward.retry_delay is not None
        if lost and self.task.run_id and self.task.evaluation_round is None:
            client.run(self.task.run_id).close_groups([self.task.group_id], "the environment got no score in time")
        return None, outcome
