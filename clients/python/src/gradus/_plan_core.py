"""Operations for interactive use, without I/O: try an answer, get a picture or a solution, check or simulate a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradus._arguments import CallOptions
from gradus._call import curriculum_call, environment_call
from gradus._call_maker import CallMaker
from gradus._op import Op
from gradus._values import message_of, proto_of
from gradus.plans import CheckedRun, SimulatedRun, Solution, TriedAnswer
from gradus.runs import RunConfig
from gradus.tasks import Task, task_id_of
from gradus.v1 import curriculum_pb2, environment_pb2

if TYPE_CHECKING:
    from typing_extensions import Unpack


class PlanCore(CallMaker):
    """Operations for interactive use, e.g. to try an answer. None of them reports a score to a run."""

    def try_answer(
        self,
        task: Task | str,
        *,
        answer: str | None = None,
        completion: str | None = None,
        **options: Unpack[CallOptions],
    ) -> Op[TriedAnswer]:
        """Scores an answer like `step`, but does not report the score to the run.

        Parameters
        ----------
        task
            The task, or its id.
        answer, completion
            Give one of them: an answer alone, without its marks, or a whole completion.
        **options
            `timeout` in seconds and `retries`, in place of the client's.

        """
        request = message_of(environment_pb2.TryAnswerRequest, task_id=task_id_of(task), **_text(answer, completion))
        return self.call(environment_call("TryAnswer", request, TriedAnswer.from_proto), options)

    def draw_task(
        self,
        task: Task | str,
        *,
        answer: str | None = None,
        completion: str | None = None,
        **options: Unpack[CallOptions],
    ) -> Op[str]:
        """Returns a picture (SVG) of a task, with an answer and its errors if one is given.

        For the best answer see `solve_task`.
        """
        request = message_of(environment_pb2.DrawTaskRequest, task_id=task_id_of(task), **_text(answer, completion))
        return self.call(environment_call("DrawTask", request, lambda got: got.svg), options)

    def solve_task(
        self,
        task: Task | str,
        *,
        draw: bool = False,
        answer: str | None = None,
        completion: str | None = None,
        **options: Unpack[CallOptions],
    ) -> Op[Solution]:
        """Returns a right answer, or the best one that the solver found.

        Needs an operator's token. A task of a benchmark (split "bench") is refused.

        Parameters
        ----------
        task
            The task, or its id.
        draw
            Whether the result has a picture (SVG) of the solution, beside `answer` or `completion` if one is given.
        answer, completion
            See `try_answer`.
        **options
            `timeout` in seconds and `retries`, in place of the client's.

        Raises
        ------
        FailedPreconditionError
            If the task is a benchmark's, or has no solution.
        GradusError
            With PERMISSION_DENIED, if the token is not an operator's.

        """
        text = _text(answer, completion)
        request = message_of(environment_pb2.SolveTaskRequest, task_id=task_id_of(task), draw=draw, **text)
        return self.call(environment_call("SolveTask", request, Solution.from_proto), options)

    def check_run(
        self, config: RunConfig | None = None, *, file: str | None = None, **options: Unpack[CallOptions]
    ) -> Op[CheckedRun]:
        """Returns all errors of a run's configuration, or of a run file's text. Creates no run."""
        given: dict[str, Any] = {"file": file}
        if config is not None:
            given = {"config": proto_of(config, RunConfig, "config")}
        request = message_of(curriculum_pb2.CheckRunRequest, **given)
        return self.call(curriculum_call("CheckRun", request, CheckedRun.from_proto), options)

    def simulate_run(
        self,
        config: RunConfig,
        *,
        student: str = "",
        seed: int = 0,
        updates: int = 0,
        points: int = 0,
        **options: Unpack[CallOptions],
    ) -> Op[SimulatedRun]:
        """Returns which arms a run would draw and what a simulated student would learn, beside a run with equal shares.

        Parameters
        ----------
        config
            Configuration of the run.
        student
            Name of a simulated student (a model of how a policy learns) in `ServerInfo.students`; "": the first one.
        seed
            Seed of the student's chances, in [0, 2**64). Equal seeds give equal results.
        updates
            Update batches, 1 to 2,000; 0: the run's length, at most 500.
        points
            Number of points of each curve in the result, 1 to 200; 0: 100.
        **options
            `timeout` in seconds and `retries`, in place of the client's.

        """
        request = message_of(
            curriculum_pb2.SimulateRunRequest,
            config=proto_of(config, RunConfig, "config"),
            student=student,
            seed=seed,
            updates=updates,
            points=points,
        )
        return self.call(curriculum_call("SimulateRun", request, SimulatedRun.from_proto), options)


def _text(answer: str | None, completion: str | None) -> dict[str, Any]:
    """Returns the fields of the answer or of the completion; none if both are None."""
    if answer is not None and completion is not None:
        raise ValueError("give answer or completion, not both")
    return {"answer": answer} if completion is None else {"completion": completion}
