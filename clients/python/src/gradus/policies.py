"""Short ways to write the arms and policies of a run; what they return are messages of the contract."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from gradus._enums import (
    AnswerFormat,
    BanditRule,
    BanditSignal,
    CompetenceStep,
    ReplayInstances,
    Source,
    Split,
    value_of,
)
from gradus._spec import SpecOptions, task_spec
from gradus.v1 import curriculum_pb2 as cur
from gradus.v1 import task_pb2


def arm(
    environment: str,
    level: str | None = None,
    *,
    id: str | None = None,
    source: Source = "synthetic",
    weight: float | None = None,
    hard: bool = False,
    kl_coefficient: float | None = None,
    parameters: Mapping[str, float] | None = None,
    pool: str = "",
    version: int = 0,
    answer_format: AnswerFormat | None = None,
    reward_scheme: str | task_pb2.RewardScheme | None = None,
) -> cur.Arm:
    """An arm: what a policy chooses between. Its id is "environment/level/source" unless given.

    `hard` says whether the constraint `hard_share_min` counts it. Each of its tasks carries `kl_coefficient` for the
    trainer. Without `answer_format` and `reward_scheme` the run's count.
    """
    options: SpecOptions = {"source": source, "pool": pool, "version": version}
    if answer_format is not None:
        options["answer_format"] = answer_format
    if reward_scheme is not None:
        options["reward_scheme"] = reward_scheme
    if level is not None:
        options["level"] = level
    if parameters is not None:
        options["parameters"] = parameters
    spec = task_spec(environment, **options)
    name = id or "/".join(part for part in (environment, level, source) if part)
    return cur.Arm(id=name, spec=spec, weight=weight, hard=hard, kl_coefficient=kl_coefficient)


def evaluation_arm(
    environment: str,
    level: str | None = None,
    *,
    tasks: int,
    id: str | None = None,
    num_generations: int = 0,
    split: Split = "eval",
    source: Source = "synthetic",
    parameters: Mapping[str, float] | None = None,
    pool: str = "",
    version: int = 0,
    answer_format: AnswerFormat | None = None,
    reward_scheme: str | task_pb2.RewardScheme | None = None,
) -> cur.EvaluationArm:
    """A set of `tasks` tasks that a run is evaluated on beside training; see `Run.next_evaluation`.

    Its id is "split/environment/level" unless given. `num_generations` 0 is the run's. Without `answer_format` and
    `reward_scheme` the run's count.
    """
    like = arm(
        environment,
        level,
        source=source,
        parameters=parameters,
        pool=pool,
        version=version,
        answer_format=answer_format,
        reward_scheme=reward_scheme,
    )
    like.spec.split = value_of("SPLIT_", split)
    name = id or "/".join(part for part in (split, environment, level) if part)
    return cur.EvaluationArm(id=name, spec=like.spec, tasks=tasks, num_generations=num_generations)


def constraints(
    *,
    real_share_min: float | None = None,
    synthetic_share_max: float | None = None,
    hard_share_min: float | None = None,
    hard_warmup_batches: int | None = None,
) -> cur.BatchConstraints:
    """Hard constraints on each update batch, as shares of its tasks; quotas round up (ADSC 3.3)."""
    return cur.BatchConstraints(
        real_share_min=real_share_min,
        synthetic_share_max=synthetic_share_max,
        hard_share_min=hard_share_min,
        hard_warmup_batches=hard_warmup_batches,
    )


def task_filter(*, skip_solved: bool = False, skip_failed_after: int = 0, ranks: Ranks | None = None) -> cur.TaskFilter:
    """Which instances are passed over, for what this run's own groups of them came to; around any policy.

    `skip_solved`: those of which every sample was solved the last time. `skip_failed_after`: those of which no sample
    was solved so many times in a row; 0: never. `ranks`: as in `stage`. It matters where instances come again: real
    pools in their second epoch, and replays.
    """
    return cur.TaskFilter(skip_solved=skip_solved, skip_failed_after=skip_failed_after, ranks=_rank_range(ranks))


def mixture(
    constraints: cur.BatchConstraints | None = None, *, task_filter: cur.TaskFilter | None = None
) -> cur.Policy:
    """Fixed probabilities: each arm's weight over the sum of weights."""
    return cur.Policy(mixture=cur.MixturePolicy(), constraints=constraints, filter=task_filter)


