"""Functions that make the policies of a run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, TypeAlias

from gradus._arguments import shown, suggesting, suggestion
from gradus.enums import BanditSignal, CompetenceStep, ReplayInstances, SuccessMeasure
from gradus.policy_values import (
    BackwardTransfer,
    BanditPolicy,
    BatchConstraints,
    CompetencePolicy,
    Domain,
    EmaSoftmaxRule,
    Exp3SRule,
    ForgettingPolicy,
    FrontierPolicy,
    LearningProgress,
    MixturePolicy,
    NamedPolicy,
    Policy,
    RankRange,
    ReplayPolicy,
    SignalRescale,
    Stage,
    StagedPolicy,
    TaskFilter,
    ThompsonRule,
    Tier,
    UcbRule,
)

BanditRule: TypeAlias = Literal["ema_softmax", "exp3_s", "thompson", "ucb"]

Ranks: TypeAlias = tuple[float, float] | tuple[float, float, str]
"""Range of ranks, from the easiest rows of a run, 0, to the hardest, 1: (0, 0.3) is the easiest 30%.

A third item names the value by which the rows must be ranked: (0, 0.3, "solutions").
"""


def _checked(**parts: Any) -> Policy:
    """Returns a policy with these fields; raises ValueError for an enum name that the contract does not have."""
    made = Policy(**parts)
    made.to_proto()
    return made


@suggesting
def constraints(
    *,
    real_share_min: float | None = None,
    synthetic_share_max: float | None = None,
    hard_share_min: float | None = None,
    hard_warmup_batches: int | None = None,
) -> BatchConstraints:
    """Returns hard constraints on each update batch, as shares of its tasks (ADSC 3.3).

    Minimum shares are rounded up to whole tasks.
    """
    return BatchConstraints(
        real_share_min=real_share_min,
        synthetic_share_max=synthetic_share_max,
        hard_share_min=hard_share_min,
        hard_warmup_batches=hard_warmup_batches,
    )


@suggesting
def task_filter(*, skip_solved: bool = False, skip_failed_after: int = 0, ranks: Ranks | None = None) -> TaskFilter:
    """Returns a filter of instances that are passed over, under any policy, by the outcomes of the run's own groups.

    `skip_solved` passes over instances of which all samples of the latest group were solved. `skip_failed_after` passes
    over instances of which no sample was solved in this many groups in succession; 0: never. `ranks` is as in `stage`.
    The filter has an effect if instances come again: real pools in their second epoch, and replays.
    """
    return TaskFilter(skip_solved=skip_solved, skip_failed_after=skip_failed_after, ranks=_rank_range(ranks))


@suggesting
def mixture(constraints: BatchConstraints | None = None, *, task_filter: TaskFilter | None = None) -> Policy:
    """Returns a policy with fixed probabilities: each arm's weight over the sum of weights."""
    return Policy(mixture=MixturePolicy(), constraints=constraints, filter=task_filter)


@suggesting
def signal_rescale(
    *, low_quantile: float | None = None, high_quantile: float | None = None, window: int | None = None
) -> SignalRescale:
    """Returns a rescaling of a bandit's signals to [-1, 1] (Graves et al. 2017, section 3.1).

    A signal becomes -1 at or below the low quantile (None: 0.2), and 1 at or above the high quantile (None: 0.8). The
    quantiles are of the last `window` signals of all arms (None: 512).
    """
    return SignalRescale(low_quantile=low_quantile, high_quantile=high_quantile, window=window)


class _Rule(NamedTuple):
    kind: Any
    fields: Mapping[str, str]
    """Options of `bandit` that the rule reads, with the names of their fields in the rule's protobuf message."""


_DISCOUNTED = {"discount": "discount", "exploration": "exploration"}
_RULES: Mapping[str, _Rule] = {
    "ema_softmax": _Rule(EmaSoftmaxRule, {"alpha": "alpha", "tau": "tau"}),
    "exp3_s": _Rule(Exp3SRule, {"exp3_rate": "rate", "exp3_share": "share"}),
    "thompson": _Rule(ThompsonRule, _DISCOUNTED),
    "ucb": _Rule(UcbRule, _DISCOUNTED),
}
_PROGRESS = {"progress_fast_rate": "fast_rate", "progress_slow_rate": "slow_rate"}


