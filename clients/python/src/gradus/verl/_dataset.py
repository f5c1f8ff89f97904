"""The data set that verl's loader reads: rows of prompts, each with the reference to its task."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch.utils.data import Dataset

from gradus.tasks import Task
from gradus.training import RunAddress, TaskReference
from gradus.verl._reward import ROW, TASK
from gradus.verl._rows import EvaluationRows, Rows, TrainingRows


class RunDataset(Dataset):
    """The tasks of a run, or of one of its evaluation arms, from `data.train_files` and `data.val_files`.

    Rows of a run are read in order, once, because the run decides what comes next. A row's `data_source` is its arm, so
    that verl's validation has figures for each arm.

    Parameters
    ----------
    data_files
        Address of a run, see `gradus.training.RunAddress`, or a list with it alone.
    tokenizer
        Counts the tokens of prompts, to compare them with `data.max_prompt_length`.
    config
        verl's section `data`. If it is part of verl's whole configuration, the whole configuration is checked.
    processor
        Not used: prompts are text.
    max_samples
        verl's `data.train_max_samples`: maximum number of a run's rows. Below 1: all rows, to the run's end.

    Raises
    ------
    ValueError
        If verl's configuration does not fit the run. The message names the option and a valid value.

    """

    def __init__(
        self, data_files: Any, tokenizer: Any, config: Any, processor: Any = None, max_samples: int = -1
    ) -> None:
        address = _only(data_files)
        self._tokenizer = tokenizer
        self._tokens_max = config.get("max_prompt_length")
        self._template = dict(config.get("apply_chat_template_kwargs") or {})
        self._rows: Rows = (
            EvaluationRows(address) if address.evaluation_arm else TrainingRows(address, config, max_samples)
        )

    def __len__(self) -> int:
        """Returns the number of rows."""
        return len(self._rows)

    def __getitem__(self, index: int) -> dict[str, Any]:
        """Returns the row with a number."""
        return self.__getitems__([index])[0]

    def __getitems__(self, indices: Sequence[int]) -> list[dict[str, Any]]:
        """Returns the rows of a batch. A data loader requests them by one call."""
        read = self._rows.read(indices)
        for task, _ in read:
            self._check_length(task)
        return [_row(task, task_row, index) for (task, task_row), index in zip(read, indices, strict=True)]

    def state_dict(self) -> dict[str, Any]:
        """Returns the position and the run's current state, for a checkpoint."""
        return self._rows.state_dict()

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Continues from a `state_dict`. The run's state is restored too, if it has changed since."""
        self._rows.load_state_dict(state)

    def _check_length(self, task: Task) -> None:
        if self._tokenizer is None or self._tokens_max is None:
            return
        tools = [each.openai() for each in task.tools] or None
        ids = self._tokenizer.apply_chat_template(
            task.prompt, tools=tools, add_generation_prompt=True, return_dict=False, **self._template
        )
        tokens = len(ids)
        if tokens > self._tokens_max:
            raise ValueError(
                f"data.max_prompt_length={self._tokens_max} is too small: the prompt at cursor {task.cursor} of "
                f"{task.arm_id} has {tokens} tokens. Prompts of a run cannot be left out: it waits for their groups"
            )


def _only(data_files: Any) -> RunAddress:
    files = [data_files] if isinstance(data_files, str) else list(data_files)
    if len(files) != 1:
        raise ValueError(f"data.train_files and data.val_files take the address of one run each; got {files}")
    return RunAddress.of_run(files[0])


def _row(task: Task, reference: TaskReference, index: int) -> dict[str, Any]:
    """Returns a row with the fields that verl's agent loop, its reward and its trainer read."""
    return {
        "raw_prompt": task.prompt,
        "data_source": task.arm_id,
        "reward_model": {"style": "rule", "ground_truth": ""},
        "extra_info": {"index": index, ROW: reference.to_row(), TASK: task.to_json()},
        "index": index,
        "tools_kwargs": {},
        "interaction_kwargs": {},
        # A batch of verl needs at least one tensor.
        "dummy_tensor": torch.tensor([0], dtype=torch.uint8),
    }
