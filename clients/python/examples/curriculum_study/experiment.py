"""Types of an experiment's parts; `countdown.py` and `packing.py` each define one."""

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
    """A condition's name in file names and ids of runs: "fixed, 81% easiest" as "fixed-81-easiest"."""
    return "-".join(re.findall(r"[A-Za-z0-9._]+", condition))


Raw = Mapping[str, Any]
"""Figures of one training, whole, as `training.Trained` has them."""


@dataclass(frozen=True)
class Settings:
    """Settings that all conditions and all seeds share.

    Attributes
    ----------
    start_rows, start_steps, start_batch, start_rate
        Settings of the supervised start: the number of exported solver's answers, and how they are imitated.
    rate, entropy
        Learning rate and entropy bonus of RLOO.
    contrast, contrast_beta
        Weight and β of the contrast pairs' loss, where a condition has it (Curriculum RLOO 4.1).
    temperature
        Sampling temperature of evaluations (Curriculum RLOO 4.1); in training it is 1.
    samples, curve_samples
        Samples of each held-out prompt, at the end and during training.
    held_out
        Prompts of a held-out set.
    pool_rows
        Rows of the pool, where the experiment has one; a tenth of them are held out.

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
        """Rollouts of a whole training."""
        return self.updates * self.prompts * self.generations


def sizes(small: Settings, *, tiny_held_out: int, large_start_rows: int, large_start_steps: int) -> dict[str, Settings]:
    """`small` fits two cores; of it are made "tiny", which tries the code, and "large", which wants a GPU."""
    language = small.size.language
    tiny = replace(
        small,
        size=Size(language, 16, 1, 2),
        start_rows=300,
        start_steps=4,
        start_batch=16,
        # The shortest length of which each stage of the replayed cycles has an update batch.
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
        What the server does, and in which paper it is.
    policy, arms
        Make the run's policy and arms; called once for each run.
    contrast
        Whether contrast pairs (VCC) add a loss.
    papers
        What the papers have for it.
    is_retired
        Whether it is trained no more, for a server of today draws otherwise under its policy; its figures are kept.

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
    """Write no pool, for an experiment that has none."""


def as_exported(answer: str, _: np.random.Generator) -> str:
    """Return the solver's answer unchanged, for an experiment that imitates answers as they are."""
    return answer


def same_order(prompts: Tokens, _: np.random.Generator) -> Tokens:
    """Return the prompts unchanged, for an experiment that reads them as they stand."""
    return prompts


@dataclass(frozen=True)
class Experiment:
    """A question, and what it takes to answer it.

    Attributes
    ----------
    levels
        Environments and their levels that the solver's answers are exported of.
    pool
        The name of a pool of rows that the server is given, as NAME=ENVIRONMENT; "": none.
    write_pool
        Writes its rows, of which there are to be `Settings.pool_rows`.
    held_out
        Sets of tasks that no arm draws, by name.
    twist, shuffle
        What imitation does to an answer's text, and to a table of prompts.
    score
        Of one point of a curve, by set: what is plotted, and what `baseline` sets the mark for.
    measures, compared
        Columns of the table, and those of them that are compared with the baseline.

    """

    name: str
    question: str
    language: Language
    settings: Mapping[str, Settings]
    levels: Sequence[tuple[str, Sequence[str]]]
    conditions: Sequence[Condition]
    baseline: str
    held_out: Callable[[Client, Settings], dict[str, list[Task]]]
    score: Callable[[Mapping[str, Mapping[str, float]]], float]
    score_title: str
    measures: Sequence[Measure]
    compared: Sequence[str]
    pool: str = ""
    write_pool: Callable[[Path, int], None] = no_pool
    twist: Callable[[str, np.random.Generator], str] = as_exported
    shuffle: Callable[[Tokens, np.random.Generator], Tokens] = same_order

    def condition(self, name: str) -> Condition:
        """The condition of that name."""
        return next(each for each in self.conditions if each.name == name)
