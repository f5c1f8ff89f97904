"""The second experiment tests a quality reward and replay on subset sum and knapsack (FORGE)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from experiment import Condition, Experiment, Measure, Raw, Settings, sizes
from model import Size
from tokens import FIRST_NUMBER, Language, UnreadError

import gradus
from gradus import Arm, Client, Policy, Task, TaskSpec

# --- Texts. ---

_ITEMS_MAX = 25
_COMPLETION_LENGTH = 20
_TARGET = re.compile(r"^(?:target|capacity): (\d+)$", re.MULTILINE)
_NUMBER = re.compile(r"\b\d+=(\d+)\b")
_ITEM = re.compile(r"^\d+: weight=(\d+) value=(\d+)$", re.MULTILINE)


def _read_prompt(items_max: int, text: str) -> list[int | None]:
    """Returns the target or capacity, and pairs of number and None, or of weight and value."""
    task = text[text.rfind("Your task:") :]
    target = _TARGET.search(task)
    items: list[tuple[int, int | None]] = [(int(w), int(v)) for w, v in _ITEM.findall(task)]
    items = items or [(int(each), None) for each in _NUMBER.findall(task)]
    if target is None or not items:
        raise UnreadError(f"not a prompt of subset sum or knapsack: {text[:80]!r}")
    empty: list[int | None] = [None] * (2 * (items_max - len(items)))
    return [int(target[1]), *(each for item in items for each in item), *empty]


def list_language(places: int, indices: int, read_prompt: Callable[[str], Sequence[int | None]]) -> Language:
    """Returns a language of prompts with at most so many places, whose answers are lists of indices."""
    return Language(1 + places, _COMPLETION_LENGTH, FIRST_NUMBER + indices, read_prompt, between_numbers=", ")


def items_language(items_max: int) -> Language:
    """Returns the language of subset sum and knapsack with at most so many items."""
    return list_language(1 + 2 * items_max, items_max, partial(_read_prompt, items_max))


LANGUAGE = items_language(_ITEMS_MAX)

# --- Tasks: three levels of each environment; knapsack's are parts of its easy one, for its others are long. ---

LEVELS = ("easy", "medium", "hard")
_ITEMS = {"easy": (15, 17), "medium": (18, 21), "hard": (22, 25)}


def _specs() -> dict[str, TaskSpec]:
    """Returns task specs by the names of arms and held-out sets."""
    sums = {
        f"subset-sum/{level}": gradus.task_spec("np/subset-sum", level=level, answer_format="answer_tag")
        for level in LEVELS
    }
    sacks = {
        f"knapsack/{level}": gradus.task_spec(
            "np/knapsack",
            parameters={"items_min": _ITEMS[level][0], "items_max": _ITEMS[level][1]},
            answer_format="answer_tag",
        )
        for level in LEVELS
    }
    return sums | sacks


def _arms() -> list[Arm]:
    return [Arm(name, spec, weight=None, hard=False) for name, spec in _specs().items()]


def _held_out(client: Client, settings: Settings) -> dict[str, list[Task]]:
    """Returns held-out tasks by environment, a third from each level. The eval split shares no instance with arms."""
    sets: dict[str, list[Task]] = {"subset-sum": [], "knapsack": []}
    for name, spec in _specs().items():
        tasks = client.batch_reset(replace(spec, split="eval"), range(settings.held_out // len(LEVELS)))
        sets[name.partition("/")[0]] += [each.result() for each in tasks]
    return sets


# --- Conditions. ---


def _cycles(cycles: int) -> Policy:
    """Returns a policy of `cycles` cycles, each easy, medium and hard in the shares 5:4:1."""
    of_level = [{f"subset-sum/{level}": 1.0, f"knapsack/{level}": 1.0} for level in LEVELS]
    stages = [gradus.stage(weights, share=share) for weights, share in zip(of_level, (0.5, 0.4, 0.1), strict=True)]
    return gradus.replay(*stages, cycles=cycles)


CONDITIONS = (
    Condition(
        "quality, replay",
        "FORGE: quality-aware reward; easy to hard, three times",
        lambda: _cycles(3),
        _arms,
        "quality",
        papers="FORGE, table 4: feasible .931, quality .466",
    ),
    Condition(
        "quality, one pass",
        "easy to hard, once",
        lambda: _cycles(1),
        _arms,
        "quality",
        papers="FORGE, 4.3.1: quality .151 below replay's",
    ),
    Condition("quality, shuffled", "all levels alike", gradus.mixture, _arms, "quality", papers="FORGE: .808, .374"),
    Condition(
        "binary, replay",
        "1 for every feasible answer",
        lambda: _cycles(3),
        _arms,
        "binary",
        papers="FORGE: .866, .178",
    ),
)

# --- Measures. ---

_SETS = ("subset-sum", "knapsack")


def _mean(sets: Sequence[str], fact: str) -> Measure:
    titles = {"feasible": "feasible", "quality": "quality ratio", "solved": "optimal"}
    title = titles[fact] + ("" if len(sets) > 1 else f", {sets[0]}")
    return Measure(title, lambda raw: float(np.mean([raw["final"][each][fact] for each in sets])))


def _score(point: Mapping[str, Mapping[str, float]]) -> float:
    return float(np.mean([point[each]["quality"] for each in _SETS]))


def _best(raw: Raw) -> float:
    return float(np.mean([raw["passes"][each][-1] for each in _SETS]))


EXPERIMENT = Experiment(
    name="packing",
    question="Do a reward for quality and replay help? Subset sum and knapsack, held-out instances",
    language=LANGUAGE,
    settings=sizes(
        Settings(Size(LANGUAGE), start_rows=40_000, start_steps=600, updates=150, held_out=600, samples=8),
        tiny_held_out=6,
        large_start_rows=200_000,
        large_start_steps=3_000,
    ),
    levels=(("np/subset-sum", LEVELS), ("np/knapsack", ("easy",))),
    held_out=_held_out,
    conditions=CONDITIONS,
    baseline="quality, one pass",
    score=_score,
    score_title="held-out quality ratio, infeasible 0",
    measures=(
        _mean(_SETS, "quality"),
        _mean(_SETS, "feasible"),
        _mean(_SETS, "solved"),
        Measure("optimal in one of the samples", _best),
        _mean(("subset-sum",), "quality"),
        _mean(("knapsack",), "quality"),
    ),
    compared=("quality ratio", "feasible", "optimal"),
)
