"""Client of Gradus, a gRPC gym of verifiable tasks for training language models.

`Client` is for code that waits, `AsyncClient` has the same methods for asyncio. `gradus.v1` holds the messages and
stubs of the contract, proto/gradus/v1, where each field is described.
"""

# First, for it must come before grpc.
from gradus import _fork  # noqa: F401
from gradus._channels import Tls
from gradus._spec import task_spec
from gradus.aio import AsyncClient, AsyncEvaluation, AsyncRun
from gradus.client import Client
from gradus.errors import (
    AbortedError,
    AlreadyExistsError,
    DeadlineExceededError,
    FailedPreconditionError,
    GradusError,
    InvalidArgumentError,
    NotFoundError,
    OutOfRangeError,
    ResourceExhaustedError,
    UnauthenticatedError,
    UnavailableError,
    UnimplementedError,
)
from gradus.evaluation import Evaluation
from gradus.policies import (
    arm,
    bandit,
    competence,
    constraints,
    domain,
    evaluation_arm,
    forgetting,
    mixture,
    recommended,
    replay,
    signal_rescale,
    stage,
    staged,
    task_filter,
)
from gradus.run import Run
from gradus.types import (
    Batch,
    ChatMessage,
    Completion,
    CompletionGroup,
    GroupAdvantages,
    GroupOutcome,
    NoReward,
    Outcome,
    PendingTask,
    ResetResult,
    Sample,
    StreamResult,
    Submitted,
    Task,
)

__all__ = [
    "AbortedError",
    "AlreadyExistsError",
    "AsyncClient",
    "AsyncEvaluation",
    "AsyncRun",
    "Batch",
    "ChatMessage",
    "Client",
    "Completion",
    "CompletionGroup",
    "DeadlineExceededError",
    "Evaluation",
    "FailedPreconditionError",
    "GradusError",
    "GroupAdvantages",
    "GroupOutcome",
    "InvalidArgumentError",
    "NoReward",
    "NotFoundError",
    "OutOfRangeError",
    "Outcome",
    "PendingTask",
    "ResetResult",
    "ResourceExhaustedError",
    "Run",
    "Sample",
    "StreamResult",
    "Submitted",
    "Task",
    "Tls",
    "UnauthenticatedError",
    "UnavailableError",
    "UnimplementedError",
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