def signal_rescale(
    *, low_quantile: float | None = None, high_quantile: float | None = None, window: int | None = None
) -> cur.SignalRescale:
    """Brings a bandit's signals to [-1, 1] (Graves et al. 2017, section 3.1).

    -1 is at or below the low quantile (None: 0.2) of the last `window` signals of all arms (None: 512), 1 at or above
    the high one (None: 0.8).
    """
    return cur.SignalRescale(low_quantile=low_quantile, high_quantile=high_quantile, window=window)


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
    rescale: cur.SignalRescale | None = None,
    constraints: cur.BatchConstraints | None = None,
    task_filter: cur.TaskFilter | None = None,
) -> cur.Policy:
    """A bandit over the arms: (1 - epsilon) of its rule's share of an arm, plus epsilon/n. None: the default.

    Rules, with n signals s of an arm in an update batch:
    "ema_softmax" (the default; ADSC 3.3): Q <- (1 - alpha) Q + alpha mean(s); shares are a softmax of Q/tau.
    "exp3_s" (Auer et al. 2002, section 8): v <- v exp(exp3_rate s/p) + exp3_share mean(v); shares are v's.
    "thompson": Gaussian posteriors of means that are discounted after each batch, `exploration` the prior's deviation.
    "ucb" (D-UCB, Garivier and Moulines 2011): such means plus exploration sqrt(ln(1 + N) / n).

    Signals of a group: "absolute_advantage" (the default; ADSC 3.3), the mean absolute RLOO advantage over the scheme's
    range; "solved_variance", p (1 - p) of its solved share; "learning_progress", how far a fast moving average of the
    arm's solved share is from a slow one; "mixed_outcomes", 1 where some samples are solved and some are not, else 0.

    A number that the rule and the signal do not read is refused by the server.
    """
    made = cur.BanditPolicy(
        rule=value_of("BANDIT_RULE_", rule),
        signal=value_of("BANDIT_SIGNAL_", signal),
        epsilon=epsilon,
        alpha=alpha,
        tau=tau,
        exp3_rate=exp3_rate,
        exp3_share=exp3_share,
        discount=discount,
        exploration=exploration,
        progress_fast_rate=progress_fast_rate,
        progress_slow_rate=progress_slow_rate,
        rescale=rescale,
    )
    return cur.Policy(bandit=made, constraints=constraints, filter=task_filter)


Ranks: TypeAlias = tuple[float, float]
"""From the easiest rows of a pool, 0, to the hardest, 1: (0, 0.3) is the easiest 30%."""


def _rank_range(ranks: Ranks | None) -> cur.RankRange | None:
    return None if ranks is None else cur.RankRange(min=ranks[0], max=ranks[1])


def stage(
    weights: Mapping[str, float] | None = None,
    *,
    share: float | None = None,
    tasks: int | None = None,
    ranks: Ranks | None = None,
) -> cur.Stage:
    """A stage of `staged` or `replay`: weights by arm id; None: every arm by its own weight.

    It lasts for a share of the run's length (of a cycle's, in `replay`), or for a number of tasks; None: until
    `Run.advance` (in `replay`: an even part of what is left of the cycle). `ranks` is a slice of a ranked pool
    (Curriculum RLOO); None: all of it.
    """
    if share is not None and tasks is not None:
        raise ValueError("give share or tasks, not both")
    made = cur.Stage(weights=weights, ranks=_rank_range(ranks))
    if share is not None:
        made.share = share
    if tasks is not None:
        made.tasks = tasks
    return made


def staged(
    *stages: cur.Stage,
    constraints: cur.BatchConstraints | None = None,
    task_filter: cur.TaskFilter | None = None,
) -> cur.Policy:
    """Stages one after the other; the last lasts to the run's end."""
    return cur.Policy(staged=cur.StagedPolicy(stages=stages), constraints=constraints, filter=task_filter)


