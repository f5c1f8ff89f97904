"""Client of Gradus, a gRPC gym of verifiable tasks for training language models.

`Client` is for code that waits; `gradus.aio.Client` has the same methods for asyncio. What they give are frozen
dataclasses, with names for enum values, seconds for durations and None for what is unset. `gradus.v1` holds the
messages and stubs of the contract, proto/gradus/v1, where each field is described.
"""

from typing import TYPE_CHECKING

# First, for it must come before grpc.
from gradus import (
    _fork,  # noqa: F401
    aio,
)
from gradus._credentials import Tls
from gradus._enums import (
    AnswerFormat,
    BanditRule,
    BanditSignal,
    FeedbackSource,
    FeedbackStatus,
    FinishReason,
    NoRewardReason,
    Source,
    Split,
    Thinking,
    Verdict,
)
from gradus.arms import arm, evaluation_arm, task_spec
from gradus.client import Client, Evaluation, Run
from gradus.environments import (
    Environment,
    LevelInfo,
    ParameterInfo,
    PoolGroup,
    PoolInfo,
    ResetResult,
    RewardSchemeInfo,
)
from gradus.errors import (
    AbortedError,
    AlreadyExistsError,
    DeadlineExceededError,
    FailedPreconditionError,
    FeedbackError,
    FeedbackWarning,
    GradusError,
    InvalidArgumentError,
    NoEffectWarning,
    NotFoundError,
    OutOfRangeError,
    ResourceExhaustedError,
    StalledError,
    StallWarning,
    UnauthenticatedError,
    UnavailableError,
    UnavailableWarning,
    UnimplementedError,
)
from gradus.evaluations import EvaluationInfo, PendingTask, Report, ReportRow, Sample, Submitted, Suite, SuitePart
from gradus.groups import BatchRecord, ControlRecord, GroupAdvantages, HistoryRecord, RecordedSample, RunGroup
from gradus.outcomes import (
    AnswerSpan,
    Baseline,
    Commit,
    ContrastPair,
    GroupOutcome,
    NoReward,
    Outcome,
    RewardComponent,
    StreamResult,
)
from gradus.policies import (
    bandit,
    competence,
    constraints,
    domain,
    forgetting,
    mixture,
    recommended,
    replay,
    signal_rescale,
    stage,
    staged,
    task_filter,
)
from gradus.policy_values import Policy
from gradus.runs import (
    Arm,
    ArmState,
    Batch,
    DynamicSampling,
    EvaluationArm,
    EvaluationRecord,
    ImportedRun,
    LateFeedback,
    PromptTemplate,
    RunConfig,
    RunInfo,
    RunState,
)
from gradus.tasks import ChatMessage, Completion, CompletionGroup, RewardScheme, Task, TaskSpec

if TYPE_CHECKING:
    __version__: str
else:

    def __getattr__(name: str) -> str:
        """The version, of the distribution's metadata, which takes long to load and is seldom asked for."""
        if name != "__version__":
            raise AttributeError(f"module 'gradus' has no attribute {name!r}")
        from importlib.metadata import version  # noqa: PLC0415

        return version("gradus")


__all__ = [
    "AbortedError",
    "AlreadyExistsError",
    "AnswerFormat",
    "AnswerSpan",
    "Arm",
    "ArmState",
    "BanditRule",
    "BanditSignal",
    "Baseline",
    "Batch",
    "BatchRecord",
    "ChatMessage",
    "Client",
    "Commit",
    "Completion",
    "CompletionGroup",
    "ContrastPair",
    "ControlRecord",
    "DeadlineExceededError",
    "DynamicSampling",
    "Environment",
    "Evaluation",
    "EvaluationArm",
    "EvaluationInfo",
    "EvaluationRecord",
    "FailedPreconditionError",
    "FeedbackError",
    "FeedbackSource",
    "FeedbackStatus",
    "FeedbackWarning",
    "FinishReason",
    "GradusError",
    "GroupAdvantages",
    "GroupOutcome",
    "HistoryRecord",
    "ImportedRun",
    "InvalidArgumentError",
    "LateFeedback",
    "LevelInfo",
    "NoEffectWarning",
    "NoReward",
    "NoRewardReason",
    "NotFoundError",
    "OutOfRangeError",
    "Outcome",
    "ParameterInfo",
    "PendingTask",
    "Policy",
    "PoolGroup",
    "PoolInfo",
    "PromptTemplate",
    "RecordedSample",
    "Report",
    "ReportRow",
    "ResetResult",
    "ResourceExhaustedError",
    "RewardComponent",
    "RewardScheme",
    "RewardSchemeInfo",
    "Run",
    "RunConfig",
    "RunGroup",
    "RunInfo",
    "RunState",
    "Sample",
    "Source",
    "Split",
    "StallWarning",
    "StalledError",
    "StreamResult",
    "Submitted",
    "Suite",
    "SuitePart",
    "Task",
    "TaskSpec",
    "Thinking",
    "Tls",
    "UnauthenticatedError",
    "UnavailableError",
    "UnavailableWarning",
    "UnimplementedError",
    "Verdict",
    "__version__",
    "aio",
    "arm",
    "bandit",
    "competence",
    "constraints",
    "domain",
    "evaluation_arm",
    "forgetting",
    "mixture",
    "recommended",
    "replay",
    "signal_rescale",
    "stage",
    "staged",
    "task_filter",
    "task_spec",
]
