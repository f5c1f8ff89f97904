"""Tasks of environments, and completions of them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, asdict, dataclass, fields, replace
from typing import TYPE_CHECKING, Annotated, Any, TypedDict

from gradus._arguments import check_id, check_index, check_text, is_whole, listed, shown, suggestion
from gradus._texts import sendable
from gradus._values import Derived, Value, message_of
from gradus.enums import AnswerFormat, FinishReason, Source, Split, Thinking, value_in
from gradus.v1 import environment_pb2, task_pb2

if TYPE_CHECKING:
    from typing_extensions import Self

_ID_SHOWN = 24
"""Number of characters of a task's id in a warning. A whole id may have thousands."""

_FINISH_REASON = environment_pb2.Completion.DESCRIPTOR.fields_by_name["finish_reason"].enum_type


def finish_reason_value(reason: FinishReason | None) -> Any:
    """Returns the protobuf enum value of a finish reason; None gives 0, unspecified."""
    return value_in(_FINISH_REASON, reason)


def task_id_of(task: Task | str) -> str:
    """Returns the id of a task, or a given id; raises TypeError for anything else."""
    if isinstance(task, (Task, str)):
        return task if isinstance(task, str) else task.task_id
    raise TypeError(f"task: want a Task, or its id as str; got {shown(task)}")


def check_group(group: CompletionGroup) -> CompletionGroup:
    """Returns the group; raises TypeError for anything else."""
    if isinstance(group, CompletionGroup):
        return group
    raise TypeError(f"groups: want a CompletionGroup each, as Task.group makes; got {shown(group)}")


class _RoleAndContent(TypedDict):
    role: str
    content: str


class ChatMessage(_RoleAndContent, total=False):
    """One message of a conversation, in the form that chat templates take.

    `tool_calls`: calls of the policy, in OpenAI's form. `tool_call_id`, `name`: the call and the tool that a message of
    the role "tool" answers.
    """

    tool_calls: list[dict[str, Any]]
    tool_call_id: str
    name: str


def message_from(proto: task_pb2.ChatMessage) -> ChatMessage:
    """Converts the protobuf message ChatMessage. Empty fields are left out: chat templates test for their presence."""
    message: ChatMessage = {"role": proto.role, "content": proto.content}
    if proto.tool_calls:
        message["tool_calls"] = [ToolCall.from_proto(each).openai() for each in proto.tool_calls]
    if proto.tool_call_id:
        message["tool_call_id"] = proto.tool_call_id
    if proto.name:
        message["name"] = proto.name
    return message


def transcript_in(proto: Any) -> list[ChatMessage]:
    """Reads the transcript of a sample that the server keeps: the conversation before its completion."""
    return [*map(message_from, proto.transcript)]


@dataclass(frozen=True)
class Tool(Value, message=task_pb2.Tool):
    """A tool that a policy may call. `parameters_json` is the JSON Schema of its arguments, as text."""

    name: str
    description: str
    parameters_json: str

    def openai(self) -> dict[str, Any]:
        """Returns the tool in OpenAI's form, which chat templates take as well."""
        parameters = json.loads(self.parameters_json)
        function = {"name": self.name, "description": self.description, "parameters": parameters}
        return {"type": "function", "function": function}


@dataclass(frozen=True)
class ToolCall(Value, message=task_pb2.ToolCall):
    """A call of a tool by the policy. `arguments_json` is a JSON object as text; `id` is the trainer's."""

    id: str
    name: str
    arguments_json: str

    def openai(self) -> dict[str, Any]:
        """Returns the call in OpenAI's form."""
        function = {"name": self.name, "arguments": self.arguments_json}
        return {"id": self.id, "type": "function", "function": function}


@dataclass(frozen=True)
class RewardScheme(Value, message=task_pb2.RewardScheme):
    """Rule that turns verified facts into a reward: a scheme, and numbers that replace its defaults."""

    name: str
    parameters: Mapping[str, float]


@dataclass(frozen=True)
class TaskSpec(Value, message=task_pb2.TaskSpec):
    """A family of tasks: all settings of a task except its seed; `gradus.task_spec` makes one.

    None: the environment's default. `calls`: maximum number of calls of an episode; 0: the environment's. `tools`:
    names of the tools that the policy may call. `reply_detail`: how much the reply to each try reveals, if a task
    allows several: "verdict", "reason" or "distance" (see `SpecOptions`).
    """

    environment: str
    version: int
    level: str | None
    parameters: Mapping[str, float] | None
    split: Split | None
    source: Source | None
    pool: str
    answer_format: AnswerFormat | None
    reward_scheme: RewardScheme | None
    thinking: Thinking | None
    calls: int = 0
    tools: tuple[str, ...] = ()
    reply_detail: str = ""