def replay(
    *stages: cur.Stage,
    cycles: int | None = None,
    cycle_tasks: int | None = None,
    instances: ReplayInstances | None = None,
    constraints: cur.BatchConstraints | None = None,
    task_filter: cur.TaskFilter | None = None,
) -> cur.Policy:
    """A cycle of stages, `cycles` times over the run's length, or again every `cycle_tasks` tasks (FORGE 3.3).

    `instances`: "fresh" (the default; FORGE), or in each cycle the "same" again (NP-ENGINE 3.3).
    """
    if (cycles is None) == (cycle_tasks is None):
        raise ValueError("give cycles or cycle_tasks, one of them")
    made = cur.ReplayPolicy(stages=stages, instances=value_of("REPLAY_INSTANCES_", instances))
    if cycles is not None:
        made.cycles = cycles
    if cycle_tasks is not None:
        made.cycle_tasks = cycle_tasks
    return cur.Policy(replay=made, constraints=constraints, filter=task_filter)


def competence(
    *tiers: Mapping[str, float],
    step: CompetenceStep | None = None,
    threshold: float | None = None,
    window: int | None = None,
    floor: float | None = None,
    newest_share: float | None = None,
    constraints: cur.BatchConstraints | None = None,
    task_filter: cur.TaskFilter | None = None,
) -> cur.Policy:
    """Tiers from easy to hard, weights by arm id; the next is opened once the newest is mastered.

    It is, when the mean solved share of its last `window` groups (None: 32) is at least `threshold` (None: 0.7).
    `step`: "widen" (the default) draws the next tier beside those before it, "move_on" in their place. `floor` is the
    share drawn from all tiers alike: 0 (the default) is Curriculum RLOO's "adaptive", above it "hybrid". `newest_share`
    is the newest tier's of the rest; None: as much as each of the others.
    """
    made = cur.CompetencePolicy(
        tiers=[cur.Tier(weights=weights) for weights in tiers],
        step=value_of("COMPETENCE_STEP_", step),
        threshold=threshold,
        window=window,
        floor=floor,
        newest_share=newest_share,
    )
    return cur.Policy(competence=made, constraints=constraints, filter=task_filter)


def domain(name: str, weights: Mapping[str, float], *, share: float | None = None) -> cur.Domain:
    """A domain of `forgetting`: weights by arm id, and its share of the run's length (None: what is left, evenly)."""
    return cur.Domain(name=name, weights=weights, share=share)


def forgetting(
    *domains: cur.Domain,
    transfers: Mapping[str, Mapping[str, float]] | None = None,
    reversed: bool = False,
    constraints: cur.BatchConstraints | None = None,
    task_filter: cur.TaskFilter | None = None,
) -> cur.Policy:
    """Domains one after the other, the least forgotten first (Omni-Thinker 4.3).

    `transfers`: by the domain that was trained on, the change of each other's score, after minus before; negative is
    forgetting. Domains come in descending order of their mean change. `reversed`: the most forgotten first.
    """
    rows = [cur.BackwardTransfer(trained=trained, changes=changes) for trained, changes in (transfers or {}).items()]
    made = cur.ForgettingPolicy(domains=domains, transfers=rows, reversed=reversed)
    return cur.Policy(forgetting=made, constraints=constraints, filter=task_filter)


def recommended(levels: Sequence[Sequence[str]], *, constraints: cur.BatchConstraints | None = None) -> cur.Policy:
    """The policy to begin with: ids of arms by level, from the easiest.

    It draws from a level until 0.7 of the samples of its last 32 groups are solved, then from the next, and from all
    arms alike once the last is passed; a quarter of each batch is from all levels. Chosen by simulated students
    (bench/curriculum). An arm that is never solved holds its level up, until `Run.advance` or a weight of 0.
    """
    if not levels or not all(levels) or any(isinstance(ids, str) for ids in levels):
        raise ValueError("levels: want at least one level, and a list of at least one arm's id for each")
    every = [arm_id for ids in levels for arm_id in ids]
    tiers = [*levels, every] if len(levels) > 1 else levels
    return cur.Policy(
        competence=cur.CompetencePolicy(
            tiers=[cur.Tier(weights=dict.fromkeys(ids, 1.0)) for ids in tiers],
            step=cur.COMPETENCE_STEP_MOVE_ON,
            threshold=0.7,
            window=32,
            floor=0.25,
        ),
        constraints=constraints,
    )
