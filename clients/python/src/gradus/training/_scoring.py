"""Scores completions until each has a reward or a final reason, for blocking code and asyncio (docs/decisions/0018)."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from gradus._call import curriculum_call, paged
from gradus._client_core import ClientCore
from gradus._op import Each, Item, Op, run_each
from gradus._portions import messages_of
from gradus._retries import AS_LONG_AS_THERE_IS_TIME
from gradus._texts import sendable
from gradus.client import Client
from gradus.enums import FinishReason
from gradus.errors import GradusError, InvalidArgumentError, NotFoundError
from gradus.groups import RunGroup
from gradus.outcomes import Outcome
from gradus.tasks import Completion, CompletionGroup
from gradus.training._indices import SampleIndices
from gradus.training._references import PATIENCE_SECONDS, TaskReference
from gradus.v1 import curriculum_pb2 as cur

_ANOTHERS = ("conflicting_completion", "duplicate")
"""Statuses of a completion whose index was taken, probably by another process: it is sent again at a free index.

"duplicate" is among the statuses, because two processes may write the same text. After a lost reply, the index may
instead hold this process's own completion. That completion then counts twice, and the group has one independent sample
less. If "duplicate" were not handled, the group would wait for ever for a completion that nobody sends.
"""


class UnscoredError(Exception):
    """A completion has no reward, e.g. because the judge failed, and its trainer cannot leave it out."""


@dataclass(frozen=True)
class WrittenCompletion:
    """A completion to be scored.

    `sample_index` is its index in its group, from 0; None: not known, and a free one is taken. `tokens`: see
    `Completion`.
    """

    task: TaskReference
    text: str
    sample_index: int | None = None
    finish_reason: FinishReason | None = None
    policy_version: int | None = None
    tokens: int | None = None

    def __post_init__(self) -> None:
        """Raises TypeError unless the text is a str. A later error would fail all completions of the same message."""
        place = "text" if self.sample_index is None else f"text of sample {self.sample_index}"
        text = sendable(self.text, place, f"group {self.task.group_id}")
        object.__setattr__(self, "text", text)


@dataclass(frozen=True)
class _Try:
    position: int
    written: WrittenCompletion
    index: int

    @property
    def placed(self) -> bool:
        return self.written.sample_index is None and self.written.task.run_id != ""


def reward_or(outcome: Outcome, unscored: float | None) -> float:
    """Returns the reward. Without one, returns the value from the trainer's configuration.

    Raises
    ------
    UnscoredError
        If there is no reward and `unscored` is None.
    ValueError
        If the episode is not over: the trainer must play it.

    """
    if outcome.turn is not None:
        raise ValueError(
            "the task has turns, and this trainer sends one completion of it: docs/guides/trainers.md says how each "
            "trainer plays episodes"
        )
    if outcome.reward is not None:
        return outcome.reward
    if unscored is None:
        why = outcome.no_reward
        reason = "no reason is known" if why is None else f"{why.reason}: {why.detail}"
        raise UnscoredError(
            f"sample {outcome.sample_index} could not be scored ({reason}), which is not the policy's fault. This "
            "trainer needs a reward for every sample: set `unscored` to the reward of such samples"
        )
    return unscored


def score(
    core: ClientCore, places: SampleIndices, written: Sequence[WrittenCompletion], patience: float
) -> Each[tuple[int, Outcome]]:
    """Scores completions, in messages that are as full as allowed.

    Parameters
    ----------
    core
        Core of the client.
    places
        Sample indices of groups that this process knows to be taken.
    written
        (n,), of any tasks.
    patience
        Maximum seconds to wait for an unreachable server, and to send a completion again if the server asks for that.
        Then the completion's group is closed, so that the run does not wait for it.

    Yields
    ------
    tuple of int and Outcome
        Position of the completion in `written`, and its outcome, as soon as it is final.

    """
    until = time.monotonic() + patience
    tries = [_Try(position, each, _index(each, places)) for position, each in enumerate(written)]
    while tries:
        outcomes = yield from _send(core, tries, max(1.0, until - time.monotonic()))
        again: list[_Try] = []
        delay = 0.0
        for each, outcome in zip(tries, outcomes, strict=True):
            wait = None if outcome.no_reward is None else outcome.no_reward.retry_delay
            if wait is not None and time.monotonic() + wait < until:
                again.append(each)
                delay = max(delay, wait)
                continue
            if wait is not None:
                yield from _give_up(core, each.written.task)
            elsewhere = None
            if each.placed and outcome.feedback in _ANOTHERS:
                elsewhere = places.among(each.written.task, (yield from _missing(core, each.written.task)))
            if elsewhere is None:
                yield Item((each.position, outcome))
            else:
                again.append(_Try(each.position, each.written, elsewhere))
        if delay > 0:
            yield core.io.sleep(delay)
        tries = again


def score_all(
    client: Client, places: SampleIndices, written: Sequence[WrittenCompletion], patience: float = PATIENCE_SECONDS
) -> list[Outcome]:
    """Returns outcomes of completions, (n,), for blocking code; see `score`."""
    outcomes = dict(run_each(score(client._core, places, written, patience)))
    return [outcomes[position] for position in range(len(written))]


def _index(written: WrittenCompletion, places: SampleIndices) -> int:
    return places.first(written.task) if written.sample_index is None else written.sample_index


def _send(core: ClientCore, tries: Sequence[_Try], seconds: float) -> Op[list[Outcome]]:
    """Sends completions, each at the index of its try. Returns their outcomes in order."""
    groups: dict[tuple[str, int], list[_Try]] = {}
    seen: dict[tuple[str, int], int] = {}
    for each in tries:
        place = (each.written.task.task_id, each.index)
        # A CompletionGroup may have each sample index only once, so a repeated index goes into another one.
        seen[place] = seen.get(place, -1) + 1
        groups.setdefault((each.written.task.task_id, seen[place]), []).append(each)
    by_position: dict[int, Outcome] = {}
    for message in messages_of(groups.values(), _length):
        results = yield from core.batch_step(
            [_group(each) for each in message], timeout=seconds, retries=AS_LONG_AS_THERE_IS_TIME
        )
        for group, result in zip(message, results, strict=True):
            by_position |= {each.position: outcome for each, outcome in zip(group, result.outcomes, strict=True)}
    return [by_position[each.position] for each in tries]


def _length(tries: Iterable[_Try]) -> int:
    return sum(len(each.written.text) for each in tries)


def _group(tries: Iterable[_Try]) -> CompletionGroup:
    held = list(tries)
    task = held[0].written.task
    completions = tuple(
        Completion(each.index, made.text, made.finish_reason, made.policy_version, made.tokens)
        for each in held
        for made in (each.written,)
    )
    return CompletionGroup(task.task_id, task.group_id, completions, task.num_generations, task.run_id)


def _give_up(core: ClientCore, task: TaskReference) -> Op[None]:
    """Closes the group of a sample that will not be sent again. Otherwise the run would wait for it."""
    if task.run_id:
        reason = "the trainer got no score in time"
        request = cur.CloseGroupsRequest(run_id=task.run_id, group_ids=[task.group_id], reason=reason)
        # Ignore a group of an evaluation arm, which cannot be closed, or of a deleted run: nobody waits for these.
        with suppress(InvalidArgumentError, NotFoundError):
            yield from core.call(curriculum_call("CloseGroups", request, lambda _: None), {})


def _missing(core: ClientCore, task: TaskReference) -> Op[Sequence[int]]:
    """Returns the indices that the group may still need; none if the server does not know the group."""
    request = cur.GetGroupsRequest(run_id=task.run_id, group_ids=[task.group_id])
    try:
        groups, _ = yield from core.call(curriculum_call("GetGroups", request, paged("groups", RunGroup)), {})
    except InvalidArgumentError:
        # The group belongs to an evaluation arm, about which the server reports nothing.
        return range(task.num_generations)
    except GradusError:
        return ()
    return groups[0].missing if groups else ()
