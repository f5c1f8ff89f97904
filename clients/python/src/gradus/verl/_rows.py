"""Maps row numbers to tasks, and checks verl's configuration for a run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from gradus._warn import warn
from gradus.runs import RunConfig
from gradus.tasks import Task
from gradus.training import (
    RunAddress,
    TaskReader,
    TaskReference,
    check_batches,
    check_generations,
    check_prompts,
    check_scored_by_step,
    checkpoint_of,
    read_round,
    restore,
)


class Rows(Protocol):
    def __len__(self) -> int: ...

    def read(self, indices: Sequence[int]) -> list[tuple[Task, TaskReference]]:
        """Returns the tasks of rows, with their references."""

    def state_dict(self) -> dict[str, Any]: ...

    def load_state_dict(self, state: dict[str, Any]) -> None: ...


class TrainingRows:
    """Rows of a training: the tasks that the run issues."""

    def __init__(self, address: RunAddress, config: Any, max_samples: int) -> None:
        self._address = address
        self._run = address.client().run(address.run_id)
        self._reader = TaskReader(self._run, lambda now: _check(now, config, max_samples))
        self._next = 0
        run = self._run.get().config_now
        self._generations = run.num_generations
        _check(run, config, max_samples)
        lengths = [each for each in (run.length, max_samples) if each > 0]
        self._length = min(lengths)

    def __len__(self) -> int:
        return self._length

    def read(self, indices: Sequence[int]) -> list[tuple[Task, TaskReference]]:
        if list(indices) != list(range(self._next, self._next + len(indices))):
            raise ValueError(
                f"rows of a run are read in their order, once: row {self._next} comes next, and rows {list(indices)} "
                "were asked for. Set data.shuffle=False and trainer.total_epochs=1; for more rows, raise the run's "
                "length"
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
    """Rows of an evaluation arm. When any row is read a second time, the next evaluation round begins."""

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
        self._generations = arm.num_generations or info.config_now.num_generations
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
        self._tasks = read_round(self._run, self._address.evaluation_arm, self._round)
        self._read = set()


def _check(run: RunConfig, data: Any, max_samples: int) -> None:
    """Raises ValueError for a configuration of verl with which a training of the run would fail or mislead."""
    check_scored_by_step(run)
    if data.get("shuffle"):
        raise ValueError("data.shuffle=True: the run decides which task comes next. Set data.shuffle=False")
    if data.get("dataloader_num_workers"):
        raise ValueError(
            f"data.dataloader_num_workers={data.get('dataloader_num_workers')}: workers read ahead, so "
            "checkpoints would contain what they read rather than what was trained on. Set "
            "data.dataloader_num_workers=0; the server makes tasks in advance"
        )
    if run.length == 0 and max_samples < 1:
        raise ValueError(
            "the run has no end, and verl counts its steps by rows: set data.train_max_samples to the number of "
            "prompts to train on (train_batch_size times the steps)"
        )
    manager = _select(data, "reward", "reward_manager", "name")
    if manager is not None and manager != "RewardManager":
        warn(
            f"reward.reward_manager.name={manager}: it does not report which completions were cut, so an answer "
            "that was cut short may count. Set reward.reward_manager={source: importlib, name: RewardManager, module: "
            '{path: "pkg://gradus.verl"}}',
            UserWarning,
        )
    batch = data.get("gen_batch_size") or data.get("train_batch_size")
    if batch:
        check_batches(run, batch, "data.gen_batch_size" if data.get("gen_batch_size") else "data.train_batch_size")
    if data.get("train_batch_size"):
        check_prompts(run, data.get("train_batch_size"), "data.train_batch_size")
    generations = _select(data, "actor_rollout_ref", "rollout", "n")
    if generations is not None:
        check_generations(run, generations, "actor_rollout_ref.rollout.n")
    epochs = _select(data, "trainer", "total_epochs")
    if epochs is not None and epochs != 1:
        raise ValueError(
            f"trainer.total_epochs={epochs}: a run has only one epoch for verl, which plans its steps by epochs. Set "
            "trainer.total_epochs=1; to repeat tasks, give the run a policy that does (gradus.replay)"
        )


def _select(data: Any, *path: str) -> Any:
    """Returns a value of verl's whole configuration, of which `data` is a part; None: there is none."""
    node = data._get_root() if hasattr(data, "_get_root") else None
    for name in path:
        node = None if node is None else node.get(name)
    return node
