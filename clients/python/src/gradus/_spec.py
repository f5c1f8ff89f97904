"""Families of tasks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, TypedDict

from gradus._enums import AnswerFormat, Source, Split, Thinking, value_of
from gradus.v1 import task_pb2

if TYPE_CHECKING:
    from typing_extensions import Unpack


class SpecOptions(TypedDict, total=False):
    """What else fixes a family of tasks; what is left out takes the environment's default.

    `level` and `parameters` exclude each other. `pool` is for the source "real" only. `thinking` says how much of its
    thinking a completion holds: "required", all of it; "prefilled", where the chat template puts `<think>` into the
    prompt; "stripped", where it takes the thoughts away.
    """

    level: str
    parameters: Mapping[str, float]
    split: Split
    source: Source
    pool: str
    version: int
    answer_format: AnswerFormat
    thinking: Thinking
    reward_scheme: str | task_pb2.RewardScheme


def task_spec(environment: str, **options: Unpack[SpecOptions]) -> task_pb2.TaskSpec:
    """A family of tasks."""
    if "level" in options and "parameters" in options:
        raise ValueError("give level or parameters, not both")
    spec = task_pb2.TaskSpec(
        environment=environment,
        version=options.get("version", 0),
        split=value_of("SPLIT_", options.get("split")),
        source=value_of("SOURCE_", options.get("source")),
        pool=options.get("pool", ""),
        answer_format=value_of("ANSWER_FORMAT_", options.get("answer_format")),
        thinking=value_of("THINKING_", options.get("thinking")),
        reward_scheme=reward_scheme_of(options.get("reward_scheme")),
    )
    if "level" in options:
        spec.level = options["level"]
    if "parameters" in options:
        spec.parameters.CopyFrom(task_pb2.Parameters(values=options["parameters"]))
    return spec


def reward_scheme_of(scheme: str | task_pb2.RewardScheme | None) -> task_pb2.RewardScheme | None:
    """A scheme by its name, or as given."""
    return task_pb2.RewardScheme(name=scheme) if isinstance(scheme, str) else scheme
