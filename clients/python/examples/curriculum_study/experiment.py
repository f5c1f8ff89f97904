"""Types of an experiment's parts. `countdown.py` and `packing.py` each define an experiment."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from model import Size
from tokens import Language, Tokens

from gradus import Arm, Client, Policy, Task


def slug(condition: str) -> str:
    """Returns a condition's name for files and run ids, e.g. "fixed-81-easiest" for "fixed, 81% easiest"."""
    return "-".join(re.findall(r"[A-Za-z0-9._]+", condition))


Raw = Mapping[str, Any]
"""Figures of one training, whole, as `training.Trained` has them."""


@dataclass(frozen=True)
class Settings:
    """Settings that all conditions and all seeds share.

    Attributes
    ----------
    start_rows, start_steps, start_batch, start_rate
        Number of solver's answers that the supervised start imitates; its steps, batch size and learning rate.
    rate, entropy
        Learning rate and entropy bonus of RLOO.
    contrast, contrast_beta
        Weight and β of the contrast pairs' loss, if a condition has it (Curriculum RLOO 4.1).
    temperature
        Sampling temperature of evaluations (Curriculum RLOO 4.1); in training it is 1.
    samples, curve_samples
        Samples of each held-out prompt, at the end and during training.
    held_out
        Prompts of a held-out set.
    pool_rows
        Number of rows of the pool, if the experiment has one; a tenth of them are held out.

    """

    size: Size
    start_rows: int
    start_steps: int
    updates: int
    start_batch: int = 256
    start_rate: float = 2e-3
    prompts: int = 16
    generations: int = 8
    rate: float = 1e-4
    entropy: float = 0.001
    contrast: float = 0.01
    contrast_beta: float = 0.1
    evaluate_every: int = 15
    temperature: float = 0.6
    samples: int = 16
    curve_samples: int = 4
    held_out: int = 400
    pool_rows: int = 22_500

    @property
    def rollouts(self) -> int:
        """Number of rollouts of a whole training."""
        return self.updates * self.prompts * self.generations


def sizes(small: Settings, *, tiny_held_out: int, large_start_rows: int, large_start_steps: int) -> dict[str, Settings]:
    """Returns `small`, for two cores, and the sizes made from it: "tiny" tries the code, "large" needs a GPU."""
    language = small.size.language
    tiny = replace(
        small,
        size=Size(language, 16, 1, 2),
        start_rows=300,
        start_steps=4,
        start_batch=16,
        # With fewer updates a stage of the replayed cycles would have no update batch.
        updates=30,
        prompts=4,
        generations=4,
        evaluate_every=30,
        curve_samples=1,
        held_out=tiny_held_out,
        pool_rows=1_000,
    )
    large = replace(
        small,
        size=Size(language, 384, 6, 8),
        start_rows=large_start_rows,
        start_steps=large_start_steps,
        updates=600,
        prompts=64,
        generations=16,
        rate=3e-5,
        evaluate_every=30,
    )
    return {"tiny": tiny, "small": small, "large": large}


@dataclass(frozen=True)
class Condition:
    """One line of the table.

    Attributes
    ----------
    meaning
        What the server does, and the paper that it comes from.
    policy, arms
        Functions that make the run's policy and arms; called once for each run.
    contrast
        Whether contrast pairs (VCC) add a loss.
    papers
        The papers' figure for it.
    is_retired
        Whether it is no longer trained, because today's server draws differently for it. Its figures are kept.

    """

    name: str
    meaning: str
    policy: Callable[[], Policy]
    arms: Callable[[], Sequence[Arm]]
    reward_scheme: str
    contrast: bool = False
    papers: str = ""
    is_retired: bool = False


@dataclass(frozen=True)
class Measure:
    """A column of the table."""

    title: str
    of: Callable[[Raw], float]


def no_pool(_: Path, __: int) -> None:
    """Writes nothing, for an experiment without a pool."""


def as_exported(answer: str, _: np.random.Generator) -> str:
    """Returns the solver's answer unchanged."""
    return answer


def same_order(prompts: Tokens, _: np.random.Generator) -> Tokens:
    """Returns the prompts unchanged."""
    return prompts


def arm_of(task: Task) -> str:
    """Returns the id of a task's arm."""
    return task.arm_id


@dataclass(frozen=True, kw_only=True)
class Setup:
    """Tasks and settings of trainings, whatever is compared.

    Attributes
    ----------
    held_out
        Function that returns held-out sets of tasks, by name. No arm draws them.
    kinds, kind_of
        Kinds by which drawn tasks are counted, and the function that returns a task's kind. (): the condition's arms.

    """

    name: str
    language: Language
    settings: Mapping[str, Settings]
    held_out: Callable[[Client, Settings], dict[str, list[Task]]]
    kinds: Sequence[str] = ()
    kind_of: Callable[[Task], str] = arm_of


@dataclass(frozen=True, kw_only=True)
class Experiment(Setup):
    """One experiment: its tasks, conditions and measures.

    Attributes
    ----------
    levels
        Levels, by environment, whose solver's answers are exported for the supervised start.
    pool
        Name of the server's pool of rows, as NAME=ENVIRONMENT. "": none.
    write_pool
        Function that writes the pool's `Settings.pool_rows` rows.
    twist, shuffle
        Functions that change an answer's text and the prompts before they are imitated.
    score
        Score of a point of a curve, from its facts by set. It is plotted, and `baseline`'s is the mark for the others.
    measures, compared
        Columns of the table, and those that are compared with the baseline.

    """

    question: str
    levels: Sequence[tuple[str, Sequence[str]]]
    conditions: Sequence[Condition]
    baseline: str
    score: Callable[[Mapping[str, Mapping[str, float]]], float]
    score_title: str
    measures: Sequence[Measure]
    compared: Sequence[str]
    pool: str = ""
    write_pool: Callable[[Path, int], None] = no_pool
    twist: Callable[[str, np.random.Generator], str] = as_exported
    shuffle: Callable[[Tokens, np.random.Generator], Tokens] = same_order

    def condition(self, name: str) -> Condition:
        """Returns the condition of that name."""
        return next(each for each in self.conditions if each.name == name)
