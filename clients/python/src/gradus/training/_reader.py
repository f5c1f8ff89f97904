"""Reads a run's tasks in portions of a trainer's own size."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

from gradus._arguments import CallOptions
from gradus.client import Run
from gradus.runs import RunConfig
from gradus.tasks import Task

if TYPE_CHECKING:
    from typing_extensions import Unpack

_COUNT_MAX = 4096
"""Maximum number of tasks in one call."""


def read_tasks(run: Run, cursor: int, count: int, **options: Unpack[CallOptions]) -> tuple[list[Task], int]:
    """Returns tasks from a cursor on, (count,), fewer at the end of the run, and the cursor after them.

    The position of the run's handle does not change. The call waits for due feedback, like `Run.next_batch`.
    """
    tasks: list[Task] = []
    while True:
        batch = run.next_batch(cursor, count=min(count - len(tasks), _COUNT_MAX), **options)
        tasks += batch.tasks
        cursor = batch.next_cursor
        if batch.done or len(tasks) >= count:
            return tasks, cursor


def read_round(run: Run, arm_id: str, evaluation_round: int) -> list[Task]:
    """Returns all tasks of a round of an evaluation arm, in the order of their positions."""
    tasks: list[Task] = []
    while True:
        batch = run.next_evaluation(arm_id, evaluation_round, cursor=len(tasks))
        tasks += batch.tasks
        if batch.done:
            return tasks


class TaskReader:
    """Reads a run's tasks from its handle's position. Calls wait like `Run.next_batch`.

    Parameters
    ----------
    run
        The run.
    check
        Called with the run's current configuration before each portion. It raises if the trainer no longer fits, e.g.
        after `Run.update_shape`. None: no check.

    """

    def __init__(self, run: Run, check: Callable[[RunConfig], None] | None = None) -> None:
        self.run = run
        self._check = check
        self._again: deque[Task] = deque()

    def take(self, count: int) -> list[Task]:
        """Returns the next tasks, (count,), or fewer at the end of the run.

        If a call fails, the handle keeps its position, and nothing is lost.
        """
        if self._check is not None:
            self._check(self.run.get().config_now)
        tasks = list(self._again)[:count]
        if len(tasks) < count:
            cursor = self.run.get().state.first_open_cursor if self.run.cursor is None else self.run.cursor
            more, self.run.cursor = read_tasks(self.run, cursor, count - len(tasks))
            tasks += more
        for _ in range(min(count, len(self._again))):
            self._again.popleft()
        return tasks

    def repeat_open_groups(self) -> int:
        """Makes `take` return tasks of incomplete groups before the handle's position again. Returns their number.

        For trainers whose checkpoints do not contain such tasks. The run would wait for their groups.
        """
        position = self.run.cursor or 0
        self._again = deque(
            group.task
            for group in self.run.groups("open", tasks=True)
            if group.cursor < position and group.task is not None
        )
        return len(self._again)
