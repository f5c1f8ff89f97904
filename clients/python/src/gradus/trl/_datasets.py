"""A run's tasks as data sets."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count, islice
from typing import Any

import datasets

from gradus.client import Client, Run
from gradus.runs import PromptTemplate, RunConfig
from gradus.tasks import ChatMessage, Task, Tool
from gradus.training import read_round
from gradus.trl._rollout import TASK_KEY
from gradus.trl._training import Training


def row_of(task: Task, turns: bool) -> dict[str, Any]:
    """Returns a task as a row: `prompt` (chat messages), `arm_id`, and `gradus_task` (JSON for `Task.from_json`).

    If tasks of the run have `turns`, the last message of the prompt also contains the task, for `rollout_func`.
    """
    text = task.to_json()
    prompt: list[Any] = list(task.prompt)
    if turns:
        prompt = [{**each, TASK_KEY: None} for each in prompt]
        prompt[-1][TASK_KEY] = text
    return {"prompt": prompt, "arm_id": task.arm_id, "gradus_task": text}


def _features(turns: bool) -> datasets.Features:
    """Returns the columns of the rows, see `row_of`."""
    names = ["role", "content", *([TASK_KEY] if turns else [])]
    return datasets.Features(
        {
            "prompt": [{name: datasets.Value("string") for name in names}],
            "arm_id": datasets.Value("string"),
            "gradus_task": datasets.Value("string"),
        }
    )


_FEATURES = _features(turns=False)


def have_turns(client: Client, config: RunConfig) -> bool:
    """Returns whether tasks of the run may have turns."""
    specs = [*(each.spec for each in config.arms), *(each.spec for each in config.evaluation_arms)]
    found = {(each.environment, each.version) for each in specs}
    several = any(each.calls > 1 for each in specs)
    return several or any(client.get_environment(*each).calls > 0 for each in sorted(found))


def tools_of(client: Client, config: RunConfig) -> tuple[bool, tuple[Tool, ...]]:
    """Returns whether tasks of the run have turns, and the tools of each of them.

    Raises
    ------
    ValueError
        If they have turns and no tools, or not all have the same tools.

    """
    if not have_turns(client, config):
        return False, ()
    rows = islice(_samples(client, config), len(config.arms))
    found = {Task.from_json(each["gradus_task"]).tools for each in rows}
    if len(found) != 1 or found == {()}:
        names = sorted({each.name for tools in found for each in tools})
        raise ValueError(
            f"environment_factory needs the same tools for all tasks, and the run's have {', '.join(names) or 'none'}: "
            "name them in `tools` of each arm, or use rollout_func"
        )
    return True, found.pop()


class RunTasks(datasets.IterableDataset):
    """Tasks of a run in order, for a trainer.

    Outside a training, readers get similar tasks that the run does not count.
    """

    _training: Training

    def __iter__(self) -> Iterator[Any]:
        """Yields rows of the run in a training; otherwise similar tasks without end, which do not belong to the run."""
        return super().__iter__() if self._training.is_training else self._samples()

    def __getitem__(self, key: Any) -> Any:
        """Returns a similar task (as outside a training) by its number, several by a slice, or a column by its name."""
        if isinstance(key, slice) and key.stop is not None:
            return list(islice(self._samples(), key.start, key.stop, key.step))
        if isinstance(key, int) and key >= 0:
            return next(islice(self._samples(), key, None))
        if isinstance(key, str) and key in _FEATURES:
            return super().__getitem__(key)
        columns = ", ".join(_FEATURES)
        raise IndexError(
            f"want the number of a sample, from 0, or a column of {columns}; got {key!r}: samples never end"
        )

    def __len__(self) -> int:
        """Raises TypeError, because a run gives its tasks one by one."""
        length = self._training.run_config.length
        whole = f"gives {length} tasks" if length else "has no end"
        raise TypeError(f"tasks are made one by one, and have no len(): run {self._training.run.run_id!r} {whole}")

    def _samples(self) -> Iterator[dict[str, Any]]:
        return _samples(self._training.client, self._training.run_config)


def train_dataset(training: Training) -> Any:
    """Returns a data set of the run's tasks in order."""
    turns = have_turns(training.client, training.run_config)
    made = datasets.IterableDataset.from_generator(
        _rows, features=_features(turns), gen_kwargs={"take": training.take, "turns": turns}
    )
    # Change the class of the data set, as `datasets` itself does if torch is loaded.
    made.__class__ = RunTasks
    made._training = training
    return made


def _rows(take: Callable[[], list[Task]], turns: bool) -> Iterator[dict[str, Any]]:
    while tasks := take():
        yield from (row_of(task, turns) for task in tasks)


def _samples(client: Client, config: RunConfig) -> Iterator[dict[str, Any]]:
    """Yields tasks like those of the run, from its arms in turn. They do not belong to the run."""
    for seed in count():
        for arm in config.arms:
            spec = replace(
                arm.spec,
                answer_format=arm.spec.answer_format or config.answer_format,
                reward_scheme=arm.spec.reward_scheme or config.reward_scheme,
            )
            task = client.batch_reset(spec, [seed])[0].result()
            prompt = _in_template(task.prompt, config.prompt_template)
            yield row_of(replace(task, arm_id=arm.arm_id, prompt=prompt), turns=False)


def _in_template(prompt: list[ChatMessage], template: PromptTemplate | None) -> list[ChatMessage]:
    if template is None:
        return prompt
    system: list[ChatMessage] = [{"role": "system", "content": template.system}] if template.system else []
    around = template.user or _MARK
    user: list[ChatMessage] = [
        {"role": "user", "content": around.replace(_MARK, each["content"])} for each in prompt if each["role"] == "user"
    ]
    return [*system, *user]


_MARK = "{prompt}"
"""Placeholder of the task's own text in a template."""


def eval_dataset(client: Client, run: Run, config: RunConfig) -> Any:
    """Returns a data set of the tasks of all evaluation arms, arm by arm; None: there are none.

    All rounds have the same tasks, so these are read from the newest round.
    """
    if not config.evaluation_arms:
        return None
    newest = {each.arm_id: each.evaluation_round for each in run.get().state.evaluations}
    turns = have_turns(client, config)
    rows = [
        row_of(task, turns)
        for arm in config.evaluation_arms
        for task in read_round(run, arm.arm_id, newest.get(arm.arm_id, 0))
    ]
    return datasets.Dataset.from_list(rows)
