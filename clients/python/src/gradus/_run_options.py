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
"""Action while a run is paused."""


class RunOptions(TypedDict, total=False):
    """Further settings of a run; RunConfig in curriculum.proto states their defaults.

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
    """See `RunOptions` and `CallOptions`."""


class BatchOptions(CallOptions, total=False):
    """See `RunCore.next_batch`."""

    count: int
    wait: float
    on_pause: OnPause


class ShapeOptions(CallOptions, total=False):
    """Change of a run's shape. Fields that are left out stay as they are.

    `length` 0: the run has no end. `grow_arms`: growth of arms that grow, by arm id, with a greater cap.
    """

    add_arms: Sequence[Arm]
    grow_arms: Mapping[str, Growth]
    remove_arms: Sequence[str]
    num_generations: int
    prompts_per_update: int
    length: int
    policy: Policy


class RunSampleChoice(TypedDict, total=False):
    """Filter of a run's samples by arm or group; options to include their tasks or leave out their texts."""

    arm_id: str
    group_id: str
    tasks: bool
    brief: bool


class RunSamplesOptions(RunSampleChoice, SampleFilter, CallOptions, total=False):
    """See `RunSampleChoice`, `SampleFilter` and `CallOptions`."""


class HistoryChoice(TypedDict, total=False):
    """Options that shorten the history of a long run, or of a run with many arms.

    Attributes
    ----------
    merge_batches
        Number of successive update batches that one record summarizes, at most 65,536. Left out: one.
    without_arms
        Whether `probabilities`, `values` and `counts` of update batches are left out.
    arm_groups
        (arms,): number of each arm's group, from 0 and below the length of this list, in the configuration's order.
        `probabilities`, `values` and `counts` of update batches then have one entry for each group: `values` the mean
        of its arms, the others the sum. Arms behind the end of the list are in no group. Left out: one entry for each
        arm.

    """

    merge_batches: int
    without_arms: bool
    arm_groups: Sequence[int]


class HistoryOptions(HistoryChoice, CallOptions, total=False):
    """See `HistoryChoice` and `CallOptions`."""
