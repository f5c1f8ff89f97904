"""verifiers and prime-rl: a taskset without an end, scored by the server.

The environment's id is `gradus-verifiers`, the package beside this one:

```toml
[env.taskset]
id = "gradus-verifiers"
address = "gradus://localhost:50051/my-run"
```

There is also `GradusHarness`, which requests chat completions in the environment's process, and `GradusEnv`, which
combines it with the taskset. Nothing is installed into a sandbox. docs/guides/trainers.md has the rest.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from uuid import uuid4

import verifiers.v1 as vf
from openai import AsyncOpenAI, BadRequestError

from gradus._op import arun
from gradus.arms import task_spec
from gradus.enums import AnswerFormat, Split
from gradus.outcomes import Outcome
from gradus.rollouts import EpisodePosition, PolicyTurn
from gradus.tasks import Task
from gradus.training import (
    RunAddress,
    TaskReference,
    UnscoredError,
    WrittenCompletion,
    check_scored_by_step,
    check_whole_groups,
    reward_or,
    score_one,
)

__all__ = ["GradusEnv", "GradusHarness", "GradusTaskset", "load_environment"]

ID = "gradus-verifiers"
"""Id of the environment. verifiers imports the module with this name."""

_SEEDS_AT_ONCE = 64


class GradusTasksetConfig(vf.TasksetConfig):
    """Source of the tasks: a run, or a family with one task for each seed."""

    id: str = ID
    address: str = "gradus://localhost:50051"
    """Address of a run or of a server, see `gradus.training.RunAddress`."""
    cursor: int | None = None
    """Position of the first task in the run, in tasks; None: the first update batch that is not closed."""
    environment: str = ""
    """Id of the environment, e.g. "countdown", if there is no run. For the fields below see `gradus.task_spec`."""
    level: str | None = None
    split: Split = "train"
    answer_format: AnswerFormat | None = None
    calls: int = 0
    tools: list[str] = []  # noqa: RUF012
    first_seed: int = 0


class GradusTaskData(vf.TaskData):
    """Data of a task, with the reference for scoring its completions.

    `turns`: the task as JSON; "": it has no turns.
    """

    reference: dict[str, str | int]
    arm: str
    turns: str = ""


class GradusTask(vf.Task[GradusTaskData]):
    """A task: a prompt whose completion or episode the server scores."""

    @property
    def key(self) -> str:
        """Returns the task's run and position, or outside of a run its environment and instance hash.

        verifiers recognizes a task by this key, because other data of the task change when the run is imported.
        """
        key: str = self.data.id or super().key
        return key

    @vf.reward
    async def reward(self, trace: vf.Trace) -> float:
        """Returns the server's reward.

        The completion's index in its group is not known here; the scorer finds it.
        """
        if self.data.turns:
            return self._of_episode(trace)
        task = TaskReference.from_row(self.data.reference)
        written = WrittenCompletion(task, _text(trace), finish_reason="length" if trace.is_truncated else "stop")
        outcome = await score_one(written)
        value = reward_or(outcome, None)
        trace.record_metric("solved", float(outcome.solved or False))
        trace.info["gradus"] = {"verdict": outcome.verdict, "violation": outcome.violation}
        return value

    def _of_episode(self, trace: vf.Trace) -> float:
        """Returns the reward of the whole episode that `GradusHarness` played."""
        played = trace.info.get("gradus", {})
        if played.get("reward") is None:
            why = played.get("no_reward") or "no harness of gradus.verifiers played it"
            raise UnscoredError(f"the episode could not be scored, which is not the policy's fault ({why})")
        trace.record_metric("solved", float(played["solved"]))
        trace.record_metric("calls", float(played["calls"]))
        return float(played["reward"])


class GradusTaskset(vf.Taskset[GradusTask, GradusTasksetConfig]):
    """Tasks of a run, which end with the run, or of a family, which never end."""

    INFINITE = True

    def load(self) -> Iterator[GradusTask]:
        """Yields tasks. Waits for a run's next tasks until the feedback that they depend on has arrived."""
        address = RunAddress.parse(self.config.address)
        for task, size in self._of_run(address) if address.run_id else self._of_family(address):
            data = GradusTaskData(
                id=f"{task.run_id}/{task.cursor}" if task.run_id else f"{task.environment}/{task.instance_hash}",
                name=task.arm_id or f"{task.environment}/{task.level}",
                prompt=[_MESSAGES[each["role"]](content=each["content"]) for each in task.prompt],
                reference=TaskReference.of(task, address, size).to_row(),
                arm=task.arm_id,
                turns=task.to_json() if task.calls_max else "",
            )
            yield GradusTask(data, self.config.task)

    def _of_run(self, address: RunAddress) -> Iterator[tuple[Task, int]]:
        run = address.client().run(address.run_id)
        config = run.get().config_now
        check_scored_by_step(config)
        check_whole_groups(config, "rollouts fail or are cancelled in verifiers and prime-rl")
        for batch in run.batches(self.config.cursor):
            # Read num_generations again for each batch, because `Run.update_shape` may change it at any time.
            size = run.get().config_now.num_generations
            for task in batch.tasks:
                yield task, size

    def _of_family(self, address: RunAddress) -> Iterator[tuple[Task, int]]:
        config = self.config
        if not config.environment:
            raise ValueError(
                f"the taskset's address, {config.address}, names no run, and its environment is not set: set "
                "--env.taskset.address or --env.taskset.environment"
            )
        client = address.client()
        spec = task_spec(
            config.environment,
            level=config.level,
            split=config.split,
            answer_format=config.answer_format,
            calls=config.calls,
            tools=config.tools,
        )
        for first in itertools.count(config.first_seed, _SEEDS_AT_ONCE):
            for result in client.batch_reset(spec, range(first, first + _SEEDS_AT_ONCE)):
                yield result.result(), 1


