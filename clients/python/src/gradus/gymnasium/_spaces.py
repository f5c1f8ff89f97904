"""The space of texts."""

from __future__ import annotations

from typing import Any

from gymnasium.spaces import Text

LENGTH_MAX = 65536
"""Characters, unless an environment is made with another length."""

_PRINTABLE = "".join(map(chr, range(32, 127)))


class AnyText(Text):
    """Texts of any characters; what is sampled is printable ASCII."""

    def __init__(self, max_length: int) -> None:
        super().__init__(max_length, min_length=0, charset=_PRINTABLE)

    def contains(self, x: Any) -> bool:
        """Whether it is a text that is not too long."""
        return isinstance(x, str) and len(x) <= self.max_length

    @property
    def is_np_flattenable(self) -> bool:
        """Not: its characters are too many to be numbered."""
        return False
