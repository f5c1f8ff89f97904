"""A run's tasks one after the other, in portions of a trainer's own size."""

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
"""Tasks of one call, at most."""


def read_tasks(run: Run, cursor: int, count: int, **options: Unpack[CallOptions]) -> tuple[list[Task], int]:
    """Tasks from a cursor on, (count,), fewer where the run ends; and the cursor after them.

    The run's handle stays where it stands. Feedback that is due is waited for, as `Run.next_batch` says.
    """
    tasks: list[Task] = []
    while True:
        batch = run.next_batch(cursor, count=min(count - len(tasks), _COUNT_MAX), **options)
        tasks += batch.tasks
        cursor = batch.next_cursor
        if batch.done or len(tasks) >= count:
            return tasks, cursor


def read_round(run: Run, arm_id: str, evaluation_round: int) -> list[Task]:
    """All tasks of a round of an evaluation arm, by their position."""
    tasks: list[Task] = []
    while True:
        batch = run.next_evaluation(arm_id, evaluation_round, cursor=len(tasks))
        tasks += batch.tasks
        if batch.done:
            return tasks


class TaskReader:
    """Reads a run from where its handle stands. What a run waits for is waited for here, as `Run.next_batch` says.

    Parameters
    ----------
    run
        The run.
    check
        Told the run's configuration as it is now before each portion; raises where the trainer does not fit it any
        more, for example after `Run.update_shape` or an import. None: nothing is checked.

    """

    def __init__(self, run: Run, check: Callable[[RunConfig], None] | None = None) -> None:
        self.run = run
        self._check = check
        self._again: deque[Task] = deque()

    def take(self, count: int) -> list[Task]:
        """The next tasks, (count,); fewer where the run ends.

        When a call fails, the handle stands where it stood, and nothing is lost.
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
        """Has the tasks before the handle's position come again whose groups are not whole; gives how many.

        For trainers whose checkpoints do not hold what was in flight: the run would wait for those groups.
        """
        position = self.run.cursor or 0
        self._again = deque(
            group.task
            for group in self.run.groups("open", tasks=True)
            if group.cursor < position and group.task is not None
        )
        return len(self._again)
