"""What can be asked before training: what an answer is worth, a right answer, a run's faults and what it would draw."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from gradus._values import Derived, Named, Value
from gradus.outcomes import Baseline, Outcome
from gradus.runs import RunConfig
from gradus.v1 import curriculum_pb2, environment_pb2


def _outcome(proto: environment_pb2.TryAnswerResponse) -> Outcome:
    return Outcome.from_proto(proto.outcome)


@dataclass(frozen=True)
class TriedAnswer(Value, message=environment_pb2.TryAnswerResponse):
    """What an answer would be worth. `completion` is what was scored: spans are places in it."""

    completion: str
    outcome: Annotated[Outcome, Derived(_outcome, "outcome")]


@dataclass(frozen=True)
class Solution(Value, message=environment_pb2.SolveTaskResponse):
    """A right answer, or the best that the solver found.

    `completion` gives it in the task's format. `baseline` None: an answer is right or not. `nodes`: search nodes.
    `svg`: the picture, where it was asked for.
    """

    answer: str
    completion: str
    baseline: Baseline | None
    nodes: int
    svg: str


@dataclass(frozen=True)
class RunRemark(Value, message=curriculum_pb2.RunRemark):
    """Something to say of a configuration, in words.

    `of`: the field, e.g. "policy.bandit.epsilon"; "": the whole. `line` is the file's, from 1; 0: there is no file.
    """

    of: Annotated[str, Named("field")]
    words: Annotated[str, Named("message")]
    line: int


@dataclass(frozen=True)
class CheckedRun(Value, message=curriculum_pb2.CheckRunResponse):
    """What was found: without `problems` the run can be created.

    Attributes
    ----------
    config
        As it was read; None: the file does not read.
    run_id
        Of the file; "": it has none.
    created
        What would be created of it: families of arms (`gradus.arm("np/*")`) are spelled out, behind the others, an arm
        for each level. None: nothing, for there are problems.

    """

    problems: tuple[RunRemark, ...]
    warnings: tuple[RunRemark, ...]
    config: RunConfig | None
    run_id: str
    created: RunConfig | None


@dataclass(frozen=True)
class SimulatedOutcome(Value, message=curriculum_pb2.SimulatedOutcome):
    """What a policy came to with a simulated student. Shares are in [0, 1].

    `rollouts_to_target` None: it was never there. `success`, `success_mean`: over the arms that can be learnt, at the
    end and over the run. `wasted`: of rollouts, on arms that cannot be learnt. `useful`: of groups.
    """

    rollouts_to_target: int | None
    success: float
    success_mean: float
    wasted: float
    useful: float


@dataclass(frozen=True)
class SimulatedPoint(Value, message=curriculum_pb2.SimulatedPoint):
    """Successive update batches as one. Lists are by arm, (arms,)."""

    cursor: int
    counts: tuple[int, ...]
    probabilities: tuple[float, ...]
    success: tuple[float, ...]
    solved_share: float
    score: float


@dataclass(frozen=True)
class SimulatedRun(Value, message=curriculum_pb2.SimulateRunResponse):
    """What a run would draw, and what it comes to beside equal shares."""

    points: tuple[SimulatedPoint, ...]
    outcome: SimulatedOutcome
    equal_shares: SimulatedOutcome
    arm_ids: tuple[str, ...]
    target: float
