"""Scores a trainer's completions, each with its index in its group."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from gradus._arguments import CallOptions
from gradus._op import run
from gradus._portions import GROUPS_MAX, messages_of
from gradus._retries import AS_LONG_AS_THERE_IS_TIME
from gradus.client import Client
from gradus.enums import FinishReason
from gradus.errors import InvalidArgumentError
from gradus.outcomes import ContrastPair, Reward, rewards_of
from gradus.tasks import Completion, CompletionGroup, Task
from gradus.training import index_in_group

ASK_AGAIN_SECONDS = 1.0
"""Minimum delay in seconds before a sample is sent again."""

_MESSAGES = 2
"""Maximum number of concurrent calls: the server scores one while the next one is made.

With more calls the server loses more time than it gains.
"""


def groups_of(
    tasks: Sequence[Task],
    texts: Sequence[str],
    reasons: Sequence[FinishReason | None],
    *,
    rank: int,
    num_generations: int,
    policy_version: int,
    tokens: Sequence[int] | None = None,
) -> list[CompletionGroup]:
    """Returns a rank's completions as groups or parts of groups, in order.

    TRL puts the samples of a generation batch into one list, group after group, and gives each rank a slice. So a group
    may lie on several ranks, and a sample's position in the whole list gives its index. Each part has the size of the
    whole group. TRL fills the last batch of an evaluation with samples from the evaluation's beginning. Repeated
    samples become separate parts, because a part must have each sample once.

    Parameters
    ----------
    tasks, texts, reasons
        (n,), for each sample of this rank.
    rank
        Number of the rank, from 0.
    num_generations
        Number of samples in a whole group.
    policy_version
        Number of finished optimizer steps.
    tokens
        Numbers of tokens of the texts, (n,); None: not known.

    """
    lengths: Sequence[int | None] = tokens or [None] * len(texts)
    parts: list[tuple[Task, list[Completion]]] = []
    for i, (task, text, reason, length) in enumerate(zip(tasks, texts, reasons, lengths, strict=True)):
        index = index_in_group(i, rank, len(tasks), num_generations)
        if not parts or parts[-1][0].group_id != task.group_id or parts[-1][1][-1].sample_index >= index:
            parts.append((task, []))
        parts[-1][1].append(Completion(index, text, reason, policy_version, length))
    return [
        CompletionGroup(task.task_id, task.group_id, tuple(completions), num_generations, task.run_id)
        for task, completions in parts
    ]


class Scorer:
    """Sends groups, and sends samples again if the server asks for it.

    Parameters
    ----------
    client
        Client of the server.
    patience
        Maximum seconds to wait for scores.

    Attributes
    ----------
    pairs
        Contrast pairs of the groups that were scored last, by group id. Only groups sent as a whole have any.

    """

    def __init__(self, client: Client, patience: float) -> None:
        self._client = client
        self._patience = patience
        self.pairs: dict[str, tuple[ContrastPair, ...]] = {}

    def score(self, groups: Sequence[CompletionGroup]) -> list[Reward]:
        """Returns rewards of all samples, in the order of groups and of their completions.

        If the judge or the sandbox is busy, the server asks for a sample again. The sample is sent again for up to
        `patience` seconds. Then it has no reward, and its group is closed, so that the run does not wait for it.

        Raises
        ------
        GradusError
            If the server cannot be reached within `patience`, or refuses a group.

        """
        found: Found = {}
        deadline = time.monotonic() + self._patience
        waiting = list(enumerate(groups))
        self.pairs = {}
        while True:
            options: CallOptions = {
                "timeout": max(1.0, deadline - time.monotonic()),
                "retries": AS_LONG_AS_THERE_IS_TIME,
            }
            parts = [part for _, part in waiting]
            messages = messages_of(parts, _length, min(GROUPS_MAX, -(-len(parts) // _MESSAGES)))
            scored = run(self._client._core.rewards(messages, options, self._read))
            for (place, _), rewards in zip(waiting, scored, strict=True):
                found.update(((place, each.sample_index), each) for each in rewards)
            waiting, delay = _again(groups, found)
            if not waiting or time.monotonic() + delay > deadline:
                break
            time.sleep(delay)
        self._give_up([part for _, part in waiting])
        return [found[place, each.sample_index] for place, group in enumerate(groups) for each in group.completions]

    def _read(self, group: Any) -> tuple[Reward, ...]:
        if group.contrast_pairs:
            self.pairs[group.group_id] = tuple(map(ContrastPair.from_proto, group.contrast_pairs))
        return rewards_of(group)

    def _give_up(self, groups: Sequence[CompletionGroup]) -> None:
        for run_id in {group.run_id for group in groups if group.run_id}:
            of_run = [group for group in groups if group.run_id == run_id]
            # Ignore groups of an evaluation arm, which cannot be closed: nobody waits for these.
            with suppress(InvalidArgumentError):
                self._client.run(run_id).close_groups(of_run, "the trainer got no score in time")


def _length(group: CompletionGroup) -> int:
    return sum(len(each.text) for each in group.completions)


Found = dict[tuple[int, int], Reward]
"""Rewards by the group's position in the list and the sample's index. A list may have a group twice."""


def _again(groups: Sequence[CompletionGroup], found: Found) -> tuple[list[tuple[int, CompletionGroup]], float]:
    """Returns the samples to send again, as groups with their positions in the list, and the delay in seconds."""
    delays: list[float] = []
    parts: list[tuple[int, CompletionGroup]] = []
    for place, group in enumerate(groups):
        again = []
        for each in group.completions:
            reason = found[place, each.sample_index].no_reward
            if reason is not None and reason.retry_delay is not None:
                again.append(each)
                delays.append(reason.retry_delay)
        if again:
            parts.append((place, replace(group, completions=tuple(again))))
    return parts, max([ASK_AGAIN_SECONDS, *delays])
