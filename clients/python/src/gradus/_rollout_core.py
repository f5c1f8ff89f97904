"""The operation that plays episodes, without I/O."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from gradus._arguments import CallOptions, listed, made_by, shown
from gradus._call import environment_call
from gradus._call_maker import CallMaker
from gradus._op import Op
from gradus._retries import Deadline
from gradus.outcomes import Outcome
from gradus.rollouts import EpisodePosition, Generated, PlayedEpisode, PolicyTurn, turn_of
from gradus.tasks import Task
from gradus.v1 import environment_pb2

if TYPE_CHECKING:
    from typing_extensions import Unpack


@dataclass(frozen=True)
class _Going:
    """An episode that is not over."""

    position: EpisodePosition
    task_id: str
    written: tuple[int, ...] = ()

    def after(self, turn: PolicyTurn, outcome: Outcome) -> _Going | PlayedEpisode:
        """Returns the episode after a completion."""
        position, next_turn = self.position, outcome.turn
        written = (*self.written, len(position.messages))
        messages = [*position.messages, turn.to_message()]
        if next_turn is None:
            return PlayedEpisode(position.sample_index, messages, written, outcome)
        messages += next_turn.messages
        return _Going(replace(position, messages=messages, calls_left=next_turn.calls_left), next_turn.task_id, written)


class RolloutCore(CallMaker):
    """The operation of a client that plays episodes."""

    def rollout(
        self,
        task: Task,
        generate: Callable[[list[EpisodePosition]], Sequence[Generated]],
        samples: Iterable[int] = (0,),
        **options: Unpack[CallOptions],
    ) -> Op[list[PlayedEpisode]]:
        """Plays the episodes of a task's samples together, until each has its score.

        A completion that the server asks to have again is sent again with the same id after the server's delay. The
        episode of a sample that then has no reward ends with `outcome.no_reward`, and the others go on.

        Parameters
        ----------
        task
            The task, with or without turns.
        generate
            Gets the positions of all episodes that are not over, and returns the policy's next completion of each, in
            order: a `PolicyTurn`, a message in OpenAI's form, or a text.
        samples
            Indices of the samples, in the order of the results; e.g. `range(8)`.
        **options
            For each completion: `timeout` (seconds) until its outcome, and `retries`, in place of the client's.

        Returns
        -------
        list of PlayedEpisode
            (n,), in the order of `samples`.

        Raises
        ------
        FeedbackError
            If a run did not record a score and the client was made with `on_feedback="raise"`.
        GradusError
            If the server cannot be reached for so long. The same task can be played again.

        """
        if not isinstance(task, Task):
            raise TypeError(f"task: want {made_by(Task)}; got {shown(task)}")
        indices = listed(samples, int, "samples")
        return self.play(task, generate, indices, group_size(task, indices), options)

    def play(
        self,
        task: Task,
        generate: Callable[[list[EpisodePosition]], Any],
        samples: Sequence[int],
        size: int,
        options: CallOptions,
    ) -> Op[list[PlayedEpisode]]:
        """Plays samples of a group of `size`, see `rollout`. The Io awaits what `generate` returns if necessary."""
        going = [_Going(EpisodePosition(task, i, task.prompt, task.calls_max), task.task_id) for i in samples]
        played: dict[int, PlayedEpisode] = {}
        while going:
            generated = yield generate([each.position for each in going])
            if len(generated) != len(going):
                raise ValueError(f"generate: want {len(going)} completions, one a position; got {len(generated)}")
            turns = [*map(turn_of, generated)]
            completions = [
                turn.to_proto(each.position.sample_index, each.task_id) for each, turn in zip(going, turns, strict=True)
            ]
            outcomes = yield from self._scored(task, completions, size, options)
            after = [each.after(turn, made) for each, turn, made in zip(going, turns, outcomes, strict=True)]
            going = [each for each in after if isinstance(each, _Going)]
            played |= {each.sample_index: each for each in after if isinstance(each, PlayedEpisode)}
        return [played[index] for index in samples]

    def _scored(
        self, task: Task, completions: list[environment_pb2.Completion], size: int, options: CallOptions
    ) -> Op[list[Outcome]]:
        """Sends completions of different samples until each outcome is final, and returns the outcomes in order."""
        timeout, retries = self.limits(options)
        deadline = Deadline(timeout)
        found: dict[int, Outcome] = {}
        left, tries = completions, 0
        while True:
            request = environment_pb2.BatchStepRequest()
            request.groups.add(group_id=task.group_id, num_generations=size, completions=left)
            limits: CallOptions = {"timeout": max(1.0, deadline.left()) if tries else timeout, "retries": retries}
            outcomes: list[Outcome] = yield from self.call(environment_call("BatchStep", request, _outcomes), limits)
            found |= {each.sample_index: each for each in outcomes}
            delays = {each.sample_index: each.no_reward.retry_delay for each in outcomes if each.no_reward}
            left = [each for each in left if delays.get(each.sample_index) is not None]
            delay = max((wait for wait in delays.values() if wait is not None), default=0.0)
            if not left or delay >= deadline.left() or (retries is not None and tries >= retries):
                break
            tries += 1
            yield self.io.sleep(delay)
        error = self.feedback.note(task.run_id, found.values())
        if error is not None:
            raise error
        return [found[each.sample_index] for each in completions]


def group_size(task: Task, samples: Iterable[int]) -> int:
    """Returns the size of the group for the server; 0: the run's."""
    return 0 if task.run_id else max(samples, default=0) + 1


def _outcomes(response: Any) -> list[Outcome]:
    return [*map(Outcome.from_proto, response.groups[0].outcomes)]
