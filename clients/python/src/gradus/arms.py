"""Arms of a run, and families of tasks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, TypedDict

from gradus._arguments import listed, shown, suggesting
from gradus.enums import AnswerFormat, Source, Split, Thinking
from gradus.runs import Arm, EvaluationArm, Growth, RowCurriculum, RowLearnability, RowTarget
from gradus.tasks import RewardScheme, TaskSpec

if TYPE_CHECKING:
    from typing_extensions import Unpack


class SpecOptions(TypedDict, total=False):
    """Settings of a family of tasks beside its environment. Left out: the environment's defaults.

    `level` and `parameters` exclude each other. `pool` is for the source "real" only. `thinking` says how much of its
    thinking a completion holds. "required": all of it. "prefilled": the chat template puts `<think>` into the prompt.
    "stripped": the chat template removes the thoughts. `calls`: maximum number of calls of an episode; 0: the
    environment's. `tools`: names of the tools that the policy may call; none unless given. `reply_detail`: how much the
    reply to each try reveals, if a task allows several. "verdict": whether the answer is right. "reason": also what is
    wrong. "distance", and "", the default: also how far it is from the best known answer.
    """

    level: str | None
    parameters: Mapping[str, float] | None
    split: Split
    source: Source | None
    pool: str
    version: int
    answer_format: AnswerFormat | None
    thinking: Thinking | None
    reward_scheme: str | RewardScheme | None
    calls: int
    tools: Iterable[str]
    reply_detail: str


@suggesting
def task_spec(environment: str, **options: Unpack[SpecOptions]) -> TaskSpec:
    """Returns a family of tasks: all settings of a task except its seed.

    Raises
    ------
    ValueError
        If both a level and parameters are given, or a name (e.g. of a split) is unknown.

    """
    if isinstance(environment, bytes):
        raise TypeError(f"environment: want its id as str; got {shown(environment)}; decode it")
    level, parameters = options.get("level"), options.get("parameters")
    if level is not None and parameters is not None:
        raise ValueError("give level or parameters, not both")
    spec = TaskSpec(
        environment=environment,
        version=options.get("version", 0),
        level=level,
        parameters=parameters,
        split=options.get("split"),
        source=options.get("source"),
        pool=options.get("pool", ""),
        answer_format=options.get("answer_format"),
        reward_scheme=reward_scheme_of(options.get("reward_scheme")),
        thinking=options.get("thinking"),
        calls=options.get("calls", 0),
        tools=tuple(listed(options.get("tools", ()), str, "tools")),
        reply_detail=options.get("reply_detail", ""),
    )
    spec.to_proto()  # Raises for names that the contract does not have.
    return spec


def reward_scheme_of(scheme: str | RewardScheme | None) -> RewardScheme | None:
    """Returns the reward scheme with a name; returns a `RewardScheme` unchanged."""
    return RewardScheme(scheme, {}) if isinstance(scheme, str) else scheme


@suggesting
def arm(
    environment: str,
    level: str | None = None,
    *,
    arm_id: str | None = None,
    source: Source | None = None,
    weight: float | None = None,
    hard: bool = False,
    kl_coefficient: float | None = None,
    rank_group: str = "",
    rows: RowCurriculum | None = None,
    grow: Growth | str | None = None,
    parameters: Mapping[str, float] | None = None,
    pool: str = "",
    version: int = 0,
    answer_format: AnswerFormat | None = None,
    reward_scheme: str | RewardScheme | None = None,
    calls: int = 0,
    tools: Iterable[str] = (),
    reply_detail: str = "",
) -> Arm:
    """Returns an arm: a set of tasks, one of those among which the policy of a run chooses.

    The id defaults to "environment/level/source", of the parts that are given. An environment with "*", which matches
    anything but "/", makes a family: `arm("np/*")` is one arm for each level of each environment of the server that
    matches, and `arm("np/*", grow=grow())` one growing arm for each environment. `Run.check` lists them.

    Without `source` tasks are generated if the environment has a generator, and otherwise are rows of a pool, as for
    code, qa and writing.

    `hard` says whether the constraint `hard_share_min` counts the arm. Each of its tasks carries `kl_coefficient` for
    the trainer. Some policies draw rows of a pool by their rank of difficulty. Arms with the same `rank_group` have
    their rows ranked together; all arms without one form one group. With `rows` (`gradus.rows`) the arm chooses
    rows by their pass rates. With `grow` (`gradus.grow`, or the name of an axis) the arm has no level, and opens the
    levels of the axis one after the other. Without `answer_format` and `reward_scheme` the run's apply. `calls`,
    `tools` and `reply_detail`: see `SpecOptions`.
    """
    spec = task_spec(
        environment,
        level=level,
        parameters=parameters,
        source=source,
        pool=pool,
        version=version,
        answer_format=answer_format,
        reward_scheme=reward_scheme,
        calls=calls,
        tools=tools,
        reply_detail=reply_detail,
    )
    # A pattern such as "np/*" stands for several arms, whose ids the server makes.
    own = "" if "*" in environment else "/".join(part for part in (environment, level, source) if part)
    name = arm_id or own
    growth = Growth(grow) if isinstance(grow, str) else grow
    return Arm(name, spec, weight, hard, kl_coefficient, rank_group, rows, growth)


@suggesting
def grow(axis: str = "", *, start: int = 0, step: int = 0, cap: int = 0) -> Growth:
    """Returns the growth of an arm along an axis of its environment (`Environment.axes`).

    Parameters
    ----------
    axis
        Name of the axis, e.g. "vertices". "": the first axis of each environment, for a family of arms only.
    start, cap
        Values of the first and of the last level; 0: those of the axis.
    step
        Difference between the values of two successive levels; 0: 1.

    """
    return Growth(axis, start, step, cap)


@suggesting
def rows(
    *,
    sharpness: int | None = None,
    target: tuple[float, float] | float | None = None,
    width: float | None = None,
    floor: float | None = None,
    kept: float | None = None,
    retire_after: int = 0,
    count: int = 0,
    column_samples: float | None = None,
) -> RowCurriculum:
    """Returns a row curriculum: a rule by which an arm prefers rows from whose pass rates most can be learned.

    Parameters
    ----------
    sharpness
        The interest of a row is (4p(1 - p)) to this power, where p is its pass rate; None: 6.
    target, width
        In place of `sharpness`: the pass rate of the rows to prefer, or (start, end) if it moves over the run. `width`:
        standard deviation of the bell curve around the target; None: 0.15.
    floor
        Share of draws that is spread evenly over all rows; None: 0.05.
    kept
        Weight in [0, 1] that a row's earlier results keep when a new group of completions of the row is closed; None:
        0.75.
    retire_after
        Number of successive groups with all samples solved after which a row is no longer drawn; 0: never.
    count
        Number of rows of an arm of generated tasks. 0: the arm has a pool.
    column_samples
        Number of samples that each rate in the pool's column `pass_rate` is worth; 0: the column is ignored; None: 8.

    """
    if target is not None and sharpness is not None:
        raise ValueError("give sharpness or target, not both")
    if width is not None and target is None:
        raise ValueError("width needs a target: give one")
    if isinstance(target, (tuple, list)) and len(target) != _ENDS:
        raise ValueError(f"target: want a pass rate, or (start, end); got {shown(target)}")
    low, high = target if isinstance(target, (tuple, list)) else (target, target)
    return RowCurriculum(
        learnability=None if target is not None else RowLearnability(sharpness),
        target=None if target is None else RowTarget(low, high, width),
        floor=floor,
        kept=kept,
        retire_after=retire_after,
        count=count,
        column_samples=column_samples,
    )


_ENDS = 2


class EvaluationArmOptions(TypedDict, total=False):
    """Settings of an evaluation arm that may be left out. `arm` describes them."""

    source: Source | None
    parameters: Mapping[str, float] | None
    pool: str
    version: int
    answer_format: AnswerFormat | None
    reward_scheme: str | RewardScheme | None
    calls: int
    tools: Iterable[str]
    reply_detail: str


@suggesting
def evaluation_arm(
    environment: str,
    level: str | None = None,
    *,
    tasks: int,
    arm_id: str | None = None,
    num_generations: int = 0,
    split: Split = "eval",
    **options: Unpack[EvaluationArmOptions],
) -> EvaluationArm:
    """Returns an evaluation arm: a set of `tasks` tasks on which a run is evaluated beside training.

    See `Run.next_evaluation`. The id defaults to "split/environment/level". `num_generations` 0 means the run's.
    Without `answer_format` and `reward_scheme` the run's apply.
    """
    spec = replace(arm(environment, level, **options).spec, split=split)
    name = arm_id or "/".join(part for part in (split, environment, level) if part)
    return EvaluationArm(name, spec, tasks, num_generations)