@dataclass(frozen=True, init=False)
class Completion:
    """One completion of a task.

    Attributes
    ----------
    sample_index
        Index of the completion in the group, from 0.
    text
        Text of the policy, without the prompt.
    finish_reason
        Why generation ended; "length": the completion is truncated. None: not known.
    policy_version
        Version of the policy that wrote it, e.g. its number of updates. None: not known.
    tokens
        Number of tokens by the trainer's tokenizer; on the last call of an episode, of all its completions. The run
        sums them for people to read. None: not known, so that the run counts characters.

    """

    sample_index: int
    text: str
    finish_reason: FinishReason | None = None
    policy_version: int | None = None
    tokens: int | None = None

    def __init__(
        self,
        sample_index: int,
        text: str,
        finish_reason: FinishReason | None = None,
        policy_version: int | None = None,
        tokens: int | None = None,
    ) -> None:
        if not isinstance(text, str):
            check_text(text, f"text of sample {sample_index}")
        if sample_index is None:
            check_index(sample_index)
        # There are thousands of completions a second, and setting fields of a frozen value takes three times as long.
        known = self.__dict__
        known["sample_index"] = sample_index
        known["text"] = text
        if finish_reason is not None:
            known["finish_reason"] = finish_reason
        if policy_version is not None:
            known["policy_version"] = policy_version
        if tokens is not None:
            known["tokens"] = tokens


@dataclass(frozen=True)
class CompletionGroup:
    """All or some completions of one prompt; `Task.group` makes a group.

    Attributes
    ----------
    num_generations
        Number of completions in the whole group; 0: the run's, or outside runs the number of `completions`.
    run_id
        Id of the task's run, for `Run.feedback_counts`; not sent to the server.

    """

    task_id: str
    group_id: str
    completions: tuple[Completion, ...]
    num_generations: int = 0
    run_id: str = ""

    def to_proto(self) -> environment_pb2.CompletionGroup:
        """Converts the group to the protobuf message CompletionGroup."""
        group = environment_pb2.CompletionGroup()
        self.write_to(group)
        return group

    def write_to(self, group: environment_pb2.CompletionGroup) -> None:
        """Writes the group into an empty protobuf message CompletionGroup."""
        try:
            group.task_id = self.task_id
            group.group_id = self.group_id
            group.num_generations = self.num_generations
            add = group.completions.add
            for each in self.completions:
                completion = add(sample_index=each.sample_index, text=each.text)
                if each.finish_reason is not None:
                    completion.finish_reason = finish_reason_value(each.finish_reason)
                if each.policy_version is not None:
                    completion.policy_version = each.policy_version
                if each.tokens is not None:
                    completion.tokens = each.tokens
        except (AttributeError, TypeError, ValueError):
            self._name_problem()
            # The only possible error now is a surrogate in a completion.
            group.Clear()
            self._sendable().write_to(group)

    def _sendable(self) -> CompletionGroup:
        owner = f"group {self.group_id}" if self.group_id else f"task {self.task_id[:_ID_SHOWN]}"
        mended = (
            Completion(
                each.sample_index,
                sendable(each.text, f"text of sample {each.sample_index}", owner),
                each.finish_reason,
                each.policy_version,
                each.tokens,
            )
            for each in self.completions
        )
        return replace(self, completions=tuple(mended))

    def _name_problem(self) -> None:
        check_id(self.task_id, "task_id")
        check_id(self.group_id, "group_id")
        named = {name: getattr(self, name) for name in ("task_id", "group_id", "num_generations")}
        message_of(environment_pb2.CompletionGroup, **named)
        for each in listed(self.completions, Completion, "completions"):
            if not isinstance(each, Completion):
                raise TypeError(f"completions: want a Completion each, as Task.group makes; got {shown(each)}")
            named = {name: getattr(each, name) for name in ("sample_index", "policy_version", "tokens")}
            message_of(environment_pb2.Completion, finish_reason=finish_reason_value(each.finish_reason), **named)


def _prompt(proto: task_pb2.Task) -> list[ChatMessage]:
    return [*map(message_from, proto.prompt)]


def _stop(proto: task_pb2.Task) -> tuple[str, ...]:
    return tuple(proto.hints.stop)


def _kl_coefficient(proto: task_pb2.Task) -> float | None:
    return proto.hints.kl_coefficient if proto.hints.HasField("kl_coefficient") else None


def _metadata(proto: task_pb2.Task) -> dict[str, str]:
    return dict(proto.hints.metadata)


