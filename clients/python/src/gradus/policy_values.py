"""Dataclasses of policies. `gradus.policies` has functions that make them; curriculum.proto gives their meaning."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gradus._values import Value
from gradus.enums import BanditSignal, CompetenceStep, ReplayInstances, SuccessMeasure
from gradus.v1 import curriculum_pb2 as cur


@dataclass(frozen=True)
class MixturePolicy(Value, message=cur.MixturePolicy):
    """A policy with fixed probabilities: each arm's weight over the sum of weights."""


@dataclass(frozen=True)
class SignalRescale(Value, message=cur.SignalRescale):
    """A rescaling of signals to [-1, 1] by their recent quantiles; see `gradus.signal_rescale`."""

    low_quantile: float | None
    high_quantile: float | None
    window: int | None


@dataclass(frozen=True)
class EmaSoftmaxRule(Value, message=cur.EmaSoftmaxRule):
    """A bandit's rule: a softmax over moving averages of the arms' signals (ADSC 3.3)."""

    alpha: float | None = None
    tau: float | None = None


@dataclass(frozen=True)
class Exp3SRule(Value, message=cur.Exp3SRule):
    """A bandit's rule: exponential weights that forget (Auer et al. 2002)."""

    rate: float | None = None
    share: float | None = None


@dataclass(frozen=True)
class ThompsonRule(Value, message=cur.ThompsonRule):
    """A bandit's rule: Thompson sampling of discounted means."""

    discount: float | None = None
    exploration: float | None = None


@dataclass(frozen=True)
class UcbRule(Value, message=cur.UcbRule):
    """A bandit's rule: upper confidence bounds of discounted means."""

    discount: float | None = None
    exploration: float | None = None


@dataclass(frozen=True)
class LearningProgress(Value, message=cur.LearningProgress):
    """Rates of the two moving averages of the signal "learning_progress"."""

    fast_rate: float | None = None
    slow_rate: float | None = None


@dataclass(frozen=True)
class BanditPolicy(Value, message=cur.BanditPolicy):
    """A bandit over the arms; see `gradus.bandit`. At most one rule is set. None: the default."""

    ema_softmax: EmaSoftmaxRule | None = None
    exp3_s: Exp3SRule | None = None
    thompson: ThompsonRule | None = None
    ucb: UcbRule | None = None
    signal: BanditSignal | None = None
    learning_progress: LearningProgress | None = None
    epsilon: float | None = None
    rescale: SignalRescale | None = None


@dataclass(frozen=True)
class RankRange(Value, message=cur.RankRange):
    """A part of a run's rows by rank, from the easiest, at 0, to the hardest, at 1.

    Attributes
    ----------
    by
        Measure by which rows are ranked; "": that of the arms' pools. In a created run it is set.
    rows
        Number of rows of each arm in this part, by the arm's id; set by the server.

    """

    min: float | None
    max: float | None
    by: str = ""
    rows: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Stage(Value, message=cur.Stage):
    """A part of a run with its own weights of arms; see `gradus.stage`."""

    share: float | None
    tasks: int | None
    weights: Mapping[str, float]
    ranks: RankRange | None


@dataclass(frozen=True)
class StagedPolicy(Value, message=cur.StagedPolicy):
    """A policy that goes through stages one after the other, each with its own weights of arms."""

    stages: tuple[Stage, ...]


@dataclass(frozen=True)
class ReplayPolicy(Value, message=cur.ReplayPolicy):
    """A policy that repeats a cycle of stages."""

    stages: tuple[Stage, ...]
    cycles: int | None
    cycle_tasks: int | None
    instances: ReplayInstances | None


@dataclass(frozen=True)
class FrontierPolicy(Value, message=cur.FrontierPolicy):
    """A policy that prefers arms with something left to learn; see `gradus.frontier`."""

    measure: SuccessMeasure | None = None
    arm_measures: Mapping[str, SuccessMeasure] = field(default_factory=dict)
    exploration: float | None = None
    practice_scale: float | None = None


@dataclass(frozen=True)
class Tier(Value, message=cur.Tier):
    """Arms that open together, with their weights."""

    weights: Mapping[str, float]


@dataclass(frozen=True)
class CompetencePolicy(Value, message=cur.CompetencePolicy):
    """A policy with tiers of arms. A tier opens when the one before is mastered; see `gradus.competence`."""

    tiers: tuple[Tier, ...]
    step: CompetenceStep | None = None
    threshold: float | None = None
    window: int | None = None
    floor: float | None = None
    newest_share: float | None = None


@dataclass(frozen=True)
class Domain(Value, message=cur.Domain):
    """Arms that are trained on together."""

    name: str
    weights: Mapping[str, float]
    share: float | None


@dataclass(frozen=True)
class BackwardTransfer(Value, message=cur.BackwardTransfer):
    """Changes in the scores of other domains after training on one domain; negative is forgetting."""

    trained: str
    changes: Mapping[str, float]


@dataclass(frozen=True)
class ForgettingPolicy(Value, message=cur.ForgettingPolicy):
    """A policy with domains in succession, the least forgotten first."""

    domains: tuple[Domain, ...]
    transfers: tuple[BackwardTransfer, ...]
    reversed: bool


@dataclass(frozen=True)
class NamedPolicy(Value, message=cur.NamedPolicy):
    """A policy by its name; see `gradus.named_policy`."""

    name: str
    parameters: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class BatchConstraints(Value, message=cur.BatchConstraints):
    """Hard constraints on each update batch; see `gradus.constraints`."""

    real_share_min: float | None
    synthetic_share_max: float | None
    hard_share_min: float | None
    hard_warmup_batches: int | None


@dataclass(frozen=True)
class TaskFilter(Value, message=cur.TaskFilter):
    """Filter of instances that are passed over; see `gradus.task_filter`."""

    skip_solved: bool
    skip_failed_after: int
    ranks: RankRange | None


@dataclass(frozen=True)
class Policy(Value, message=cur.Policy):
    """Rule that chooses the next arm: exactly one of the kinds is set. Constraints and filter go with any kind."""

    mixture: MixturePolicy | None = None
    bandit: BanditPolicy | None = None
    staged: StagedPolicy | None = None
    replay: ReplayPolicy | None = None
    competence: CompetencePolicy | None = None
    forgetting: ForgettingPolicy | None = None
    named: NamedPolicy | None = None
    frontier: FrontierPolicy | None = None
    constraints: BatchConstraints | None = None
    filter: TaskFilter | None = None
