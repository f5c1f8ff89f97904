"""Results of calls for interactive use: tried answers, solutions, checked and simulated runs."""

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

    `of`: the field, e.g. "policy.bandit.epsilon"; "": the whole configuration. `line`: line in the file, from 1; 0:
    there is no file.
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
        Configuration of the run that would be created. Each family of arms (`gradus.arm("np/*")`) is replaced by one
        arm for each level; these follow the arms that are listed singly. None: there are problems.

    """

    problems: tuple[RunRemark, ...]
    warnings: tuple[RunRemark, ...]
    config: RunConfig | None
    run_id: str
    created: RunConfig | None


@dataclass(frozen=True)
class SimulatedOutcome(Value, message=curriculum_pb2.SimulatedOutcome):
    """Result of a policy with a simulated student. Shares are in [0, 1].

    `rollouts_to_target`: number of completions until the student reached the target; None: never. `success`,
    `success_mean`: its success in the arms that can be learned, at the end and over the run. `wasted`: share of
    completions in arms that cannot be learned. `useful`: share of groups with solved and unsolved samples.
    """

    rollouts_to_target: int | None
    success: float
    success_mean: float
    wasted: float
    useful: float


@dataclass(frozen=True)
class SimulatedPoint(Value, message=curriculum_pb2.SimulatedPoint):
    """A summary of successive update batches. Lists are by arm, (arms,)."""

    cursor: int
    counts: tuple[int, ...]
    probabilities: tuple[float, ...]
    success: tuple[float, ...]
    solved_share: float
    score: float


@dataclass(frozen=True)
class SimulatedRun(Value, message=curriculum_pb2.SimulateRunResponse):
    """Draws and results of a simulated run, and the results of a run that draws all arms equally."""

    points: tuple[SimulatedPoint, ...]
    outcome: SimulatedOutcome
    equal_shares: SimulatedOutcome
    arm_ids: tuple[str, ...]
    target: float