@dataclass(frozen=True)
class Task(Value, message=task_pb2.Task):
    """One task, ready for a policy. No field reveals the answer, but only `prompt` and `tools` are for the policy.

    Attributes
    ----------
    task_id, group_id
        Opaque ids. Return them unchanged with completions.
    prompt
        Chat messages, in order.
    level
        Name of the level; "": the request gave parameters.
    stop
        Strings at which generation can stop. They must stay in the completion: a sampler that drops its stop string
        leaves the answer open.
    kl_coefficient
        KL coefficient of the task's arm; None: the run sets none.
    metadata
        Facts about the instance, e.g. {"cities": "50"}.
    run_id, arm_id
        Run and arm of the task; "" outside runs.
    cursor, update_batch
        Position of the task in the run, in tasks, and its update batch, both counted from 0.
    instance_hash
        Hash of the instance. Equal instances have equal hashes in all runs and on all servers.
    pool_epoch
        Number of times that the run had gone through the arm's pool before it drew this row; 0 for generated tasks.
    epoch
        Number of the run's imports when the task was issued.
    arm_probability
        Probability of the arm in the draw, before constraints. Off-policy trainers use it as an importance weight.
    evaluation_round
        Round of evaluation for which the task was issued; None: it is not from an evaluation arm.
    in_every_split
        Whether the instance lies in every split, because its level has fewer than 1,000 instances. The policy may then
        have trained on it.
    tools
        Tools that the policy may call.
    calls_max
        Maximum number of calls of an episode; 0: the task has no turns.

    """

    task_id: str
    group_id: str
    prompt: Annotated[list[ChatMessage], Derived(_prompt, "prompt")]
    environment: str
    version: int
    level: str
    split: Split
    source: Source
    answer_format: AnswerFormat
    thinking: Thinking
    stop: Annotated[tuple[str, ...], Derived(_stop, "hints")]
    kl_coefficient: Annotated[float | None, Derived(_kl_coefficient, "hints")]
    metadata: Annotated[Mapping[str, str], Derived(_metadata, "hints")]
    run_id: str
    arm_id: str
    cursor: int
    instance_hash: str
    pool_epoch: int
    update_batch: int
    epoch: int
    arm_probability: float
    evaluation_round: int | None
    in_every_split: bool
    tools: tuple[Tool, ...] = ()
    calls_max: int = 0

    def group(
        self,
        texts: Iterable[str],
        first_index: int = 0,
        num_generations: int = 0,
        *,
        finish_reasons: Iterable[FinishReason | None] | None = None,
        policy_version: int | None = None,
        tokens: Iterable[int] | None = None,
    ) -> CompletionGroup:
        """Returns a group of completions of this task.

        Parameters
        ----------
        texts
            Texts of the policy, (n,), without the prompt.
        first_index
            Sample index of the first completion. The others follow.
        num_generations
            Size of the whole group, if `texts` are only a part of it; 0: see `CompletionGroup`.
        finish_reasons
            Why each generation ended, (n,); None: not known.
        policy_version
            Version of the policy that wrote them, e.g. its number of updates.
        tokens
            Numbers of tokens of the texts, (n,); None: not known. See `Completion`.

        """
        written = listed(texts, str, "texts")
        if not is_whole(first_index):
            raise TypeError(
                f"first_index: want a whole number, the sample index of the first; got {shown(first_index)}"
            )
        reasons = [None] * len(written) if finish_reasons is None else listed(finish_reasons, str, "finish_reasons")
        if len(reasons) != len(written):
            raise ValueError(f"finish_reasons: want one for each text, {len(written)}; got {len(reasons)}")
        lengths = [None] * len(written) if tokens is None else listed(tokens, "whole number", "tokens")
        if len(lengths) != len(written):
            raise ValueError(f"tokens: want one number for each text, {len(written)}; got {len(lengths)}")
        completions = tuple(
            Completion(index, text, reason, policy_version, length)
            for index, (text, reason, length) in enumerate(zip(written, reasons, lengths, strict=True), first_index)
        )
        return CompletionGroup(self.task_id, self.group_id, completions, num_generations, self.run_id)

    def to_json(self) -> str:
        """Returns the task as a JSON object, e.g. for a row of a data set or another process."""
        return json.dumps(asdict(self), ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Returns the task from the text of `to_json`.

        Raises
        ------
        ValueError
            If the text is not a JSON object with a task's fields. The message names a wrong field.

        """
        read: Any = json.loads(text)
        if not isinstance(read, dict):
            raise ValueError(f"a task is a JSON object; got {type(read).__name__}")
        if read.keys() - _FIELDS.keys() or _REQUIRED - read.keys():
            raise ValueError(_fields_problem(read))
        read["stop"] = tuple(read["stop"])
        read["tools"] = tuple(Tool(**each) for each in read.get("tools", ()))
        return cls(**read)


_FIELDS = dict.fromkeys(each.name for each in fields(Task))
_REQUIRED = {each.name for each in fields(Task) if each.default is MISSING}


def _fields_problem(read: Mapping[str, Any]) -> str:
    missing = next((each for each in _FIELDS if each in _REQUIRED and each not in read), None)
    if missing is not None:
        return f"a task's JSON must have {missing!r}, which is missing here"
    unknown = next(each for each in read if each not in _FIELDS)
    return f"a task's JSON has no {unknown!r}{suggestion(unknown, _FIELDS)}"
