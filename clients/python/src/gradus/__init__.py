"""Client of Gradus, a gRPC gym of verifiable tasks for training language models.

`Client` blocks; `gradus.aio.Client` has the same methods for asyncio. Calls return frozen dataclasses, with names for
enum values, seconds for durations and None for unset fields.

This module exports the client, its errors, and the values for training and scoring: tasks, completions and outcomes.
Other results are described in `gradus.environments`, `gradus.runs`, `gradus.groups` and `gradus.evaluations`; the names
of enum values are in `gradus.enums`. `gradus.v1` holds the messages and stubs of the contract, proto/gradus/v1, which
describes each field.
"""

from typing import TYPE_CHECKING

# This import comes first, because it must run before grpc is imported.
from gradus import (
    _fork,  # noqa: F401
    aio,
)
from gradus._credentials import Tls
from gradus.arms import arm, evaluation_arm, grow, rows, task_spec
from gradus.client import Client, Evaluation, Run
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
    PausedError,
    ResourceExhaustedError,
    SurrogateWarning,
    UnauthenticatedError,
    UnavailableError,
    UnavailableWarning,
    UnimplementedError,
)
from gradus.groups import GroupAdvantages, RunGroup
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
    frontier,
    mixture,
    named_policy,
    recommended,
    replay,
    signal_rescale,
    stage,
    staged,
    task_filter,
)
from gradus.policy_values import Policy
from gradus.rates import read_rates
from gradus.rollouts import EpisodePosition, PlayedEpisode, PolicyTurn
from gradus.runs import (
    Arm,
    Batch,
    DynamicSampling,
    EvaluationArm,
    LateFeedback,
    PromptTemplate,
    RunConfig,
    TrainerSettings,
)
from gradus.stalls import StalledError, StallWarning
from gradus.tasks import ChatMessage, Completion, CompletionGroup, RewardScheme, Task, TaskSpec, Tool, ToolCall

if TYPE_CHECKING:
    __version__: str
else:

    def __getattr__(name: str) -> str:
        """Returns `__version__`, and reads it only when it is asked for, because that is slow and rarely needed."""
        if name != "__version__":
            raise AttributeError(f"module 'gradus' has no attribute {name!r}")
        from importlib.metadata import version  # noqa: PLC0415

        return version("gradus-gym")


__all__ = [
    "AbortedError",
    "AlreadyExistsError",
    "AnswerSpan",
    "Arm",
    "Baseline",
    "Batch",
    "ChatMessage",
    "Client",
    "Commit",
    "Completion",
    "CompletionGroup",
    "ContrastPair",
    "DeadlineExceededError",
    "DynamicSampling",
    "EpisodePosition",
    "Evaluation",
    "EvaluationArm",
    "FailedPreconditionError",
    "FeedbackError",
    "FeedbackWarning",
    "GradusError",
    "GroupAdvantages",
    "GroupOutcome",
    "InvalidArgumentError",
    "LateFeedback",
    "NoEffectWarning",
    "NoReward",
    "NotFoundError",
    "OutOfRangeError",
    "Outcome",
    "PausedError",
    "PlayedEpisode",
    "Policy",
    "PolicyTurn",
    "PromptTemplate",
    "ResourceExhaustedError",
    "RewardComponent",
    "RewardScheme",
    "Run",
    "RunConfig",
    "RunGroup",
    "StallWarning",
    "StalledError",
    "StreamResult",
    "SurrogateWarning",
    "Task",
    "TaskSpec",
    "Tls",
    "Tool",
    "ToolCall",
    "TrainerSettings",
    "UnauthenticatedError",
    "UnavailableError",
    "UnavailableWarning",
    "UnimplementedError",
    "__version__",
    "aio",
    "arm",
    "bandit",
    "competence",
    "constraints",
    "domain",
    "evaluation_arm",
    "forgetting",
    "frontier",
    "grow",
    "mixture",
    "named_policy",
    "read_rates",
    "recommended",
    "replay",
    "rows",
    "signal_rescale",
    "stage",
    "staged",
    "task_filter",
    "task_spec",
]
