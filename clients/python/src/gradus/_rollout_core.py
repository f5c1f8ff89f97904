"""The operation that plays episodes, without I/O."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from gradus._arguments import CallOptions, listed, made_by, shown
from gradus._call import Call, environment_call
from gradus._call_maker import CallMaker
from gradus._op import Op
from gradus._portions import messages_of
from gradus._retries import Deadline
from gradus.outcomes import Outcome
from gradus.rollouts import EpisodePosition, Generated, PlayedEpisode, PolicyTurn, spoken, turn_of
from gradus.tasks import Task
from gradus.v1 import environment_pb2, task_pb2

if TYPE_CHECKING:
    from typing_extensions import Unpack


@dataclass(frozen=True)
class _Going:
    """An episode that is not over.

    `place`: its number among the episodes that are played together. `tokens`: number of tokens of its completions so
    far; None: not known.
    """

    place: int
    position: EpisodePosition
    task_id: str
    written: tuple[int, ...] = ()
    transcript: tuple[task_pb2.ChatMessage, ...] = ()
    tokens: int | None = 0

    def after(self, turn: PolicyTurn, outcome: Outcome) -> _Going | PlayedEpisode:
        """Returns the episode after a completion."""
        position, next_turn = self.position, outcome.turn
        written = (*self.written, len(position.messages))
        messages = [*position.messages, turn.to_message()]
        if next_turn is None:
            return PlayedEpisode(position.sample_index, messages, written, outcome)
        messages += next_turn.messages
        position = replace(position, messages=messages, calls_left=next_turn.calls_left)
        said = spoken(replace(turn, message=None).to_message())
        transcript = (*self.transcript, said, *map(spoken, next_turn.messages, next_turn.rewards))
        return _Going(self.place, position, next_turn.task_id, written, transcript, turn.tokens)


@dataclass(frozen=True)
class Sent:
    """A completion with its task, and the number of completions of its group; 0: the `num_generations` of its run."""

    task: Task
    completion: environment_pb2.Completion
    size: int


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

        If the server asks for a completion again, it is sent again with the same id after the server's delay. If the
        sample still has no reward, its episode ends with `outcome.no_reward`, and the others go on. Each completion is
        sent with the conversation before it, which a server with `--keep-samples` keeps for people to read.

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
            If the server cannot be reached within `timeout`. The same task can be played again.

        """
        starts = starts_of(task, samples)
        return self.play(starts, generate, group_size(starts), options)

    def play(
        self,
        starts: Sequence[EpisodePosition],
        generate: Callable[[list[EpisodePosition]], Any],
        size: int,
        options: CallOptions,
    ) -> Op[list[PlayedEpisode]]:
        """Plays episodes of any tasks together, see `rollout`. A task's group has `size` samples; 0: as its run says.

        For asyncio, `generate` may return an awaitable.
        """
        going = [_Going(place, each, each.task.task_id) for place, each in enumerate(starts)]
        played: dict[int, PlayedEpisode] = {}
        while going:
            generated = yield generate([each.position for each in going])
            if len(generated) != len(going):
                raise ValueError(f"generate: want {len(going)} completions, one per position; got {len(generated)}")
            turns = [turn_of(made).after(each.tokens) for each, made in zip(going, generated, strict=True)]
            sent = [
                Sent(
                    each.position.task,
                    turn.to_proto(
                        each.position.sample_index,
                        each.task_id,
                        each.position.sample_key,
                        transcript=each.transcript,
                        share=len(going),
                    ),
                    size,
                )
                for each, turn in zip(going, turns, strict=True)
            ]
            outcomes = yield from self.scored(sent, options)
            after = [each.after(turn, made) for each, turn, made in zip(going, turns, outcomes, strict=True)]
            ended = zip(going, after, strict=True)
            played |= {was.place: each for was, each in ended if isinstance(each, PlayedEpisode)}
            going = [each for each in after if isinstance(each, _Going)]
        return [played[place] for place in range(len(starts))]

    def scored(self, sent: Sequence[Sent], options: CallOptions) -> Op[list[Outcome]]:
        """Sends completions until all outcomes are final, or time or retries end. Returns the outcomes in order."""
        timeout, retries = self.limits(options)
        deadline = Deadline(timeout)
        found: dict[int, Outcome] = {}
        left, tries = list(range(len(sent))), 0
        while True:
            limits: CallOptions = {"timeout": max(1.0, deadline.left()) if tries else timeout, "retries": retries}
            outcomes = yield from self._asked([sent[place] for place in left], limits)
            found |= dict(zip(left, outcomes, strict=True))
            delays = {place: each.no_reward.retry_delay for place, each in found.items() if each.no_reward}
            left = [place for place in left if delays.get(place) is not None]
            delay = max((delays[place] or 0.0 for place in left), default=0.0)
            if not left or delay >= deadline.left() or (retries is not None and tries >= retries):
                break
            tries += 1
            yield self.io.sleep(delay)
        for run_id in {each.task.run_id for each in sent}:
            of_run = [found[place] for place, each in enumerate(sent) if each.task.run_id == run_id]
            error = self.feedback.note(run_id, of_run)
            if error is not None:
                raise error
        return [found[place] for place in range(len(sent))]

    def _asked(self, sent: Sequence[Sent], limits: CallOptions) -> Op[list[Outcome]]:
        """Sends completions once, with those of a group together, and returns their outcomes in order."""
        groups: dict[tuple[str, str, int], list[int]] = {}
        seen: dict[tuple[str, str, int], int] = {}
        for place, each in enumerate(sent):
            task, index = each.task, each.completion.sample_index
            # A CompletionGroup may have each sample index only once, so a repeated index goes into another group.
            times = seen[task.group_id, task.task_id, index] = seen.get((task.group_id, task.task_id, index), -1) + 1
            groups.setdefault((task.group_id, task.task_id, times), []).append(place)

        def call(places: list[list[int]]) -> Call[list[tuple[int, Outcome]]]:
            request = environment_pb2.BatchStepRequest()
            for group in places:
                first = sent[group[0]]
                completions = [sent[place].completion for place in group]
                request.groups.add(group_id=first.task.group_id, num_generations=first.size, completions=completions)

            def read(response: Any) -> list[tuple[int, Outcome]]:
                outcomes = [Outcome.from_proto(each) for group in response.groups for each in group.outcomes]
                return list(zip((place for group in places for place in group), outcomes, strict=True))

            return environment_call("BatchStep", request, read)

        def length(group: list[int]) -> int:
            return sum(len(sent[place].completion.text) for place in group)

        replies = yield from self.calls(map(call, messages_of(groups.values(), length)), limits)
        outcomes = dict(pair for reply in replies for pair in reply)
        return [outcomes[place] for place in range(len(sent))]


def starts_of(task: Task, samples: Iterable[int]) -> list[EpisodePosition]:
    """Returns for each sample of a task the position at which its episode begins."""
    if not isinstance(task, Task):
        raise TypeError(f"task: want {made_by(Task)}; got {shown(task)}")
    return [EpisodePosition(task, index, task.prompt, task.calls_max) for index in listed(samples, int, "samples")]


def group_size(starts: Sequence[EpisodePosition]) -> int:
    """Returns the number of completions of a task's group, to send to the server; 0: the run's `num_generations`."""
    return 0 if not starts or starts[0].task.run_id else max(each.sample_index for each in starts) + 1
