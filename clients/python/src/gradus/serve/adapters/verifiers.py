"""verifiers: tasksets of one turn, whose scoring needs no runtime.

`verifiers:id`, with the id by which verifiers finds the taskset, and options of its configuration after commas. An
answer is the assistant's only message in the trace of a task. The option `wrap` puts marks around it for reward
functions that look for them: `verifiers:my-math,wrap=boxed`.
"""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Sequence
from typing import Any

from gradus.serve._catalogue import Offer, TargetError
from gradus.serve._environment import Environment
from gradus.serve._facts import Facts
from gradus.serve.adapters._target import Target, slug_of

TASKS_MAX = 100_000
"""Maximum number of tasks taken from an endless taskset."""
INFINITE_TASKS = 4096


def offer(rest: str) -> Offer:
    """Returns one environment. TargetError has the reason if a taskset cannot be mounted."""
    try:
        from verifiers.v1.utils.loaders import taskset_class, taskset_config_type  # noqa: PLC0415
    except ImportError as error:
        raise TargetError('verifiers is not installed: pip install "verifiers>=0.4,<0.5"') from error
    name, _, options = rest.partition(",")
    own = dict(part.partition("=")[::2] for part in options.split(",") if part)
    given: dict[str, str] = {key: own.pop(key) for key in ("wrap", "low", "high") if key in own}
    target = Target(name.strip(), given)
    try:
        config = taskset_config_type(target.name).model_validate({"id": target.name, **own})
        taskset = taskset_class(target.name)(config)
        toolsets = taskset.toolsets(config)
    except Exception as error:  # Whatever loading it raises is the reason.
        raise TargetError(f"verifiers:{target.name} does not load: {type(error).__name__}: {error}") from error
    if toolsets:
        raise TargetError(f"verifiers:{target.name} has tools, so that its episodes have several turns")
    slug = "verifiers/" + slug_of(target.name.rsplit("/", 1)[-1])
    count = TASKS_MAX if taskset.bounded else INFINITE_TASKS
    tasks = list(itertools.islice(taskset, count))
    if not tasks:
        raise TargetError(f"verifiers:{target.name} has no task")
    reasons = {index: reason for index, task in enumerate(tasks) if (reason := refusal_of(task)) is not None}
    left_out = {}
    if reasons:
        first = next(iter(reasons))
        left_out[f"{slug}#tasks"] = f"{len(reasons):,} of {len(tasks):,} tasks; task {first:,}: {reasons[first]}"
    kept = [task for index, task in enumerate(tasks) if index not in reasons]
    if not kept:
        raise TargetError(f"verifiers:{target.name} has no task that can be mounted; task 0: {reasons[0]}")
    return Offer([VerifiersTaskset(slug, target, kept, taskset.bounded)], left_out)


def refusal_of(task: Any) -> str | None:
    """Returns why a task cannot be mounted: only its answer's text, in one turn, may decide its score; None: it can."""
    from verifiers.v1.task import Task  # noqa: PLC0415

    cls = type(task)
    hooks = ("setup", "finalize", "stage_verifier")
    prepared = next((hook for hook in hooks if getattr(cls, hook) is not getattr(Task, hook)), None)
    asking = next((each.__name__ for each in scoring_of(task) if needs_runtime(each)), None)
    reasons = {
        "it needs a container": cls.NEEDS_CONTAINER or bool(task.data.image),
        "it has tools, so that its episode has several turns": bool(cls.toolsets(task.config)),
        f"its {prepared} prepares a runtime": prepared is not None,
        f"its {asking} needs a runtime": asking is not None,
        "a judge scores it, which asks a model": bool(task.config.judges),
        "no function rewards it": cls.score is Task.score and not task.hooks("reward"),
        "its user opens the conversation": task.data.prompt is None,
        "its prompt has more than text": task.data.prompt is not None and not is_text(task.data),
    }
    return next((reason for reason, holds in reasons.items() if holds), None)


def scoring_of(task: Any) -> list[Any]:
    """Returns a task's functions for metrics and rewards."""
    return [*task.hooks("metric"), *task.hooks("reward")]


def needs_runtime(function: Any) -> bool:
    """Returns whether a reward function has a required argument `runtime` (e.g. a sandbox of verifiers)."""
    runtime = inspect.signature(function).parameters.get("runtime")
    return runtime is not None and runtime.default is inspect.Parameter.empty


def is_text(data: Any) -> bool:
    """Returns whether the prompt has only text."""
    try:
        messages_of(data)
    except ValueError:
        return False
    return True


def messages_of(data: Any) -> list[dict[str, str]]:
    """Returns the prompt as chat messages. Raises ValueError if it holds more than text."""
    system = [{"role": "system", "content": data.system_prompt}] if data.system_prompt else []
    if isinstance(data.prompt, str):
        return [*system, {"role": "user", "content": data.prompt}]
    messages = []
    for each in data.prompt:
        if each.role not in ("system", "user", "assistant") or not isinstance(each.content, str):
            raise ValueError("its prompt has more than text")
        messages.append({"role": each.role, "content": each.content})
    return system + messages


class VerifiersTaskset(Environment):
    """A taskset of the package verifiers, as an environment."""

    components = ("score",)

    def __init__(self, slug: str, target: Target, tasks: Sequence[Any], is_bounded: bool) -> None:
        self.id = slug  # type: ignore[misc]
        self.rows = {"tasks": [task.data.model_dump(mode="json", exclude_none=True) for task in tasks]}  # type: ignore[misc]
        if not is_bounded:
            self.remarks = (f"its tasks never end: the first {len(tasks):,} are served",)  # type: ignore[misc]
        self._target = target
        self._task = type(tasks[0])
        self._config = tasks[0].config

    def prompt(self, instance: Any) -> list[dict[str, str]]:
        """Returns the task's prompt."""
        return messages_of(self._data(instance))

    async def verify(self, instance: Any, answer: str) -> Facts:  # type: ignore[override]
        """Returns the weighted sum of the task's rewards, and each of them.

        Raises ValueError if one of the rewards was not measured.
        """
        from verifiers.v1 import AssistantMessage, Trace  # noqa: PLC0415
        from verifiers.v1.graph import MessageNode  # noqa: PLC0415
        from verifiers.v1.trace import TraceTask  # noqa: PLC0415

        task = self._task(self._data(instance), self._config)
        trace = Trace.model_construct(
            task=TraceTask(type=self._task.__name__, data=task.data),
            nodes=[MessageNode(message=AssistantMessage(content=self._target.wrapped(answer)), sampled=True)],
            is_completed=True,
            ok=True,
            stop_condition="agent_completed",
        )
        await task.score(trace)
        # verifiers skips a reward of None in its sum, and a sum of no rewards is 0.
        missing = [name for name, each in trace.rewards.items() if each is None]
        if missing or not trace.rewards or trace.has_error:
            raise ValueError(
                f"scoring gave no reward for {', '.join(missing) or 'the answer'}: it did not run to its end"
            )
        told = {name: f"{each.value:g}" for name, each in trace.rewards.items()}
        share = self._target.share(trace.reward)
        return Facts("graded", components={"score": share}, solved=share == 1, info=told)

    def _data(self, instance: Any) -> Any:
        return self._task.data_type().model_validate(instance)
