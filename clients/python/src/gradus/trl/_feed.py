"""Prefetches the tasks of a run in the trainer's order."""

from __future__ import annotations

import contextlib
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Any

from gradus.client import Run
from gradus.errors import GradusError
from gradus.runs import ArmState, RunConfig
from gradus.tasks import Task
from gradus.training import read_tasks

Jobs = SimpleQueue["Future[list[Task]] | None"]
"""Futures that the thread fills in order; None: no more will come."""


class Feed:
    """Fetches a run's tasks ahead of the trainer, a fixed number at a time. One thread makes all calls, in order.

    Once scores have arrived, `ask` makes the thread fetch the next tasks. They arrive during the trainer's update,
    before the trainer needs them.

    Parameters
    ----------
    run
        The run. The position of its handle does not change.
    prefetch
        Whether tasks are fetched before the trainer asks for them by `take`.
    patience
        Maximum seconds to wait for tasks, not counting pauses of the run.
    check
        Called with the run's current configuration after tasks have arrived. The next `take` raises its error.

    Attributes
    ----------
    waited
        Total seconds for which `take` has waited.
    arms
        States of the run's arms when tasks were last fetched.

    """

    def __init__(self, run: Run, *, prefetch: bool, patience: float, check: Callable[[RunConfig], None]) -> None:
        self._run = run
        self._check = check
        self._prefetch = prefetch
        self._patience = patience
        self._cursor = 0
        self._count = 1
        self._depth = 1
        self._ready: deque[Future[list[Task]]] = deque()
        self._jobs: Jobs | None = None
        self.waited = 0.0
        self.arms: tuple[ArmState, ...] = ()

    def __getstate__(self) -> dict[str, Any]:
        """Returns the state for pickling, without the thread.

        `datasets` hashes it to tell data sets apart.
        """
        return {**self.__dict__, "_ready": deque(), "_jobs": None}

    def begin(self, cursor: int, count: int, depth: int) -> None:
        """Moves to a position, and drops tasks that were fetched before.

        Parameters
        ----------
        cursor
            Position of the first task to give, in tasks from 0.
        count
            Number of tasks that `take` returns.
        depth
            Number of portions to fetch ahead, because the trainer takes that many in a row.

        """
        if self._jobs is not None:
            self._jobs.put(None)
        self._jobs = None
        self._ready.clear()
        self._cursor = cursor
        self._count = count
        self._depth = depth

    def ask(self) -> None:
        """Makes the thread request the next tasks, as many as the trainer takes at once."""
        while self._prefetch and len(self._ready) < self._depth:
            self._submit()

    def take(self) -> list[Task]:
        """Returns the next tasks, (count,); fewer at the end of the run, and none after it.

        Raises
        ------
        GradusError
            If they do not arrive, e.g. a `StalledError` if feedback is missing.

        """
        if not self._ready:
            self._submit()
        began = time.perf_counter()
        try:
            return self._ready.popleft().result()
        finally:
            self.waited += time.perf_counter() - began

    def _submit(self) -> None:
        if self._jobs is None:
            self._jobs = SimpleQueue()
            # The thread is a daemon, because its wait must not keep a trainer from ending.
            work = (self._jobs, self._cursor, self._count)
            threading.Thread(target=self._work, args=work, name="gradus-feed", daemon=True).start()
        future: Future[list[Task]] = Future()
        self._jobs.put(future)
        self._ready.append(future)

    def _work(self, jobs: Jobs, cursor: int, count: int) -> None:
        misfit: ValueError | None = None
        while (future := jobs.get()) is not None:
            try:
                if misfit is not None:
                    raise misfit
                tasks, after = read_tasks(self._run, cursor, count, timeout=self._patience)
            except BaseException as error:
                future.set_exception(error)
            else:
                cursor = after
                future.set_result(tasks)
                misfit = self._look()

    def _look(self) -> ValueError | None:
        """Stores the state of the run's arms for the log. Returns an error if the trainer no longer fits the run.

        If the server does not answer, nothing is stored: the next call tries again.
        """
        with contextlib.suppress(GradusError):
            info = self._run.get(retries=0)
            self.arms = info.state.arms
            try:
                self._check(info.config_now)
            except ValueError as error:
                return error
        return None
