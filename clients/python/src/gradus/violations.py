"""Counts of what is wrong with the completions of a run, and signs that the policy exploits its reward."""

from __future__ import annotations

from dataclasses import dataclass

from gradus._values import Value
from gradus.enums import HackingSignKind, NoRewardReason, Verdict
from gradus.lengths import CompletionLengths
from gradus.v1 import curriculum_pb2 as cur


@dataclass(frozen=True)
class SampleSums(Value, message=cur.SampleSums):
    """Sums over samples.

    Attributes
    ----------
    samples, scored
        Number of samples, and number of those with a reward.
    solved, truncated
        Number of samples with a reward that reach the goal, and whose completion was cut off.
    reward_mean, quality_mean
        Mean reward, and mean quality in [0, 1], of the samples with a reward; None: there are none.
    lengths
        Lengths of the samples with a reward; None: there are none.

    """

    samples: int
    scored: int
    solved: int
    truncated: int
    reward_mean: float | None
    quality_mean: float | None
    lengths: CompletionLengths | None


@dataclass(frozen=True)
class ViolationCount(Value, message=cur.ViolationCount):
    """Violations that differ only in numbers, quoted texts and names.

    Attributes
    ----------
    template
        The violation with "…" in place of numbers, quoted texts and names, for the filter `violation_template` of
        `Run.samples`.
    verdict
        Verdict of the samples.
    count
        Number of samples.
    stretches
        Number of samples in each of `ArmViolations.stretches`.
    search
        Words that all violations of the template contain, for the filter `violation` of `Run.samples`, which may also
        find samples of other templates; "": they have no words in common.

    """

    template: str
    verdict: Verdict
    count: int
    stretches: tuple[int, ...]
    search: str


@dataclass(frozen=True)
class MissingRewards(Value, message=cur.MissingRewards):
    """Number of samples that have no reward for one reason."""

    reason: NoRewardReason
    count: int


@dataclass(frozen=True)
class RewardBin(Value, message=cur.RewardBin):
    """Samples with a reward from `lower` to below `upper`. The first and last bins also have all rewards beyond."""

    lower: float
    upper: float
    sums: SampleSums


@dataclass(frozen=True)
class SampleStretch(Value, message=cur.SampleStretch):
    """Samples of a stretch of the run, which begins at the task with the number `cursor`."""

    cursor: int
    sums: SampleSums


@dataclass(frozen=True)
class HackingSign(Value, message=cur.HackingSign):
    """Sign that the policy exploits the reward of an arm. A person has to look at samples to know.

    Attributes
    ----------
    kind
        Kind of the sign. The contract's HackingSignKind gives the rules.
    subject
        Template of the dominant violation, or name of the saturated component; otherwise "".
    before, now
        Early and late mean of the reward, length or component, or share of the violation.

    """

    kind: HackingSignKind
    subject: str
    before: float
    now: float


@dataclass(frozen=True)
class ArmViolations(Value, message=cur.ArmViolations):
    """Counts of the samples of one arm, or of all arms.

    Attributes
    ----------
    arm_id
        Id of the arm; "": all arms of training.
    sums
        All samples.
    violations
        Violations, most frequent first: at most 64, or 8 in brief.
    other_violations
        Number of samples with other violations.
    missing_rewards
        Samples without a reward, by reason, most frequent first.
    rewards
        Histogram of the rewards, without empty bins, least rewards first.
    stretches
        Stretches of the run with samples, at most 32, in order; none in brief.
    signs
        Signs that the policy exploits the arm's reward; none for all arms together.

    """

    arm_id: str
    sums: SampleSums
    violations: tuple[ViolationCount, ...]
    other_violations: int
    missing_rewards: tuple[MissingRewards, ...]
    rewards: tuple[RewardBin, ...]
    stretches: tuple[SampleStretch, ...]
    signs: tuple[HackingSign, ...]


@dataclass(frozen=True)
class Violations(Value, message=cur.GetViolationsResponse):
    """Counts of what is wrong with a run's completions.

    Attributes
    ----------
    total
        All arms of training together.
    arms
        Arms with samples, in brief. If the request named an arm: only that arm, in full.
    stretch_tasks
        Number of tasks in each stretch, a power of 2, which doubles as the run goes on.
    counted
        Whether this server counts samples of runs. If not, the result has only counts from before.

    """

    total: ArmViolations
    arms: tuple[ArmViolations, ...]
    stretch_tasks: int
    counted: bool
