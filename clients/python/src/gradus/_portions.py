"""Divides groups of completions into messages of BatchStep."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

G = TypeVar("G")

GROUPS_MAX = 1024
"""Maximum number of groups in a message: the default limit of the server."""

_CHARACTERS_MAX = 8_000_000
"""Approximate maximum of characters in a message: at most four bytes each, and the server accepts 64 MiB."""


def messages_of(groups: Iterable[G], length_of: Callable[[G], int], groups_max: int = GROUPS_MAX) -> Iterator[list[G]]:
    """Yields lists of groups, each as full as a message may be. A group is never split: advantages need it whole."""
    message: list[G] = []
    characters = 0
    for group in groups:
        length = length_of(group)
        if message and (len(message) == groups_max or characters + length > _CHARACTERS_MAX):
            yield message
            message, characters = [], 0
        message.append(group)
        characters += length
    if message:
        yield message