@suggesting
def bandit(
    *,
    rule: BanditRule | None = None,
    signal: BanditSignal | None = None,
    epsilon: float | None = None,
    alpha: float | None = None,
    tau: float | None = None,
    exp3_rate: float | None = None,
    exp3_share: float | None = None,
    discount: float | None = None,
    exploration: float | None = None,
    progress_fast_rate: float | None = None,
    progress_slow_rate: float | None = None,
    rescale: SignalRescale | None = None,
    constraints: BatchConstraints | None = None,
    task_filter: TaskFilter | None = None,
) -> Policy:
    """Returns a bandit. An arm's probability is (1 - epsilon) of its rule's share, plus epsilon/n. None: the default.

    Rules, with n signals s of an arm in an update batch:
    "ema_softmax" (the default; ADSC 3.3): Q <- (1 - alpha) Q + alpha mean(s); shares are a softmax of Q/tau.
    "exp3_s" (Auer et al. 2002, section 8): v <- v exp(exp3_rate s/p) + exp3_share mean(v); shares proportional to v.
    "thompson": Gaussian posteriors of discounted means; `exploration` is the standard deviation of the prior.
    "ucb" (D-UCB, Garivier and Moulines 2011): discounted means plus exploration sqrt(ln(1 + N) / n).

    Signals of a group: "absolute_advantage" (the default; ADSC 3.3), the mean absolute RLOO advantage over the scheme's
    range; "solved_variance", p (1 - p) of its solved share; "learning_progress", how far a fast moving average of the
    arm's solved share is from a slow one; "mixed_outcomes", 1 if some samples are solved and some are not, else 0.

    Raises ValueError for a number that the rule and the signal do not read.
    """
    numbers = {
        "alpha": alpha,
        "tau": tau,
        "exp3_rate": exp3_rate,
        "exp3_share": exp3_share,
        "discount": discount,
        "exploration": exploration,
        "progress_fast_rate": progress_fast_rate,
        "progress_slow_rate": progress_slow_rate,
    }
    known = _RULES.get(rule or "ema_softmax") if rule is None or isinstance(rule, str) else None
    if known is None:
        near = suggestion(str(rule), _RULES)
        raise ValueError(
            f"unknown bandit rule {rule!r}: one of {', '.join(_RULES)}{near if near.startswith('; did') else ''}"
        )
    progress = _PROGRESS if signal == "learning_progress" else {}
    for name, value in numbers.items():
        if value is not None and name not in known.fields and name not in progress:
            words = f"a bandit of {rule or 'ema_softmax'} and {signal or 'absolute_advantage'} does not use it"
            raise ValueError(f"{name}: {words}")
    rates = {own: numbers[name] for name, own in progress.items()}
    own_rule: dict[str, Any] = {}
    if rule is not None or any(numbers[name] is not None for name in known.fields):
        own_rule[rule or "ema_softmax"] = known.kind(**{own: numbers[name] for name, own in known.fields.items()})
    made = BanditPolicy(
        **own_rule,
        signal=signal,
        learning_progress=LearningProgress(**rates) if any(rate is not None for rate in rates.values()) else None,
        epsilon=epsilon,
        rescale=rescale,
    )
    return _checked(bandit=made, constraints=constraints, filter=task_filter)


def _rank_range(ranks: Ranks | None) -> RankRange | None:
    if ranks is None:
        return None
    try:
        low, high, *rest = ranks
        (by,) = rest or [""]
    except (TypeError, ValueError):
        by = None
    if not isinstance(by, str):
        raise TypeError(f"ranks: want (min, max), a share of the rows each; got {shown(ranks)}")
    return RankRange(min=low, max=high, by=by)


@suggesting
def stage(
    weights: Mapping[str, float] | None = None,
    *,
    share: float | None = None,
    tasks: int | None = None,
    ranks: Ranks | None = None,
) -> Stage:
    """Returns a stage of `staged` or `replay`: weights by arm id; None: every arm by its own weight.

    A stage lasts for a share of the run's length (in `replay`: of a cycle's), or for a number of tasks. If both are
    None, it lasts until `Run.advance` (in `replay`: for an even part of the rest of the cycle). `ranks` is a slice of
    the run's rows (Curriculum RLOO); None: all rows.
    """
    if share is not None and tasks is not None:
        raise ValueError("give share or tasks, not both")
    return Stage(share=share, tasks=tasks, weights=weights or {}, ranks=_rank_range(ranks))


@suggesting
def staged(
    *stages: Stage,
    constraints: BatchConstraints | None = None,
    task_filter: TaskFilter | None = None,
) -> Policy:
    """Returns a policy of stages in succession. The last one lasts until the run's end."""
    return Policy(staged=StagedPolicy(stages=stages), constraints=constraints, filter=task_filter)


@suggesting
def replay(
    *stages: Stage,
    cycles: int | None = None,
    cycle_tasks: int | None = None,
    instances: ReplayInstances | None = None,
    constraints: BatchConstraints | None = None,
    task_filter: TaskFilter | None = None,
) -> Policy:
    """Returns a policy that repeats a cycle of stages, `cycles` times in all or every `cycle_tasks` tasks (FORGE 3.3).

    `instances`: "fresh" (the default; FORGE) draws new instances in each cycle, and "same" the same ones (NP-ENGINE
    3.3).
    """
    if (cycles is None) == (cycle_tasks is None):
        raise ValueError("give cycles or cycle_tasks, one of them")
    made = ReplayPolicy(stages=stages, cycles=cycles, cycle_tasks=cycle_tasks, instances=instances)
    return _checked(replay=made, constraints=constraints, filter=task_filter)


