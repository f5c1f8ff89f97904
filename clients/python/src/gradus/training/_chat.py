"""Renders conversations as tokens by a chat template: prompts, and replies to the policy's messages."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gradus.tasks import ChatMessage


class Chat:
    """A tokenizer with a template for conversations of several turns.

    Replies may repeat text of the policy, so control tokens in them are rendered as plain text.

    Parameters
    ----------
    tokenizer
        The trainer's tokenizer.
    options
        The trainer's `chat_template_kwargs`.
    tools
        Whether the policy has tools, so that conversations have tool calls.
    other_template
        Returns a template to use instead of the tokenizer's own, if that one rewrites earlier messages.

    Raises
    ------
    ValueError
        If no template renders replies without changing the conversation before them.

    """

    def __init__(
        self,
        tokenizer: Any,
        options: Mapping[str, Any],
        tools: bool,
        other_template: Callable[[Any], str | None] | None = None,
    ) -> None:
        self._tokenizer = tokenizer
        self._options = {"sanitize_control_tokens": True, **options}
        self._template: str | None = None
        samples: list[list[ChatMessage]] = [[{"role": "user", "content": "reply"}]]
        if tools:
            samples.append([{"role": "tool", "content": "reply", "name": "tool", "tool_call_id": "call00000"}])
        try:
            self._try(samples)
        except ValueError:
            if other_template is None:
                raise
            self._template = other_template(tokenizer)
            self._try(samples)

    def _try(self, samples: Sequence[Sequence[ChatMessage]]) -> None:
        nothing = self.replies([])
        for each in samples:
            if self.replies(each) == nothing:
                raise ValueError(
                    f"the chat template leaves out messages of the role {each[0]['role']!r}, so the policy would see "
                    "no replies: use a template that renders them"
                )

    def prompt(self, messages: Sequence[ChatMessage], tools: Sequence[Any]) -> list[int]:
        """Returns the tokens of a conversation, after which the policy writes."""
        return self._render(messages, tools=list(tools) or None, add_generation_prompt=True)

    def replies(self, replies: Sequence[ChatMessage], ended: bool = True) -> list[int]:
        """Returns the tokens of replies, between what the policy wrote and what it writes next.

        Parameters
        ----------
        replies
            Messages of the role "tool" or "user".
        ended
            Whether the policy wrote its end token. If not, the returned tokens begin with that of the template.

        """
        # A template may take the name of a tool, and the id of its call, from the policy's message before the reply.
        calls = [
            {
                "id": each.get("tool_call_id", ""),
                "type": "function",
                "function": {"name": each.get("name", ""), "arguments": {}},
            }
            for each in replies
            if each["role"] == "tool"
        ]
        written: ChatMessage = {"role": "assistant", "content": ""}
        if calls:
            written["tool_calls"] = calls
        before: list[ChatMessage] = [{"role": "user", "content": "prompt"}, written]
        known = self._render(before)
        whole = self._render([*before, *replies], add_generation_prompt=True)
        ends = [place for place, token in enumerate(known) if token == self._tokenizer.eos_token_id]
        # Drop the line break that templates write after the end token, because the policy does not write one.
        known = known[: ends[-1] + 1] if ends else known
        if whole[: len(known)] != known:
            raise ValueError(
                "the chat template renders a message of the policy in another way when replies follow it, so tokens "
                "that the policy wrote would change: use a template that keeps earlier messages"
            )
        return whole[len(known) - (1 if ends and not ended else 0) :]

    def _render(self, messages: Sequence[ChatMessage], **options: Any) -> list[int]:
        ids: list[int] = self._tokenizer.apply_chat_template(
            list(messages), chat_template=self._template, return_dict=False, **options, **self._options
        )
        return ids
