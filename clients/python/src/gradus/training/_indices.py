"""Which of its group a completion is: by its place on its rank, or where that is not known, any that is free.

Where verl and verifiers score a completion they no longer know which of its group it is, and several processes score
those of one group. Each process counts up from 0; where the server says that another completion is at that index, it
asks which are missing and takes one of them.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Sequence

from gradus.training._references import TaskReference


def index_in_group(place: int, rank: int, of_a_rank: int, num_generations: int) -> int:
    """Which of its group a rank's sample is, where a batch's groups lie one after the other over the ranks.

    Parameters
    ----------
    place
        Of the sample among the rank's, from 0.
    rank
        The rank's number, from 0.
    of_a_rank
        Samples of each rank.
    num_generations
        Samples of a group, which may lie on several ranks.

    """
    return (rank * of_a_rank + place) % num_generations


_GROUPS_MAX = 4096
"""Groups remembered; older ones were whole long ago."""


class SampleIndices:
    """Which indices of a group are taken, as far as this process knows."""

    def __init__(self) -> None:
        self._taken: OrderedDict[str, set[int]] = OrderedDict()

    def first(self, task: TaskReference) -> int:
        """The lowest index that is free; where none is, one that is not."""
        taken = self._of(task)
        index = next((each for each in range(task.num_generations) if each not in taken), task.num_generations - 1)
        taken.add(index)
        return index

    def among(self, task: TaskReference, missing: Sequence[int]) -> int | None:
        """One of those that the server misses and this process has sent nothing for; None: there is none left.

        Processes that look at the same time take different ones, as far as their numbers differ.
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
