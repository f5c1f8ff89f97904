"""A run's tasks as data sets."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import datasets

from gradus.client import Run
from gradus.runs import RunConfig
from gradus.tasks import Task


def row_of(task: Task) -> dict[str, Any]:
    """A task as a row; `prompt` is chat messages, and `gradus_task` the whole task as JSON (`Task.from_json`)."""
    return {"prompt": task.prompt, "arm_id": task.arm_id, "gradus_task": task.to_json()}


def train_dataset(take: Callable[[], list[Task]]) -> Any:
    """Tasks in order, as long as `take` gives any."""
    return datasets.IterableDataset.from_generator(_rows, gen_kwargs={"take": take})


def _rows(take: Callable[[], list[Task]]) -> Iterator[dict[str, Any]]:
    while tasks := take():
        yield from map(row_of, tasks)


def eval_dataset(run: Run, config: RunConfig) -> Any:
    """The tasks of all evaluation arms, arm by arm; None: there are none.

    A round has the same tasks as any other, so that these are of the newest there is.
    """
    if not config.evaluation_arms:
        return None
    newest = {each.arm_id: each.evaluation_round for each in run.get().state.evaluations}
    rows = [
        row_of(task) for arm in config.evaluation_arms for task in round_of(run, arm.arm_id, newest.get(arm.arm_id, 0))
    ]
    return datasets.Dataset.from_list(rows)


def round_of(run: Run, arm_id: str, evaluation_round: int) -> list[Task]:
    """All tasks of a round of an evaluation arm, by their position."""
    tasks: list[Task] = []
    while True:
        batch = run.next_evaluation(arm_id, evaluation_round, cursor=len(tasks))
        tasks += batch.tasks
        if batch.done:
            return tasks
