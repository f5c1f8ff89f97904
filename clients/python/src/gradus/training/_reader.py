"""A run's tasks one after the other, in portions of a trainer's own size."""

from __future__ import annotations

from gradus.client import Run
from gradus.tasks import Task

_COUNT_MAX = 4096
"""Tasks of one call, at most."""


class TaskReader:
    """Reads a run from where its handle stands. Feedback that is due is waited for, as `Run.next_batch` says."""

    def __init__(self, run: Run) -> None:
        self.run = run

    def take(self, count: int) -> list[Task]:
        """The next tasks, (count,); fewer where the run ends.

        What was read when a call fails is given back: the handle stands where it stood.
        """
        cursor = self.run.cursor
        tasks: list[Task] = []
        try:
            while len(tasks) < count:
                batch = self.run.next_batch(count=min(count - len(tasks), _COUNT_MAX))
                tasks += batch.tasks
                if batch.done:
                    break
        except BaseException:
            self.run.cursor = cursor
            raise
        return tasks