class GradusHarnessConfig(vf.HarnessConfig):
    """Configuration of `GradusHarness`."""

    id: str = ID


class GradusHarness(vf.Harness[GradusHarnessConfig]):
    """A harness that requests chat completions from this process: one, or those of an episode of several turns."""

    APPENDS_SYSTEM_PROMPT = True
    EXECUTES_CODE = False
    NEEDS_CONTAINER = False

    async def launch(
        self,
        ctx: vf.ModelContext,
        trace: vf.Trace,
        runtime: vf.Runtime,
        endpoint: str,
        secret: str,
        mcp_urls: dict[str, str],
        data: vf.TaskData,
        **_: Any,
    ) -> vf.ProgramResult:
        """Calls the model behind verifiers' `endpoint`, which also records the completions."""
        system, prompt = self.resolve_prompt(data)
        asked = [vf.UserMessage(content=prompt)] if isinstance(prompt, str) else list(prompt or [])
        messages: Any = [{"role": each.role, "content": each.content} for each in asked]
        if system is not None:
            messages.insert(0, {"role": "system", "content": system})
        async with AsyncOpenAI(base_url=endpoint, api_key=secret, max_retries=0) as client:
            if getattr(data, "turns", ""):
                trace.info["gradus"] = _facts(await _play(client, ctx.model, messages, trace, data))
            else:
                await client.chat.completions.create(model=ctx.model, messages=messages)
        return vf.ProgramResult(0, "", "")


class GradusEnvConfig(vf.EnvConfig):
    """Configuration of `GradusEnv`: one agent, which runs in this process."""

    taskset: GradusTasksetConfig = GradusTasksetConfig()
    agent: vf.AgentConfig = vf.AgentConfig(runtime=vf.SubprocessConfig())


class GradusEnv(vf.Env[GradusEnvConfig]):
    """Environment for verifiers, in which one agent plays each task once."""

    async def run(self, task: vf.Task, agents: vf.Agents) -> None:
        """Plays a task: one completion, or an episode."""
        await agents.agent.run(task)


def load_environment(address: str = "gradus://localhost:50051", **options: Any) -> GradusEnv:
    """Returns the environment for a run, or with `environment`, `level`, … for a family (`GradusTasksetConfig`)."""
    return GradusEnv(GradusEnvConfig(taskset=GradusTasksetConfig(address=address, **options)))


_MESSAGES: dict[str, Any] = {"system": vf.SystemMessage, "user": vf.UserMessage, "assistant": vf.AssistantMessage}


async def _play(client: AsyncOpenAI, model: str, messages: Any, trace: vf.Trace, data: Any) -> Outcome:
    """Plays an episode, and returns its outcome. Its sample has a random key, because its index is not known here."""
    task, reference = Task.from_json(data.turns), TaskReference.from_row(data.reference)

    async def generate(positions: list[EpisodePosition]) -> list[PolicyTurn]:
        (position,) = positions
        asked: Any = {"tools": position.tools} if position.tools else {}
        try:
            reply = await client.chat.completions.create(model=model, messages=position.messages, **asked)
        except BadRequestError:
            if trace.stop_condition is None:
                raise
            # verifiers refuses a turn beyond its limits, so the episode ends with the calls that were made.
            return [PolicyTurn(end=True)]
        choice = reply.choices[0]
        reason = "length" if choice.finish_reason == "length" else "stop"
        tokens = reply.usage.completion_tokens if reply.usage else None
        message = choice.message.model_dump(exclude_none=True)
        return [PolicyTurn.of_message(message, finish_reason=reason, tokens=tokens)]

    start = EpisodePosition(task, 0, messages, task.calls_max, uuid4().hex)
    server = replace(RunAddress.parse(reference.address), run_id="", evaluation_arm="")
    async with server.aio_client() as gym:
        (played,) = await arun(gym._core.play([start], generate, reference.num_generations, {}))
    return played.outcome


def _facts(outcome: Outcome) -> dict[str, Any]:
    """Returns facts about a played episode, for the trace."""
    why = outcome.no_reward
    return {
        "verdict": outcome.verdict,
        "violation": outcome.violation,
        "reward": outcome.reward,
        "solved": outcome.solved,
        "calls": outcome.calls,
        "stop_reason": outcome.stop_reason,
        "no_reward": None if why is None else f"{why.reason}: {why.detail}",
    }


def _text(trace: vf.Trace) -> str:
    """Returns the policy's text, with the thoughts that an endpoint may have split off."""
    if not trace.assistant_messages:
        raise UnscoredError("the rollout has no completion: the model was not asked, or did not answer")
    message = trace.assistant_messages[-1]
    content: str = message.content or ""
    return content if message.reasoning_content is None else f"<think>{message.reasoning_content}</think>{content}"
