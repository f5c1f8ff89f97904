"""Templates of chats that cannot be trained on are refused at start."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from gradus.training import Chat


class Letters:
    """A tokenizer whose tokens are letters, with a template that renders messages of some roles."""

    eos_token_id = ord("$")

    def __init__(self, roles: Sequence[str]) -> None:
        self.roles = roles

    def apply_chat_template(self, messages: list[dict[str, Any]], **options: Any) -> list[int]:
        ends = {"assistant": "$"}
        texts = [each["content"] + ends.get(each["role"], "|") for each in messages if each["role"] in self.roles]
        return [ord(letter) for letter in "".join(texts) + (">" if options.get("add_generation_prompt") else "")]


def test_replies_are_rendered_after_the_policy_s_end_token() -> None:
    chat = Chat(Letters(["user", "assistant", "tool"]), {}, tools=True)
    replies = chat.replies([{"role": "tool", "content": "42", "name": "sum", "tool_call_id": "1"}])
    assert "".join(map(chr, replies)) == "42|>"


def test_a_template_that_leaves_out_replies_is_refused() -> None:
    with pytest.raises(ValueError, match="leaves out messages of the role 'tool'"):
        Chat(Letters(["user", "assistant"]), {}, tools=True)
    Chat(Letters(["user", "assistant"]), {}, tools=False)