@suggesting
def frontier(
    *,
    measure: SuccessMeasure | None = None,
    arm_measures: Mapping[str, SuccessMeasure] | None = None,
    exploration: float | None = None,
    practice_scale: float | Literal["auto"] | None = None,
    constraints: BatchConstraints | None = None,
    task_filter: TaskFilter | None = None,
) -> Policy:
    """Returns a policy that prefers arms with something left to learn (ours). It is the default.

    The policy needs no order of levels.

    `measure` is the measure of success. "quality" (the default) goes by each arm's goal: the ratio to an optimum, the
    grade, or whether the answer is right. "solved": whether the sample is solved. "reward": the reward within the range
    of its scheme. "improvement": 0 for the trivial answer, 1 for the optimum. `arm_measures` gives some arms their own
    measure, by id. `exploration` is the share of each update batch that is spread evenly over all arms (None: 0.1).
    `practice_scale` is the number of groups of practice without progress that halve an arm's share. With "auto" (the
    default) the server measures how much practice progress takes in the run, and begins with prompts_per_update, at
    least 8.
    """
    made = FrontierPolicy(
        measure=measure,
        arm_measures=arm_measures or {},
        exploration=exploration,
        practice_scale=None if practice_scale == "auto" else practice_scale,
    )
    return _checked(frontier=made, constraints=constraints, filter=task_filter)


@suggesting
def competence(
    *tiers: Mapping[str, float],
    step: CompetenceStep | None = None,
    threshold: float | None = None,
    window: int | None = None,
    floor: float | None = None,
    newest_share: float | None = None,
    constraints: BatchConstraints | None = None,
    task_filter: TaskFilter | None = None,
) -> Policy:
    """Returns a policy of tiers from easy to hard, with weights by arm id. The next opens when the newest is mastered.

    A tier is mastered when the mean solved share of its last `window` groups (None: 32) is at least `threshold` (None:
    0.7). `step`: "widen" (the default) adds the next tier to the earlier ones, and "move_on" replaces them. `floor` is
    the share spread evenly over all tiers: 0 (the default) is Curriculum RLOO's "adaptive", and more is "hybrid".
    `newest_share` is the newest tier's share of the remaining draws; None: the same as each other tier's.
    """
    made = CompetencePolicy(
        tiers=tuple(Tier(weights) for weights in tiers),
        step=step,
        threshold=threshold,
        window=window,
        floor=floor,
        newest_share=newest_share,
    )
    return _checked(competence=made, constraints=constraints, filter=task_filter)


@suggesting
def domain(name: str, weights: Mapping[str, float], *, share: float | None = None) -> Domain:
    """Returns a domain of `forgetting`: weights by arm id, share of the run (None: an even part of the rest)."""
    return Domain(name=name, weights=weights, share=share)


@suggesting
def forgetting(
    *domains: Domain,
    transfers: Mapping[str, Mapping[str, float]] | None = None,
    most_forgotten_first: bool = False,
    constraints: BatchConstraints | None = None,
    task_filter: TaskFilter | None = None,
) -> Policy:
    """Returns a policy of domains in succession, the least forgotten first (Omni-Thinker 4.3).

    `transfers`: for each domain that was trained on, the changes of the scores of the other domains, after minus
    before. A negative change is forgetting. Domains come in descending order of their mean change.
    `most_forgotten_first` reverses the order: the paper's ablation.
    """
    if not (transfers is None or isinstance(transfers, Mapping)):
        raise TypeError(
            f"transfers: want a mapping from each domain to the changes of the others; got {shown(transfers)}"
        )
    rows = tuple(BackwardTransfer(trained, changes) for trained, changes in (transfers or {}).items())
    made = ForgettingPolicy(domains=domains, transfers=rows, reversed=most_forgotten_first)
    return Policy(forgetting=made, constraints=constraints, filter=task_filter)


@suggesting
def named_policy(
    name: str,
    parameters: Mapping[str, Any] | None = None,
    *,
    constraints: BatchConstraints | None = None,
    task_filter: TaskFilter | None = None,
) -> Policy:
    """Returns a policy by its name: one of the server's own, or one of the contract's.

    `parameters`: plain JSON, named as in the contract: `named_policy("staged", {"stages": [...]})` is `staged(...)`.
    None: the defaults.
    """
    return _checked(named=NamedPolicy(name, parameters), constraints=constraints, filter=task_filter)


@suggesting
def recommended(*, constraints: BatchConstraints | None = None) -> Policy:
    """Returns the recommended policy: `frontier` with its defaults, which needs no knowledge of the arms.

    It was chosen by experiments with simulated students, models of how a policy learns (bench/curriculum). With it, no
    student needed much more training than if all arms had equal shares.
    """
    return frontier(constraints=constraints)
