"""Options of a run's calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias, TypedDict

from gradus._arguments import CallOptions
from gradus.enums import AnswerFormat, FeedbackSource
from gradus.policy_values import Policy
from gradus.runs import (
    Arm,
    DynamicSampling,
    EvaluationArm,
    FeedbackLag,
    Growth,
    LateFeedback,
    PromptTemplate,
    TrainerSettings,
)
from gradus.samples import SampleFilter
from gradus.tasks import RewardScheme

OnPause: TypeAlias = Literal["wait", "raise"]
"""Action while a run is paused: wait until it is resumed, or raise a `PausedError`."""


class RunOptions(TypedDict, total=False):
    """Settings of a run that may be left out; RunConfig in curriculum.proto states their defaults.

    `length` counts tasks; 0: the run has no end. `group_timeout` and `time_to_live` are in seconds.
    """

    seed: int
    length: int
    feedback_lag: FeedbackLag
    feedback_source: FeedbackSource
    reward_scheme: str | RewardScheme
    answer_format: AnswerFormat
    group_timeout: float
    time_to_live: float
    evaluation_arms: Sequence[EvaluationArm]
    dynamic_sampling: DynamicSampling
    late_feedback: LateFeedback
    prompt_template: PromptTemplate
    train_on_evaluated: bool
    trainer: TrainerSettings


class CreateOptions(RunOptions, CallOptions, total=False):
    """Options of `Run.create`: those of `RunOptions` and `CallOptions`."""


class BatchOptions(CallOptions, total=False):
    """Options of `Run.next_batch`, which describes them."""

    count: int
    wait: float
    on_pause: OnPause


class ShapeOptions(CallOptions, total=False):
    """Change of a run's shape. Fields that are left out stay as they are.

    `length` 0: the run has no end. `grow_arms`: new growth of arms that grow, by arm id. Only the cap (the greatest
    value) may change, and it may only rise.
    """

    add_arms: Sequence[Arm]
    grow_arms: Mapping[str, Growth]
    remove_arms: Sequence[str]
    num_generations: int
    prompts_per_update: int
    length: int
    policy: Policy


class RunSampleChoice(TypedDict, total=False):
    """Filter of a run's samples by arm, group or update batch.

    `tasks`: whether samples have their tasks. `brief`: whether completions and prompts are left out.
    """

    arm_id: str
    group_id: str
    update_batch: int
    tasks: bool
    brief: bool


class RunSamplesOptions(RunSampleChoice, SampleFilter, CallOptions, total=False):
    """Options of `Run.samples`: those of `RunSampleChoice`, `SampleFilter` and `CallOptions`."""


class HistoryChoice(TypedDict, total=False):
    """Options that shorten the history of a long run, or of a run with many arms.

    Attributes
    ----------
    merge_batches
        Number of successive update batches that one record summarizes, at most 65,536. Left out: one.
    without_arms
        Whether `probabilities`, `values` and `counts` of update batches are left out.
    arm_groups
        (arms,): index of the group that each arm belongs to, in the configuration's order, from 0 and below the length
        of this list. The figures of a group's arms are combined: `values` of update batches are then means over the
        group, and `probabilities` and `counts` are sums. Arms beyond the end of the list are left out. Default: each
        arm is its own group.

    """

    merge_batches: int
    without_arms: bool
    arm_groups: Sequence[int]


class HistoryOptions(HistoryChoice, CallOptions, total=False):
    """Options of `Run.history`: those of `HistoryChoice` and `CallOptions`."""
