"""Environments, which are families of tasks, and their descriptions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from gradus._values import Derived, Named, Value
from gradus.enums import AnswerFormat, Goal, NoRewardReason, Source, Split
from gradus.errors import GradusError, failure_in
from gradus.tasks import Task, Tool
from gradus.v1 import environment_pb2


@dataclass(frozen=True)
class ParameterInfo(Value, message=environment_pb2.ParameterInfo):
    """A parameter of a generator or a scheme: its effect, unit, range and default."""

    name: str
    description: str
    min: float
    max: float
    default: Annotated[float, Named("default_value")]
    integer: bool


@dataclass(frozen=True)
class LevelInfo(Value, message=environment_pb2.LevelInfo):
    """A level of difficulty: generator parameters under a name, e.g. "easy".

    Attributes
    ----------
    evaluation_only
        The level has no tasks of the split "train".
    small
        The level has fewer than 1,000 instances, and all of them are in every split.

    """

    name: str
    description: str
    parameters: Mapping[str, float]
    evaluation_only: bool
    small: bool


@dataclass(frozen=True)
class RewardSchemeInfo(Value, message=environment_pb2.RewardSchemeInfo):
    """A rule that turns verified facts into a reward, and the range of the reward."""

    name: str
    description: str
    reward_min: float
    reward_max: float
    parameters: tuple[ParameterInfo, ...]


@dataclass(frozen=True)
class PoolGroup(Value, message=environment_pb2.PoolGroup):
    """Number of rows of a pool with one level and one split."""

    level: str
    split: Split
    rows: int


@dataclass(frozen=True)
class PoolInfo(Value, message=environment_pb2.PoolInfo):
    """A pool of rows from which tasks are drawn, as the server read it at its start.

    Attributes
    ----------
    rows
        Number of rows with a task, by level, over all splits; `groups` counts them by level and split.
    rejected, left_out
        Number of rows that give no task or repeat the task of another row, and of rows that the operator left out.
    unchecked
        Number of rows that could not be checked, e.g. without a sandbox. They count as rows with a task.
    shipped
        The pool ships with the environment.
    ranked_by
        Measure by which rows are ranked from easy to hard, in words; "": they have no ranks.
    rank_measure
        Name of that measure, as in `RankRange.by`: "solutions", or a column's name.
    digest
        Equal for pools with the same rows in the same order; `Run.rate_rows` takes it. "": the server is older.

    """

    name: str
    rows: Mapping[str, int]
    groups: tuple[PoolGroup, ...]
    rejected: int
    left_out: int
    unchecked: int
    shipped: bool
    ranked_by: str
    rank_measure: str
    digest: str = ""


@dataclass(frozen=True)
class AxisParameter(Value, message=environment_pb2.AxisParameter):
    """A parameter of the generator that a growth axis sets.

    `values`: the parameter's value for each value of the axis, from the first on; (): the parameter always has the same
    value as the axis.
    """

    name: str
    values: tuple[float, ...]


@dataclass(frozen=True)
class GrowthAxis(Value, message=environment_pb2.GrowthAxis):
    """An axis of difficulty along which an arm may grow (`gradus.grow`): a greater value never makes tasks easier.

    Attributes
    ----------
    first, last
        First and last value.
    parameters
        Parameters of the generator that each value sets.
    guess
        Success rate of mere guessing, in [0, 1).
    small_through
        Greatest value of the axis at which there are fewer than 1,000 instances; 0: there is no such value.

    """

    name: str
    first: int
    last: int
    parameters: tuple[AxisParameter, ...]
    guess: float
    small_through: int


@dataclass(frozen=True)
class Environment(Value, message=environment_pb2.Environment):
    """A family of tasks. Levels come easiest first, formats, schemes and pools the default first.

    Attributes
    ----------
    environment_id, version
        Id, e.g. "np/tsp", and version, e.g. 1. Tasks never change under one version.
    category
        First part of the id before "/", or the whole id.
    goal
        "satisfy": an answer is right or not. "minimize", "maximize": smaller or larger objectives are better.
    earlier_versions
        Earlier versions with the same tasks, which judged some answers differently. Their tasks stay valid, and are
        judged by the rules of this version; `Score.info` then has "judged_by".
    calls, calls_max
        Default and maximum number of calls of an episode; 0: tasks have no turns.
    tools
        Tools that a task may give to the policy.
    deterministic
        Whether equal completions of a task always get equal scores and replies, apart from calls of
        `nondeterministic_tools`. Also False if the server is older than this field.
    nondeterministic_tools
        Names of the tools whose equal calls may get different replies.
    axes
        Axes along which an arm may grow.

    """

    environment_id: Annotated[str, Named("id")]
    version: int
    description: str
    category: str
    goal: Goal
    levels: tuple[LevelInfo, ...]
    parameters: tuple[ParameterInfo, ...]
    answer_formats: tuple[AnswerFormat, ...]
    reward_schemes: tuple[RewardSchemeInfo, ...]
    sources: tuple[Source, ...]
    pools: tuple[PoolInfo, ...]
    earlier_versions: tuple[int, ...]
    calls: int = 0
    calls_max: int = 0
    tools: tuple[Tool, ...] = ()
    deterministic: bool = False
    nondeterministic_tools: tuple[str, ...] = ()
    axes: tuple[GrowthAxis, ...] = ()


@dataclass(frozen=True)
class PortInfo(Value, message=environment_pb2.PortInfo):
    """A service outside of the server that verifiers and generators call, e.g. a judge or a sandbox.

    `missing`: reason why the server has no such service; "": it has one. `down`: reason why the server does not call
    the service now; "": it does. `running`, `waiting`: numbers of calls to the service in progress and in its queue.
    """

    name: str
    missing: str
    down: str
    running: int
    waiting: int


@dataclass(frozen=True)
class QueueInfo(Value, message=environment_pb2.QueueInfo):
    """A queue of work outside of the server's event loop. The server refuses work beyond `waiting_max`."""

    name: str
    running: int
    waiting: int
    waiting_max: int


