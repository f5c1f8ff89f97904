"""What the policy wrote, as text, whatever TRL made of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def texts_of(completions: Sequence[Any], completion_ids: Sequence[Sequence[int]], tokenizer: Any) -> list[str]:
    """The text of each completion, (n,).

    TRL gives chat messages. Where a tokenizer parses responses (Qwen3's and gpt-oss' do), thoughts and calls of tools
    stand in fields of their own and are gone from `content`, with the marks around them: such a completion is decoded
    again from its tokens.

    Parameters
    ----------
    completions
        (n,): strings, or lists of messages.
    completion_ids
        (n,): the tokens of each.
    tokenizer
        The trainer's processing class.

    """
    texts = [_plain(each) for each in completions]
    moved = [i for i, text in enumerate(texts) if text is None]
    if moved:
        decoded = tokenizer.batch_decode([completion_ids[i] for i in moved], skip_special_tokens=True)
        for i, text in zip(moved, decoded, strict=True):
            texts[i] = text
    return [text or "" for text in texts]


def _plain(completion: Any) -> str | None:
    """Its text as it stands; None: not all of it is in there."""
    if isinstance(completion, str):
        return completion
    if len(completion) != 1 or not completion[0].keys() <= {"role", "content"}:
        return None
    content = completion[0].get("content")
    return content if isinstance(content, str) else None
