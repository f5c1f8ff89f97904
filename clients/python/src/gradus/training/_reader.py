"""A run's tasks one after the other, in portions of a trainer's own size."""

from __future__ import annotations

from collections import deque

from gradus.client import Run
from gradus.tasks import Task

_COUNT_MAX = 4096
"""Tasks of one call, at most."""


class TaskReader:
    """Reads a run from where its handle stands. Feedback that is due is waited for, as `Run.next_batch` says."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self._again: deque[Task] = deque()

    def take(self, count: int) -> list[Task]:
        """The next tasks, (count,); fewer where the run ends.

        When a call fails, the handle stands where it stood, and nothing is lost.
        """
        cursor = self.run.cursor
        tasks = list(self._again)[:count]
        try:
            while len(tasks) < count:
                batch = self.run.next_batch(count=min(count - len(tasks), _COUNT_MAX))
                tasks += batch.tasks
                if batch.done:
                    break
        except BaseException:
            self.run.cursor = cursor
            raise
        for _ in range(min(count, len(self._again))):
            self._again.popleft()
        return tasks

    def take_up(self) -> int:
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