@dataclass(frozen=True)
class NoRewardCount(Value, message=environment_pb2.NoRewardCount):
    """Number of samples without a reward since the process started.

    `resource`: the service that failed; "": none.
    """

    reason: NoRewardReason
    resource: str
    count: int


@dataclass(frozen=True)
class ReplicaInfo(Value, message=environment_pb2.ReplicaInfo):
    """A server process that uses the same store, and the seconds since its last sign of life."""

    replica_id: Annotated[str, Named("id")]
    age: float


@dataclass(frozen=True)
class StudentInfo(Value, message=environment_pb2.StudentInfo):
    """A simulated student, see `Client.simulate_run`."""

    name: str
    models: str


@dataclass(frozen=True)
class ServerLimits(Value, message=environment_pb2.ServerLimits):
    """Limits of a server on the sizes of requests.

    The fields limit the bytes of a message, groups of a call, completions of a group, and seeds of a `batch_reset`.
    """

    message_bytes: int
    groups: int
    completions: int
    completion_bytes: int
    batch_seeds: int


@dataclass(frozen=True)
class ServerInfo(Value, message=environment_pb2.ServerInfo):
    """A server, as one of its processes describes it.

    Attributes
    ----------
    version, commit
        Version, e.g. "0.1.0", and commit of the repository from which the server was built; "": not known.
    contract
        Package of the contract that the server speaks, e.g. "gradus.v1".
    environments
        Number of environments; each version counts.
    store
        Store of the runs: "memory", "sqlite" or "postgres".
    replica_id
        Random id of the server process, new at each start.
    start_time
        When the process started.
    replicas
        All server processes that share the store; empty: no other process uses the store.
    no_rewards
        Number of samples without a reward, by reason and resource.
    keep_samples_bytes, keep_samples_for
        Maximum bytes of completions kept for each run, and for how many seconds; 0 and None: none are kept.

    """

    version: str
    commit: str
    contract: str
    environments: int
    ports: tuple[PortInfo, ...]
    limits: ServerLimits
    store: str
    replica_id: str
    start_time: datetime
    queues: tuple[QueueInfo, ...]
    replicas: tuple[ReplicaInfo, ...]
    no_rewards: tuple[NoRewardCount, ...]
    keep_samples_bytes: int
    keep_samples_for: float | None
    students: tuple[StudentInfo, ...]


@dataclass(frozen=True)
class ResetResult(Value, message=environment_pb2.ResetResult):
    """One task of a batch, or the reason for which it could not be made: exactly one of `task` and `error` is set."""

    seed: int
    task: Task | None
    error: Annotated[GradusError | None, Derived(failure_in, "failure")]

    def result(self) -> Task:
        """Returns the task, or raises the error if there is none."""
        if self.task is None:
            raise self.error or AssertionError("a result has a task or an error")
        return self.task
