"""Values of `Client.rollout`: the completions that a policy writes, its positions, and the episodes that it played."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from gradus._arguments import shown
from gradus._texts import sendable
from gradus._values import message_of
from gradus.enums import FinishReason, TextTools, value_in
from gradus.outcomes import Outcome
from gradus.tasks import ChatMessage, Task, ToolCall, finish_reason_value
from gradus.v1 import environment_pb2, task_pb2

if TYPE_CHECKING:
    from typing_extensions import Self

_TEXT_TOOLS = environment_pb2.Completion.DESCRIPTOR.fields_by_name["text_tools"].enum_type


@dataclass(frozen=True)
class PolicyTurn:
    """A completion that the policy wrote.

    Attributes
    ----------
    text
        Text of the completion.
    tool_calls
        Calls of tools, parsed by the caller.
    finish_reason
        Why generation ended. "length": none of the calls is made, and the episode ends as truncated.
    end
        Whether the episode ends after this completion, e.g. because the context is full.
    text_tools
        Format of tool calls that the server reads from the text; None: it reads none.
    policy_version
        Version of the policy that wrote it, e.g. its number of updates.
    tokens
        Number of tokens of this completion alone. A rollout adds those of the episode's earlier completions. None: not
        known.
    message
        Message for the conversation, if it has more than text and calls. None: it is made of `text` and `tool_calls`.

    """

    text: str = ""
    tool_calls: Sequence[ToolCall] = ()
    finish_reason: FinishReason | None = None
    end: bool = False
    text_tools: TextTools | None = None
    policy_version: int | None = None
    message: ChatMessage | None = None
    tokens: int | None = None

    @classmethod
    def of_message(cls, message: Mapping[str, Any], **more: Any) -> Self:
        """Returns the completion for a chat message in OpenAI's form, as parsers of responses return it.

        Parameters
        ----------
        message
            Message whose `content` may be None. Thoughts in `reasoning_content` are put before the content, between
            `<think>` tags. Each of `tool_calls` is in OpenAI's form, or has `name` and `arguments` only.
        **more
            Other fields, e.g. `finish_reason`.

        """
        content, thoughts = message.get("content") or "", message.get("reasoning_content")
        calls = tuple(map(_call_of, message.get("tool_calls") or ()))
        made: Any = dict(message)
        return cls(f"<think>{thoughts}</think>{content}" if thoughts else content, calls, message=made, **more)

    def after(self, tokens: int | None) -> Self:
        """Returns a copy that counts also `tokens`, those of the episode's earlier completions; None: not known."""
        own = 0 if self.tokens is None and not self.text and not self.tool_calls else self.tokens
        return replace(self, tokens=None if own is None or tokens is None else own + tokens)

    def to_message(self) -> ChatMessage:
        """Returns the completion as a chat message of the conversation."""
        if self.message is not None:
            return self.message
        message: ChatMessage = {"role": "assistant", "content": self.text}
        if self.tool_calls:
            message["tool_calls"] = [each.openai() for each in self.tool_calls]
        return message

    def to_proto(
        self,
        sample_index: int,
        task_id: str,
        sample_key: str = "",
        *,
        transcript: Sequence[task_pb2.ChatMessage] = (),
        share: int = 1,
    ) -> environment_pb2.Completion:
        """Converts the completion to the protobuf message Completion, for the sample with this index or key.

        `transcript`: messages between the prompt and the completion. `share`: number of samples in the same request,
        whose transcripts together have a maximum size.
        """
        place = f"sample {sample_index}"
        return message_of(
            environment_pb2.Completion,
            sample_index=sample_index,
            text=sendable(self.text, f"text of {place}"),
            finish_reason=finish_reason_value(self.finish_reason),
            policy_version=self.policy_version,
            tokens=self.tokens,
            tool_calls=[_sendable(each, place).to_proto() for each in self.tool_calls],
            task_id=task_id,
            sample_key=sample_key,
            end=self.end,
            text_tools=value_in(_TEXT_TOOLS, self.text_tools),
            transcript=_newest(transcript, min(_TRANSCRIPT_BYTES_MAX, _TRANSCRIPTS_BYTES_MAX // share)),
        )


Generated: TypeAlias = "PolicyTurn | Mapping[str, Any] | str"
"""A completion: a `PolicyTurn`, a message in OpenAI's form, or a text."""


def turn_of(generated: Generated) -> PolicyTurn:
    """Returns a completion of any form as a `PolicyTurn`; raises TypeError for anything else."""
    if isinstance(generated, PolicyTurn):
        return generated
    if isinstance(generated, str):
        return PolicyTurn(generated)
    if isinstance(generated, Mapping):
        return PolicyTurn.of_message(generated)
    raise TypeError(f"generate: want a PolicyTurn, a chat message or a str of each sample; got {shown(generated)}")


@dataclass(frozen=True)
class EpisodePosition:
    """State of an unfinished episode, from which the policy continues.

    Attributes
    ----------
    task
        The first task of the episode.
    sample_index
        Index of the sample in its group.
    messages
        Conversation so far: the prompt, and the completions with their replies.
    calls_left
        Number of calls that are left; 0: the task has no turns.
    sample_key
        Random name of a sample whose index in its group is not known; "": the index is known.

    """

    task: Task
    sample_index: int
    messages: list[ChatMessage]
    calls_left: int
    sample_key: str = ""

    @property
    def tools(self) -> list[dict[str, Any]]:
        """The task's tools in OpenAI's form, for `apply_chat_template` or an endpoint."""
        return [each.openai() for each in self.task.tools]


@dataclass(frozen=True)
class PlayedEpisode:
    """An episode that has ended, or whose sample got no reward.

    Attributes
    ----------
    sample_index
        Index of the sample in its group.
    messages
        The whole conversation, with the last completion.
    written
        Positions in `messages` of the messages that the policy wrote.
    outcome
        Outcome of the last completion.

    """

    sample_index: int
    messages: list[ChatMessage]
    written: tuple[int, ...]
    outcome: Outcome

    @property
    def reward(self) -> float | None:
        """The return of the episode; None: it has none, which does not mean 0."""
        return self.outcome.reward


_TRANSCRIPT_BYTES_MAX = 256 * 1024
"""Maximum size of a transcript's texts together, in bytes of UTF-8. The server refuses more."""

_TRANSCRIPTS_BYTES_MAX = 2 * 1024 * 1024
"""Maximum size of the transcripts that are sent together. The server takes 8 MiB of ids, calls and transcripts."""


def _newest(transcript: Sequence[task_pb2.ChatMessage], bytes_max: int) -> list[task_pb2.ChatMessage]:
    """Returns the last messages of a transcript that have at most `bytes_max` bytes."""
    size, start = 0, len(transcript)
    while start > 0 and size + transcript[start - 1].ByteSize() <= bytes_max:
        start -= 1
        size += transcript[start].ByteSize()
    return [*transcript[start:]]


def spoken(message: Mapping[str, Any], reward: float | None = None) -> task_pb2.ChatMessage:
    """Converts a message of a conversation for a transcript. `reward`: reward of the call that the message answers."""
    content = message.get("content") or ""
    if not isinstance(content, str):
        content = "".join(part.get("text", "") for part in content)
    proto = message_of(
        task_pb2.ChatMessage,
        role=message["role"],
        content=sendable(content, "message of a transcript"),
        tool_calls=[_sendable(_call_of(each), "a transcript").to_proto() for each in message.get("tool_calls") or ()],
        tool_call_id=message.get("tool_call_id") or "",
        name=message.get("name") or "",
    )
    if reward is not None:
        proto.reward = reward
    return proto


def _call_of(call: Mapping[str, Any]) -> ToolCall:
    function = call.get("function", call)
    arguments = function.get("arguments", "{}")
    # A parser may have read a number beyond 1e308 as infinity, which JSON does not have. The server then replies that
    # the arguments are no JSON. This is right: it is the policy's fault.
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return ToolCall(call.get("id") or "", function.get("name") or "", text)


def _sendable(call: ToolCall, place: str) -> ToolCall:
    """Returns the call, with texts that UTF-8 can encode."""
    name, arguments = sendable(call.name, f"tool of {place}"), sendable(call.arguments_json, f"arguments of {place}")
    return ToolCall(call.id, name, arguments)
