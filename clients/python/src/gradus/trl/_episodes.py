"""Environments for TRL's `environment_factory` whose tools are those of the run's tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from gradus._op import run
from gradus._retries import AS_LONG_AS_THERE_IS_TIME
from gradus._rollout_core import Sent
from gradus.client import Client
from gradus.enums import FinishReason
from gradus.errors import GradusError
from gradus.outcomes import Outcome
from gradus.rollouts import PolicyTurn
from gradus.tasks import Task, Tool
from gradus.training import index_in_group
from gradus.trl._tools import method_of

_OVER = "over "
"""A word of at least one token, which `Environments.last_words` repeats to end a completion."""


class Rounds(Protocol):
    """Has the current optimizer step (`step`), and finds the tasks of the evaluation round of a step."""

    step: int

    def in_round(self, task: Task, step: int) -> Task:
        """Returns the task, or for a task of an evaluation arm the same task of the step's round."""


class Episode:
    """An episode of a task. Subclasses have the task's tools as methods. TRL uses one object for many completions.

    Attributes
    ----------
    task
        The first task of the episode.
    outcome
        Outcome of the whole episode; None: it is not over.
    failure
        Error that ended the episode, e.g. of the connection. The reward function raises it, because TRL would show an
        exception to the policy.

    """

    def __init__(self, pool: Environments, place: int) -> None:
        self._pool = pool
        self._place = place
        self._task_id = ""
        self.task: Task | None = None
        self.outcome: Outcome | None = None
        self.failure: GradusError | None = None

    def reset(self, *, gradus_task: str, **_: Any) -> None:
        """Begins another episode. Returns no text, because the data set's row has the prompt."""
        self.task = self._pool.task_of(gradus_task)
        self._task_id = self.task.task_id
        self.outcome = self.failure = None
        # TRL resets the environments of a batch in order, before it generates. So the last reset tells the batch's
        # size.
        self._pool.size = self._place + 1

    def _send(self, turn: PolicyTurn) -> str:
        """Sends a completion.

        Returns the reply to the policy. After the end or a failure, returns a text that stops TRL.
        """
        if self.outcome is None and self.failure is None:
            try:
                outcome = self._pool.step(self.task, self._task_id, self._place, turn)  # type: ignore[arg-type]
            except GradusError as error:
                self.failure = error
            else:
                if outcome.turn is not None:
                    self._task_id = outcome.turn.task_id
                    return "\n".join(each["content"] for each in outcome.turn.messages)
                self.outcome = outcome
        return self._pool.last_words


class Environments:
    """Makes the environments of a trainer, for `environment_factory`.

    TRL gives the rows of a batch to environments in the order in which they were made. So the number of an environment
    is the position of its sample on its rank.

    Parameters
    ----------
    client
        Server of the tasks.
    tools
        Tools of the run's tasks.
    patience
        Maximum seconds to wait for an unreachable server, and to send a completion again if the server asks for that.
    rounds
        Finds the task of an optimizer step's evaluation round.

    Attributes
    ----------
    size
        Number of samples in the batch on this rank.

    Raises
    ------
    ValueError
        If a tool cannot be a method.

    """

    def __init__(self, client: Client, tools: Sequence[Tool], patience: float, rounds: Rounds) -> None:
        self._client = client
        self._patience = patience
        self._rounds = rounds
        self._kind = type("GradusEpisode", (Episode,), {each.name: method_of(each) for each in tools})
        self._made = 0
        self._args: Any = None
        self.size = 0

    def __call__(self) -> Episode:
        """Returns the next environment."""
        self._made += 1
        made: Episode = self._kind(self, self._made - 1)
        return made

    def connect(self, args: Any) -> None:
        """Checks and stores the trainer's settings."""
        if not (args.chat_template_kwargs or {}).get("sanitize_control_tokens"):
            raise ValueError(
                "chat_template_kwargs lacks sanitize_control_tokens=True, so a reply could hold control tokens that "
                "the policy wrote: take the settings of GradusSpec.config()"
            )
        self._args = args

    @property
    def last_words(self) -> str:
        """A tool's result that is longer than the maximum of a completion.

        TRL drops a result that is too long, and ends the completion.
        """
        length: int = self._args.max_completion_length
        return _OVER * (length + 1)

    def task_of(self, row: str) -> Task:
        """Returns the task that a row of the data set holds as JSON."""
        return self._rounds.in_round(Task.from_json(row), self._rounds.step)

    def step(self, task: Task, task_id: str, place: int, turn: PolicyTurn) -> Outcome:
        """Sends a completion of the sample at a position in the batch."""
        return self._scored([self._sent(task, task_id, place, turn)])[0]

    def finish(
        self, episodes: Sequence[Episode], completions: Sequence[Any], reasons: Sequence[FinishReason]
    ) -> list[Outcome]:
        """Ends the open episodes, each with the last message of its completion. Returns the outcomes of all episodes.

        Raises
        ------
        GradusError
            If the server could not be reached during an episode.

        """
        for place, each in enumerate(episodes):
            if each._place != place:
                raise RuntimeError(
                    f"TRL gave row {place} of a batch to environment {each._place}, so samples have the wrong index: "
                    "this version of TRL needs rollout_func=spec.rollout_func"
                )
            if each.failure is not None:
                raise each.failure
        open_ones = [(place, each) for place, each in enumerate(episodes) if each.outcome is None]
        sent = [
            self._sent(each.task, each._task_id, place, _last_turn(completions[place], reasons[place]))  # type: ignore[arg-type]
            for place, each in open_ones
        ]
        for (_, each), outcome in zip(open_ones, self._scored(sent) if sent else [], strict=True):
            each.outcome = outcome
        return [each.outcome for each in episodes if each.outcome is not None]

    def _sent(self, task: Task, task_id: str, place: int, turn: PolicyTurn) -> Sent:
        args = self._args
        size = args.num_generations if task.evaluation_round is None else args.num_generations_eval
        index = index_in_group(place, args.process_index, self.size, size or args.num_generations)
        written = replace(turn, policy_version=self._rounds.step)
        return Sent(task, written.to_proto(index, task_id), size or args.num_generations)

    def _scored(self, sent: Sequence[Sent]) -> list[Outcome]:
        return run(self._client._core.scored(sent, {"timeout": self._patience, "retries": AS_LONG_AS_THERE_IS_TIME}))


def _last_turn(completion: Sequence[Mapping[str, Any]], reason: FinishReason) -> PolicyTurn:
    """Returns the completion's last message, with an empty text if it made tool calls, which were sent already."""
    last = completion[-1]
    text = "" if last["role"] != "assistant" or last.get("tool_calls") else PolicyTurn.of_message(last).text
    return PolicyTurn(text, finish_reason=reason, end=True)
