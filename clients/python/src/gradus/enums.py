"""Short names of the contract's enum values: `"eval"` for SPLIT_EVAL."""

from __future__ import annotations

import functools
from typing import Any, Literal, TypeAlias

from gradus._arguments import suggestion

Split: TypeAlias = Literal["train", "eval", "bench"]
Source: TypeAlias = Literal["synthetic", "real", "teacher"]
AnswerFormat: TypeAlias = Literal["think_answer", "answer_line", "answer_tag", "boxed"]
Thinking: TypeAlias = Literal["required", "prefilled", "stripped"]
Goal: TypeAlias = Literal["satisfy", "minimize", "maximize"]
FinishReason: TypeAlias = Literal["stop", "length"]
TextTools: TypeAlias = Literal["hermes"]
StopReason: TypeAlias = Literal["goal", "budget", "ended", "truncated"]
FeedbackSource: TypeAlias = Literal["step", "reported"]
AlikeOutcomes: TypeAlias = Literal["rewards", "solved"]
BanditSignal: TypeAlias = Literal["absolute_advantage", "solved_variance", "learning_progress", "mixed_outcomes"]
ReplayInstances: TypeAlias = Literal["fresh", "same"]
CompetenceStep: TypeAlias = Literal["widen", "move_on"]
SuccessMeasure: TypeAlias = Literal["quality", "solved", "reward", "improvement"]
Verdict: TypeAlias = Literal["malformed", "infeasible", "feasible", "graded"]
Proof: TypeAlias = Literal["optimal", "bounded"]
NoRewardReason: TypeAlias = Literal[
    "invalid_task_id",
    "too_large",
    "timeout",
    "judge_unavailable",
    "sandbox_failed",
    "overloaded",
    "internal",
    "resource_unavailable",
    "failed_precondition",
]
HackingSignKind: TypeAlias = Literal[
    "reward_without_solved", "violation_dominates", "length_runs_away", "component_saturates"
]
CloseCause: TypeAlias = Literal["too_many_open", "row_gone", "replaced"]
FeedbackStatus: TypeAlias = Literal["recorded", "duplicate", "conflicting_completion", "stale_epoch", "not_recorded"]


@functools.lru_cache(maxsize=1024)
def name_in(enum: Any, value: int) -> Any:
    """Returns the short name of a value, e.g. "eval" for (Split's descriptor, 2).

    A value that is newer than this client gives its number in digits.
    """
    found = enum.values_by_number.get(value)
    return str(value) if found is None else _short(enum, found.name)


def value_in(enum: Any, name: str | None) -> Any:
    """Returns the value of a short name, e.g. 2 for (Split's descriptor, "eval").

    None gives the unspecified value, 0. Raises ValueError for other names.
    """
    if name is None:
        return 0
    values = _values(enum)
    if not isinstance(name, str) or name not in values:
        what = _prefix(enum).rstrip("_").replace("_", " ").lower()
        known = ", ".join(values)
        near = suggestion(str(name), values)
        raise ValueError(f"unknown {what} {name!r}: one of {known}" + (near if near.startswith("; did") else ""))
    return values[name]


@functools.lru_cache(maxsize=128)
def _values(enum: Any) -> dict[str, int]:
    return {_short(enum, each.name): each.number for each in enum.values if each.number != 0}


def _prefix(enum: Any) -> str:
    unspecified: str = enum.values_by_number[0].name
    return unspecified.removesuffix("UNSPECIFIED")


def _short(enum: Any, name: str) -> str:
    return name.removeprefix(_prefix(enum)).lower()
