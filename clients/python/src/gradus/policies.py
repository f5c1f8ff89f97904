"""Short ways to write the arms and policies of a run; what they return are messages of the contract."""

from __future__ import annotations

from collections.abc import Mapping

from gradus._enums import AnswerFormat, Source, Split, value_of
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
    parameters: Mapping[str, float] | None = None,
    pool: str = "",
    version: int = 0,
    answer_format: AnswerFormat | None = None,
    reward_scheme: str | task_pb2.RewardScheme | None = None,
) -> cur.Arm:
    """An arm: what a policy chooses between. Its id is "environment/level/source" unless given.

    `hard` says whether the constraint `hard_share_min` counts it. Without `answer_format` and `reward_scheme` the run's
    count.
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
    return cur.Arm(id=name, spec=spec, weight=weight, hard=hard)


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


def mixture(constraints: cur.BatchConstraints | None = None) -> cur.Policy:
    """Fixed probabilities: each arm's weight over the sum of weights."""
    return cur.Policy(mixture=cur.MixturePolicy(), constraints=constraints)


def bandit(
    *,
    alpha: float | None = None,
    tau: float | None = None,
    epsilon: float | None = None,
    constraints: cur.BatchConstraints | None = None,
) -> cur.Policy:
    """ADSC's bandit: a softmax of moving averages of each arm's mean absolute advantage. None: the paper's value."""
    return cur.Policy(
        bandit=cur.BanditPolicy(
            rule=cur.BANDIT_RULE_EMA_SOFTMAX,
            signal=cur.BANDIT_SIGNAL_ABSOLUTE_ADVANTAGE,
            alpha=alpha,
            tau=tau,
            epsilon=epsilon,
        ),
        constraints=constraints,
    )


def stage(
    weights: Mapping[str, float] | None = None, *, share: float | None = None, tasks: int | None = None
) -> cur.Stage:
    """A stage of `staged`: weights by arm id; None: every arm by its own weight.

    It lasts for a share of the run's length, or for a number of tasks; None: until `Run.advance`.
    """
    if share is not None and tasks is not None:
        raise ValueError("give share or tasks, not both")
    made = cur.Stage(weights=weights)
    if share is not None:
        made.share = share
    if tasks is not None:
        made.tasks = tasks
    return made


def staged(*stages: cur.Stage, constraints: cur.BatchConstraints | None = None) -> cur.Policy:
    """Stages one after the other; the last lasts to the run's end."""
    return cur.Policy(staged=cur.StagedPolicy(stages=stages), constraints=constraints)
