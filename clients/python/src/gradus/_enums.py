"""Short names of the contract's enum values: `"eval"` for SPLIT_EVAL."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from gradus.v1 import curriculum_pb2, environment_pb2, outcome_pb2, task_pb2

Split: TypeAlias = Literal["train", "eval", "bench"]
Source: TypeAlias = Literal["synthetic", "real", "teacher"]
AnswerFormat: TypeAlias = Literal["think_answer", "answer_line", "answer_tag", "boxed"]
Thinking: TypeAlias = Literal["required", "prefilled", "stripped"]
FeedbackSource: TypeAlias = Literal["step", "reported"]

# The wrapper's type differs between protobuf's versions and its stubs, so that Any stands for it here.
_WRAPPERS: dict[str, Any] = {
    "SPLIT_": task_pb2.Split,
    "SOURCE_": task_pb2.Source,
    "ANSWER_FORMAT_": task_pb2.AnswerFormat,
    "THINKING_": task_pb2.Thinking,
    "FEEDBACK_SOURCE_": curriculum_pb2.FeedbackSource,
    "FEEDBACK_STATUS_": outcome_pb2.FeedbackStatus,
    "VERDICT_": outcome_pb2.Verdict,
    "PROOF_": outcome_pb2.Proof,
    "NO_REWARD_REASON_": outcome_pb2.NoRewardReason,
    "GOAL_": environment_pb2.Goal,
    "FINISH_REASON_": environment_pb2.FinishReason,
}


def name_of(prefix: str, value: int) -> str:
    """E.g. "eval" for ("SPLIT_", 2); the number in digits for a value newer than this client."""
    try:
        name: str = _WRAPPERS[prefix].Name(value)
    except ValueError:
        return str(value)
    return name.removeprefix(prefix).lower()


def value_of(prefix: str, name: str | None) -> Any:
    """E.g. 2 for ("SPLIT_", "eval"); None is the unspecified value, 0. Raises ValueError for other names."""
    if name is None:
        return 0
    values = {key.removeprefix(prefix).lower(): value for key, value in _WRAPPERS[prefix].items() if value != 0}
    if name not in values:
        what = prefix.rstrip("_").replace("_", " ").lower()
        raise ValueError(f"unknown {what} {name!r}: one of {', '.join(values)}")
    return values[name]
