"""Which task a row's number means: those that a run gives out, or those of an evaluation arm."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from gradus.tasks import Task
from gradus.training import RunAddress, TaskReader, TaskReference, checkpoint_of, restore
from gradus.verl._checks import check


class Rows(Protocol):
    def __len__(self) -> int: ...

    def read(self, indices: Sequence[int]) -> list[tuple[Task, TaskReference]]:
        """The tasks of rows, with their references."""

    def state_dict(self) -> dict[str, Any]: ...

    def load_state_dict(self, state: dict[str, Any]) -> None: ...


class TrainingRows:
    """The tasks that the run gives out."""

    def __init__(self, address: RunAddress, config: Any, max_samples: int) -> None:
        self._address = address
        self._run = address.client().run(address.run_id)
        self._reader = TaskReader(self._run)
        self._next = 0
        run = self._run.get().config
        self._generations = run.num_generations
        check(run, config, max_samples)
        lengths = [each for each in (run.length, max_samples) if each > 0]
        self._length = min(lengths)

    def __len__(self) -> int:
        return self._length

    def read(self, indices: Sequence[int]) -> list[tuple[Task, TaskReference]]:
        if list(indices) != list(range(self._next, self._next + len(indices))):
            raise ValueError(
                f"rows of a run are read in their order, once: row {self._next} comes next, and rows {list(indices)} "
                "were asked for. Set data.shuffle=False and trainer.total_epochs=1; a longer run has a greater length"
            )
        tasks = self._reader.take(len(indices))
        if len(tasks) < len(indices):
            raise ValueError(
                f"the run has ended after {len(tasks)} of the rows {list(indices)}: another trainer has begun it. "
                "Name a run of this trainer's own, or resume from its checkpoint"
            )
        self._next += len(tasks)
        return [(task, TaskReference.of(task, self._address, self._generations)) for task in tasks]

    def state_dict(self) -> dict[str, Any]:
        return {"next": self._next, "run": checkpoint_of(self._run)}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        restore(self._run, state["run"])
        self._next = state["next"]


class EvaluationRows:
    """The tasks of an evaluation arm; when one of them is read again, another round begins."""

    def __init__(self, address: RunAddress) -> None:
        self._address = address
        self._run = address.client().run(address.run_id)
        info = self._run.get()
        arms = {each.arm_id: each for each in info.config.evaluation_arms}
        if address.evaluation_arm not in arms:
            raise ValueError(
                f"run {address.run_id!r} has no evaluation arm {address.evaluation_arm!r}: it has "
                f"{', '.join(arms) or 'none, so create it with evaluation_arms'}"
            )
        arm = arms[address.evaluation_arm]
        self._length = arm.tasks
        self._generations = arm.num_generations or info.config.num_generations
        rounds = [each.evaluation_round for each in info.state.evaluations if each.arm_id == arm.arm_id]
        self._round = max(rounds, default=-1)
        self._tasks: list[Task] = []
        self._read: set[int] = set(range(self._length))

    def __len__(self) -> int:
        return self._length

    def read(self, indices: Sequence[int]) -> list[tuple[Task, TaskReference]]:
        if not self._read.isdisjoint(indices):
            self._begin()
        self._read.update(indices)
        tasks = [self._tasks[each] for each in indices]
        return [(task, TaskReference.of(task, self._address, self._generations)) for task in tasks]

    def state_dict(self) -> dict[str, Any]:
        return {}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        pass

    def _begin(self) -> None:
        self._round += 1
        self._tasks = []
        while len(self._tasks) < self._length:
            arm = self._address.evaluation_arm
            self._tasks += self._run.next_evaluation(arm, self._round, len(self._tasks)).tasks
        self._read = set()
