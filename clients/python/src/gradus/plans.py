"""Results of calls before training: tried answers, solutions, checked and simulated runs."""

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
    """Outcome that an answer would have. Spans are positions in `completion`, the text that was scored."""

    completion: str
    outcome: Annotated[Outcome, Derived(_outcome, "outcome")]


@dataclass(frozen=True)
class Solution(Value, message=environment_pb2.SolveTaskResponse):
    """A right answer, or the best one that the solver found.

    `completion` has it in the task's format. `baseline` None: an answer is right or not. `nodes`: number of search
    nodes. `svg`: picture, if it was requested.
    """

    answer: str
    completion: str
    baseline: Baseline | None
    nodes: int
    svg: str


@dataclass(frozen=True)
class RunRemark(Value, message=curriculum_pb2.RunRemark):
    """A remark on a configuration.

    `of`: the field, e.g. "policy.bandit.epsilon"; "": the whole. `line`: line of the file, from 1; 0: there is no file.
    """

    of: Annotated[str, Named("field")]
    words: Annotated[str, Named("message")]
    line: int


@dataclass(frozen=True)
class CheckedRun(Value, message=curriculum_pb2.CheckRunResponse):
    """Result of a check: without `problems` the run can be created.

    Attributes
    ----------
    config
        Configuration as it was read; None: the file cannot be read.
    run_id
        Run id in the file; "": it has none.
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
    """Result of a policy with a simulated student. Shares are in [0, 1].

    `rollouts_to_target` None: the target was never reached. `success`, `success_mean`: over the arms that can be
    learnt, at the end and over the run. `wasted`: share of rollouts on arms that cannot be learnt. `useful`: share of
    useful groups.
    """

    rollouts_to_target: int | None
    success: float
    success_mean: float
    wasted: float
    useful: float


@dataclass(frozen=True)
class SimulatedPoint(Value, message=curriculum_pb2.SimulatedPoint):
    """Successive update batches, merged. Lists are by arm, (arms,)."""

    cursor: int
    counts: tuple[int, ...]
    probabilities: tuple[float, ...]
    success: tuple[float, ...]
    solved_share: float
    score: float


@dataclass(frozen=True)
class SimulatedRun(Value, message=curriculum_pb2.SimulateRunResponse):
    """Draws and results of a simulated run, beside one with equal shares."""

    points: tuple[SimulatedPoint, ...]
    outcome: SimulatedOutcome
    equal_shares: SimulatedOutcome
    arm_ids: tuple[str, ...]
    target: float
