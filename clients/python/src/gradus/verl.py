"""verl: a data set for `data.custom_cls` and a reward for `reward.custom_reward_function`.

```yaml
data:
  custom_cls: {path: "pkg://gradus.verl", name: RunDataset}
  train_files: gradus://localhost:50051/my-run
  val_files: gradus://localhost:50051/my-run#eval/countdown/T1
reward:
  custom_reward_function: {path: "pkg://gradus.verl", name: compute_score}
```

What goes with it (no shuffling, no workers of the data loader) is refused with the remedy where it is missing.
docs/guides/trainers.md has the whole.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import torch
from torch.utils.data import Dataset

from gradus.runs import RunConfig
from gradus.tasks import Task
from gradus.training import (
    RunAddress,
    TaskReader,
    TaskReference,
    Written,
    check_batches,
    check_generations,
    check_scored_by_step,
    checkpoint_of,
    restore,
    reward_or,
    score_one,
)

__all__ = ["RunDataset", "compute_score"]

_ROW = "gradus"
"""Under which name a row's `extra_info` holds the reference to its task."""


class RunDataset(Dataset):
    """The tasks of a run, or of one of its evaluation arms; verl makes it from `data.train_files` and `data.val_files`.

    A row's number is its place in the trainer's order, and rows are read in that order once: the run decides what
    comes next. A row's `data_source` is its arm, so that verl's validation tells arms apart.

    Parameters
    ----------
    data_files
        The address of a run, see `gradus.training.RunAddress`; a list of one, as verl makes of it.
    tokenizer
        Counts the tokens of prompts, which `data.max_prompt_length` must be enough for.
    config
        verl's `data`. With the rest of verl's configuration around it, that is checked too.
    processor
        Not used: prompts are text.
    max_samples
        verl's `data.train_max_samples`: rows of a run without an end. Below 1: to the run's end.

    Raises
    ------
    ValueError
        If verl's configuration does not fit the run; the message names the option and what to set it to.

    """

    def __init__(
        self, data_files: Any, tokenizer: Any, config: Any, processor: Any = None, max_samples: int = -1
    ) -> None:
        address = _only(data_files)
        self._tokenizer = tokenizer
        self._tokens_max = config.get("max_prompt_length")
        self._template = dict(config.get("apply_chat_template_kwargs") or {})
        self._rows: _Rows = (
            _EvaluationRows(address) if address.evaluation_arm else _TrainingRows(address, config, max_samples)
        )

    def __len__(self) -> int:
        """Its rows."""
        return len(self._rows)

    def __getitem__(self, index: int) -> dict[str, Any]:
        """The row of a number."""
        return self.__getitems__([index])[0]

    def __getitems__(self, indices: Sequence[int]) -> list[dict[str, Any]]:
        """The rows of a batch, which a data loader asks for at once."""
        read = self._rows.read(indices)
        for task, _ in read:
            self._check_length(task)
        return [_row(task, task_row, index) for (task, task_row), index in zip(read, indices, strict=True)]

    def state_dict(self) -> dict[str, Any]:
        """For a checkpoint: where it stands, and the run as it stands."""
        return self._rows.state_dict()

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Goes on where `state_dict` was taken; the run goes back there too, where it moved on since."""
        self._rows.load_state_dict(state)

    def _check_length(self, task: Task) -> None:
        if self._tokenizer is None or self._tokens_max is None:
            return
        text = self._tokenizer.apply_chat_template(
            task.prompt, add_generation_prompt=True, tokenize=False, **self._template
        )
        tokens = len(self._tokenizer.encode(text, add_special_tokens=False))
        if tokens > self._tokens_max:
            raise ValueError(
                f"data.max_prompt_length={self._tokens_max} is too small: the prompt at cursor {task.cursor} of "
                f"{task.arm_id} has {tokens} tokens. Prompts of a run are not left out, for their groups would wait"
            )


async def compute_score(
    data_source: str,
    solution_str: str,
    ground_truth: Any,
    extra_info: Mapping[str, Any] | None = None,
    *,
    unscored: float | None = None,
    **_: Any,
) -> dict[str, float]:
    """The reward of one completion, for `reward.custom_reward_function`. What comes together goes out together.

    Parameters
    ----------
    data_source, ground_truth
        Not used: the server knows the task.
    solution_str
        The completion.
    extra_info
        The row's, with the reference to its task.
    unscored
        The reward of a completion that has none, for reasons that are not the policy's; None: an error. Set by
        `reward.custom_reward_function.reward_kwargs`.

    Returns
    -------
    dict
        `score`, the reward; and `acc`, 1 for solved, 0 for not and NaN where that is not known.

    Raises
    ------
    UnscoredError
        If the completion has no reward and `unscored` is None.

    """
    if extra_info is None or _ROW not in extra_info:
        raise ValueError(
            f"the row of data source {data_source!r} is not of gradus.verl.RunDataset: see data.custom_cls"
        )
    task = TaskReference.from_row(extra_info[_ROW])
    outcome = await score_one(Written(task, solution_str))
    solved = float("nan") if outcome.solved is None else float(outcome.solved)
    return {"score": reward_or(outcome, unscored), "acc": solved}


class _Rows(Protocol):
    def __len__(self) -> int: ...

    def read(self, indices: Sequence[int]) -> list[tuple[Task, TaskReference]]:
        """The tasks of rows, with their references."""

    def state_dict(self) -> dict[str, Any]: ...

    def load_state_dict(self, state: dict[str, Any]) -> None: ...


class _TrainingRows:
    """The tasks that the run gives out."""

    def __init__(self, address: RunAddress, config: Any, max_samples: int) -> None:
        self._address = address
        self._run = address.client().run(address.run_id)
        self._reader = TaskReader(self._run)
        self._next = 0
        run = self._run.get().config
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


class _EvaluationRows:
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


def _only(data_files: Any) -> RunAddress:
    files = [data_files] if isinstance(data_files, str) else list(data_files)
    if len(files) != 1:
        raise ValueError(f"data.train_files and data.val_files take the address of one run each; got {files}")
    return RunAddress.of_run(files[0])


def _check(run: RunConfig, data: Any, max_samples: int) -> None:
    check_scored_by_step(run)
    if data.get("shuffle"):
        raise ValueError("data.shuffle=True: which task comes next is the run's to say. Set data.shuffle=False")
    if data.get("dataloader_num_workers"):
        raise ValueError(
            f"data.dataloader_num_workers={data.get('dataloader_num_workers')}: workers read ahead, and their "
            "checkpoints hold what they read rather than what was trained on. Set data.dataloader_num_workers=0; "
            "the server makes the tasks ahead"
        )
    if run.length == 0 and max_samples < 1:
        raise ValueError(
            "the run has no end, and verl counts its steps by rows: set data.train_max_samples to the prompts to "
            "train on (train_batch_size × steps)"
        )
    batch = data.get("gen_batch_size") or data.get("train_batch_size")
    if batch:
        check_batches(run, batch, "data.gen_batch_size" if data.get("gen_batch_size") else "data.train_batch_size")
    generations = _select(data, "actor_rollout_ref", "rollout", "n")
    if generations is not None:
        check_generations(run, generations, "actor_rollout_ref.rollout.n")
    epochs = _select(data, "trainer", "total_epochs")
    if epochs is not None and epochs != 1:
        raise ValueError(
            f"trainer.total_epochs={epochs}: a run does not begin again, and verl plans its steps by epochs. Set "
            "trainer.total_epochs=1; what is to come again is the policy's to say (gradus.replay)"
        )


def _select(data: Any, *path: str) -> Any:
    """A value of the configuration that `data` is a part of; None: it stands alone, or there is none."""
    node = data._get_root() if hasattr(data, "_get_root") else None
    for name in path:
        node = None if node is None else node.get(name)
    return node


def _row(task: Task, reference: TaskReference, index: int) -> dict[str, Any]:
    """What verl's agent loop, its reward and its trainer read of a row."""
    return {
        "raw_prompt": task.prompt,
        "data_source": task.arm_id,
        "reward_model": {"style": "rule", "ground_truth": ""},
        "extra_info": {"index": index, _ROW: reference.to_row()},
        "index": index,
        "tools_kwargs": {},
        "interaction_kwargs": {},
        # verl's batches have a tensor at least.
        "dummy_tensor": torch.tensor([0], dtype=torch.uint8),
    }
