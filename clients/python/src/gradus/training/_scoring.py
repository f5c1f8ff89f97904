"""Scoring completions until each has a reward or a final reason why not; one operation for both worlds (0018)."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeVar

from gradus._call import curriculum_call, paged
from gradus._client_core import ClientCore
from gradus._op import Each, Item, Op, run_each
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

G = TypeVar("G")

GROUPS_MAX = 1024
"""Groups of a message, at most: the server's limit, unless it is configured."""

_CHARACTERS_MAX = 8_000_000
"""Characters of a message, about: a character takes at most four bytes, and the server takes 64 MiB."""

_ANOTHERS = ("conflicting_completion", "duplicate")
"""What the server says of an index that another process's completion has. Two processes may well have written the same
text, so that a duplicate is another's too: our own, after a lost reply, then counts at a second index, which costs one
sample of a group, where the other way round the group would wait for ever."""


class UnscoredError(Exception):
    """A completion has no reward, which is not the policy's doing, and its trainer cannot leave it out."""


@dataclass(frozen=True)
class WrittenCompletion:
    """A completion to be scored.

    `sample_index` says which of its group it is, from 0; None: that is not known, and a free one is taken.
    """

    task: TaskReference
    text: str
    sample_index: int | None = None
    finish_reason: FinishReason | None = None
    policy_version: int | None = None

    def __post_init__(self) -> None:
        """Raises TypeError for what is no text: later it would fail with all that goes with it."""
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
    """The reward; without one, what the trainer's configuration says stands for it.

    Raises
    ------
    UnscoredError
        If it has none and nothing is to stand for it.

    """
    if outcome.reward is not None:
        return outcome.reward
    if unscored is None:
        why = outcome.no_reward
        reason = "no reason is known" if why is None else f"{why.reason}: {why.detail}"
        raise UnscoredError(
            f"sample {outcome.sample_index} has no reward, which is no fault of the policy ({reason}), and this "
            "trainer has no place for that; `unscored` says which reward is to stand for it"
        )
    return unscored


def score(
    core: ClientCore, places: SampleIndices, written: Sequence[WrittenCompletion], patience: float
) -> Each[tuple[int, Outcome]]:
    """Scores completions, in messages that hold as many as may go together.

    Parameters
    ----------
    core
        The client's.
    places
        What this process knows of indices.
    written
        (n,), of any tasks.
    patience
        Seconds for which a server that is away is waited for, and a completion sent again that it asks to have again.
        Then its group is closed, so that the run does not wait for it.

    Yields
    ------
    tuple of int and Outcome
        The completion's position in `written`, and its outcome; as soon as it is final.

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
    """Outcomes of completions, (n,), for code that waits; see `score`."""
    outcomes = dict(run_each(score(client._core, places, written, patience)))
    return [outcomes[position] for position in range(len(written))]


def _index(written: WrittenCompletion, places: SampleIndices) -> int:
    return places.first(written.task) if written.sample_index is None else written.sample_index


def _send(core: ClientCore, tries: Sequence[_Try], seconds: float) -> Op[list[Outcome]]:
    """The outcomes of tries, in their order."""
    groups: dict[tuple[str, int], list[_Try]] = {}
    seen: dict[tuple[str, int], int] = {}
    for each in tries:
        place = (each.written.task.task_id, each.index)
        # An index may be in a group of the message once only.
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


def messages_of(groups: Iterable[G], length_of: Callable[[G], int], groups_max: int = GROUPS_MAX) -> Iterator[list[G]]:
    """Groups, as many as may go in a message; one is never parted, so that its advantages can be known."""
    message: list[G] = []
    characters = 0
    for group in groups:
        length = length_of(group)
        if message and (len(message) == groups_max or characters + length > _CHARACTERS_MAX):
            yield message
            message, characters = [], 0
        message.append(group)
        characters += length
    if message:
        yield message


def _length(tries: Iterable[_Try]) -> int:
    return sum(len(each.written.text) for each in tries)


def _group(tries: Iterable[_Try]) -> CompletionGroup:
    held = list(tries)
    task = held[0].written.task
    completions = tuple(
        Completion(each.index, each.written.text, each.written.finish_reason, each.written.policy_version)
        for each in held
    )
    return CompletionGroup(task.task_id, task.group_id, completions, task.num_generations, task.run_id)


def _give_up(core: ClientCore, task: TaskReference) -> Op[None]:
    """Closes the group of a sample that will not be sent again, which the run would otherwise wait for."""
    if task.run_id:
        reason = "the trainer got no score in time"
        request = cur.CloseGroupsRequest(run_id=task.run_id, group_ids=[task.group_id], reason=reason)
        # Nobody waits for a group of an evaluation arm, which cannot be closed, or of a run that is gone.
        with suppress(InvalidArgumentError, NotFoundError):
            yield from core.call(curriculum_call("CloseGroups", request, lambda _: None), {})


def _missing(core: ClientCore, task: TaskReference) -> Op[Sequence[int]]:
    """The indices that the group may still want; none where the server does not know it."""
    request = cur.GetGroupsRequest(run_id=task.run_id, group_ids=[task.group_id])
    try:
        groups, _ = yield from core.call(curriculum_call("GetGroups", request, paged("groups", RunGroup)), {})
    except InvalidArgumentError:
        # It is of an evaluation arm, of whose groups the server tells nothing.
        return range(task.num_generations)
    except GradusError:
        return ()
    return groups[0].missing if groups else ()
