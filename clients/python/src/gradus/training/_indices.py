"""Finds the index of a completion in its group: by its position in the batch of its rank, or any free index.

When verl and verifiers score a completion, they do not know its index, and several processes score completions of one
group. Each process counts up from 0. If another completion already has the index, the process asks the server for the
group's missing indices and takes one of them.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Sequence

from gradus.training._references import TaskReference


def index_in_group(place: int, rank: int, of_a_rank: int, num_generations: int) -> int:
    """Returns a sample's index in its group, if the groups of a batch are divided over the ranks in order.

    Parameters
    ----------
    place
        Position of the sample on its rank, from 0.
    rank
        Number of the rank, from 0.
    of_a_rank
        Number of samples on each rank.
    num_generations
        Number of samples in a group, which may lie on several ranks.

    """
    return (rank * of_a_rank + place) % num_generations


_GROUPS_MAX = 4096
"""Maximum number of groups whose taken indices are remembered. Older groups are complete by then."""


class SampleIndices:
    """Indices of completions that are taken in each group, as far as this process knows."""

    def __init__(self) -> None:
        self._taken: OrderedDict[str, set[int]] = OrderedDict()

    def first(self, task: TaskReference) -> int:
        """Returns the lowest free index; if none is free, the last one."""
        taken = self._of(task)
        index = next((each for each in range(task.num_generations) if each not in taken), task.num_generations - 1)
        taken.add(index)
        return index

    def among(self, task: TaskReference, missing: Sequence[int]) -> int | None:
        """Returns one of the indices in `missing` that this process has not used; None: there is none.

        The process id chooses among the free indices, so that concurrent processes usually take different ones.
        """
        taken = self._of(task)
        free = [each for each in missing if each not in taken]
        if not free:
            return None
        index = free[os.getpid() % len(free)]
        taken.add(index)
        return index

    def _of(self, task: TaskReference) -> set[int]:
        key = task.group_id or task.task_id
        taken = self._taken.setdefault(key, set())
        self._taken.move_to_end(key)
        if len(self._taken) > _GROUPS_MAX:
            self._taken.popitem(last=False)
        return taken
