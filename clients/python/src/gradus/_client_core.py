"""Operations of a client, without I/O: EnvironmentService, and the lists of the other services."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any

from gradus._arguments import CallOptions, call_options, check_index, listed
from gradus._call import Call, curriculum_call, environment_call, evaluation_call, paged
from gradus._op import Each, Item, Op
from gradus._plan_core import PlanCore
from gradus._rollout_core import RolloutCore
from gradus._stream import Event, Reply, StepStream
from gradus._texts import sendable
from gradus._values import message_of, proto_of
from gradus.arms import SpecOptions, task_spec
from gradus.enums import FinishReason
from gradus.environments import Environment, ResetResult, ServerInfo
from gradus.evaluations import EvaluationInfo, Suite
from gradus.outcomes import GroupOutcome, Outcome, Reward, StreamResult, rewards_of
from gradus.runs import RunInfo
from gradus.tasks import CompletionGroup, Task, TaskSpec, check_group, finish_reason_value, task_id_of
from gradus.v1 import curriculum_pb2, environment_pb2, evaluation_pb2

if TYPE_CHECKING:
    from typing_extensions import Unpack


class ResetOptions(SpecOptions, CallOptions, total=False):
    """Options of `Client.reset`: those of `SpecOptions` and `CallOptions`."""


class ClientCore(PlanCore, RolloutCore):
    """All operations of a `Client`: generators without I/O, which its blocking and asyncio methods run."""

    def list_environments(self, category: str = "", **options: Unpack[CallOptions]) -> Op[list[Environment]]:
        """Lists the environments of the server.

        Parameters
        ----------
        category
            Category of the environments, e.g. "np"; "": all.
        **options
            `timeout` in seconds and `retries`, in place of the client's.

        Returns
        -------
        list of Environment
            Sorted by id; of one id, the newest version first.

        """

        def page(token: str) -> Call[tuple[list[Environment], str]]:
            request = message_of(environment_pb2.ListEnvironmentsRequest, category=category, page_token=token)
            return environment_call("ListEnvironments", request, paged("environments", Environment))

        return self.whole(page, options)

    def get_server_info(self, **options: Unpack[CallOptions]) -> Op[ServerInfo]:
        """Returns the version, the ports and the limits of the server."""
        request = message_of(environment_pb2.GetServerInfoRequest)
        return self.call(
            environment_call("GetServerInfo", request, lambda got: ServerInfo.from_proto(got.server)), options
        )

    def get_environment(self, environment: str, version: int = 0, **options: Unpack[CallOptions]) -> Op[Environment]:
        """Describes an environment by its id, e.g. "np/tsp"; version 0 is the newest.

        Raises
        ------
        NotFoundError
            If there is no such environment. The message suggests the nearest id.

        """
        request = message_of(environment_pb2.GetEnvironmentRequest, id=environment, version=version)
        return self.call(
            environment_call("GetEnvironment", request, lambda got: Environment.from_proto(got.environment)), options
        )

    def reset(self, environment: str, *, seed: int = 0, **options: Unpack[ResetOptions]) -> Op[Task]:
        """Makes one task. Equal arguments give the same task.

        Parameters
        ----------
        environment
            Id of the environment, e.g. "countdown".
        seed
            Seed of the task within the family, in [0, 2**64). Defaults to 0.
        **options
            Other choices that fix the family: `level` or `parameters`, `split`, `source`, `pool`, `version`,
            `answer_format`, `thinking`, `reward_scheme`, `calls`, `tools`, `reply_detail` (see `task_spec`); and
            `timeout` (seconds) and `retries`.

        Raises
        ------
        NotFoundError, InvalidArgumentError
            If there is no such environment, level or parameter; the message suggests the nearest.
        ValueError, TypeError
            If an option's name or value is unknown.

        """
        of_call = call_options(options)
        spec: Any = {name: value for name, value in options.items() if name not in of_call}
        request = message_of(environment_pb2.ResetRequest, spec=task_spec(environment, **spec).to_proto(), seed=seed)
        return self.call(environment_call("Reset", request, lambda got: Task.from_proto(got.task)), of_call)

    def batch_reset(
        self, spec: TaskSpec, seeds: Iterable[int], **options: Unpack[CallOptions]
    ) -> Op[list[ResetResult]]:
        """Makes a task of a family (see `task_spec`) for each seed.

        Parameters
        ----------
        spec
            Family of the tasks.
        seeds
            (n,), each in [0, 2**64); at most the server's limit, 1024 unless configured.
        **options
            `timeout` in seconds and `retries`, in place of the client's.

        Returns
        -------
        list of ResetResult
            (n,), in the order of `seeds`. A seed without a task does not affect the others.

        """
        made = proto_of(spec, TaskSpec, "spec")
        request = message_of(environment_pb2.BatchResetRequest, spec=made, seeds=listed(seeds, "whole number", "seeds"))
        return self.call(
            environment_call("BatchReset", request, lambda got: [*map(ResetResult.from_proto, got.results)]), options
        )

    def step(
        self,
        task: Task | str,
        completion: str,
        *,
        sample_index: int = 0,
        group_id: str = "",
        finish_reason: FinishReason | None = None,
        policy_version: int | None = None,
        tokens: int | None = None,
        **options: Unpack[CallOptions],
    ) -> Op[Outcome]:
        """Scores one completion.

        Parameters
        ----------
        task
            The task, or its id.
        completion
            Text of the policy, without the prompt.
        sample_index
            Index of the completion in its group, from 0.
        group_id
            Id of the task's group, if `task` is an id. Required for tasks of a run.
        finish_reason, policy_version, tokens
            See `Completion`.
        **options
            `timeout` in seconds and `retries`, in place of the client's.

        Raises
        ------
        FeedbackError
            If the run did not record the score and the client was made with `on_feedback="raise"`.

        """
        request = message_of(
            environment_pb2.StepRequest,
            task_id=task_id_of(task),
            group_id=task.group_id if isinstance(task, Task) else group_id,
            sample_index=check_index(sample_index),
            completion=sendable(completion, "completion", f"sample {sample_index}"),
            finish_reason=finish_reason_value(finish_reason),
            policy_version=policy_version,
            tokens=tokens,
        )
        outcome = yield from self.call(
            environment_call("Step", request, lambda got: Outcome.from_proto(got.outcome)), options
        )
        error = self.feedback.note(task.run_id if isinstance(task, Task) else "", [outcome])
        if error is not None:
            raise error
        return outcome

    def batch_step(
        self, groups: CompletionGroup | Iterable[CompletionGroup], **options: Unpack[CallOptions]
    ) -> Op[list[GroupOutcome]]:
        """Scores groups of completions.

        Parameters
        ----------
        groups
            One group or (n,), see `Task.group`; at most the server's limit, 1024 unless configured.
        **options
            `timeout` in seconds and `retries`, in place of the client's.

        Returns
        -------
        list of GroupOutcome
            (n,), in the order of `groups`.

        Raises
        ------
        FeedbackError
            If a run did not record a score and the client was made with `on_feedback="raise"`.

        """
        sent = [groups] if isinstance(groups, CompletionGroup) else listed(groups, CompletionGroup, "groups")
        request = environment_pb2.BatchStepRequest()
        for each in sent:
            check_group(each).write_to(request.groups.add())
        outcomes = yield from self.call(
            environment_call("BatchStep", request, lambda got: [*map(GroupOutcome.from_proto, got.groups)]), options
        )
        errors = [self.feedback.note_group(group.run_id, each) for group, each in zip(sent, outcomes, strict=True)]
        for error in filter(None, errors):
            raise error
        return outcomes

    def rewards(
        self,
        messages: Iterable[Sequence[CompletionGroup]],
        options: CallOptions,
        read: Callable[[Any], tuple[Reward, ...]] = rewards_of,
    ) -> Op[list[tuple[Reward, ...]]]:
        """Scores groups by one call for each list of groups in `messages`. Reads only what a reward function needs.

        A trainer waits for the result. So the calls are concurrent: one is sent while the next request is made, without
        another thread. Reading whole outcomes would take ten times as long. `read` gets each group's outcomes as a
        protobuf message and returns their rewards.

        Returns
        -------
        list of tuple
            (n,), the rewards of each group, in order.

        """
        sent: list[CompletionGroup] = []

        def call(groups: Sequence[CompletionGroup]) -> Call[list[tuple[Reward, ...]]]:
            sent.extend(groups)
            request = environment_pb2.BatchStepRequest()
            for each in groups:
                each.write_to(request.groups.add())
            return environment_call("BatchStep", request, lambda got: [*map(read, got.groups)])

        replies = yield from self.calls(map(call, messages), options)
        rewards = list(chain.from_iterable(replies))
        errors = [self.feedback.note(group.run_id, each) for group, each in zip(sent, rewards, strict=True)]
        for error in filter(None, errors):
            raise error
        return rewards

    def stream_steps(self, wire: Any, options: CallOptions) -> Each[StreamResult]:
        """Scores groups over one stream, whose messages `wire` carries; see `Client.stream_steps`."""
        stream = StepStream(wire, *self.limits(options), lock=wire.lock)
        wire.feed(lambda group: stream.add(group, time.monotonic()))
        while not stream.done:
            event: Event | None = yield wire.next_event(stream.wait(time.monotonic()))
            for result in stream.handle(event, event.at if isinstance(event, Reply) else time.monotonic()):
                wire.release()
                noted = None
                if result.outcome is not None:
                    noted = self.feedback.note_group(result.group.run_id, result.outcome)
                yield Item(result if noted is None else replace(result, outcome=None, error=noted))

    def list_runs(self, **options: Unpack[CallOptions]) -> Op[list[RunInfo]]:
        """Lists the runs of the server, sorted by id."""

        def page(token: str) -> Call[tuple[list[RunInfo], str]]:
            request = message_of(curriculum_pb2.ListRunsRequest, page_token=token)
            return curriculum_call("ListRuns", request, paged("runs", RunInfo))

        return self.whole(page, options)

    def list_evaluations(self, suite: str = "", **options: Unpack[CallOptions]) -> Op[list[EvaluationInfo]]:
        """Lists the evaluations of the server, sorted by id; only those of `suite`, if given."""

        def page(token: str) -> Call[tuple[list[EvaluationInfo], str]]:
            request = message_of(evaluation_pb2.ListEvaluationsRequest, suite=suite, page_token=token)
            return evaluation_call("ListEvaluations", request, paged("evaluations", EvaluationInfo))

        return self.whole(page, options)

    def list_suites(self, **options: Unpack[CallOptions]) -> Op[list[Suite]]:
        """Lists the suites (fixed sets of tasks for evaluations) of the server, sorted by id."""

        def page(token: str) -> Call[tuple[list[Suite], str]]:
            request = message_of(evaluation_pb2.ListSuitesRequest, page_token=token)
            return evaluation_call("ListSuites", request, paged("suites", Suite))

        return self.whole(page, options)
