"""Gymnasium spaces whose elements are texts of any Unicode characters."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
from gymnasium.spaces import Text
from gymnasium.vector.utils import read_from_shared_memory

from gradus.enums import FinishReason


class WrittenText(str):
    """A completion as an action that also says why generation ended.

    It is a str, because Gymnasium's actions are texts, and it can be sent to other processes.

    Parameters
    ----------
    text
        Text of the policy.
    finish_reason
        "length" if the completion was cut at its maximum length, "stop" if it ended; None: not known, as for a plain
        text.
    end
        Whether the episode ends after this completion, e.g. because the context is full.

    """

    finish_reason: FinishReason | None
    end: bool

    def __new__(cls, text: str = "", finish_reason: FinishReason | None = None, end: bool = False) -> WrittenText:
        written = super().__new__(cls, text)
        written.finish_reason = finish_reason
        written.end = end
        return written


LENGTH_MAX = 65536
"""Maximum number of characters, unless an environment is made with another length."""

_PRINTABLE = "".join(map(chr, range(32, 127)))


class _Unicode:
    """All Unicode characters by code point, without the memory of a set or a list of a million."""

    def __len__(self) -> int:
        return sys.maxunicode + 1

    def __contains__(self, character: object) -> bool:
        return isinstance(character, str) and len(character) == 1

    def __getitem__(self, code: int) -> str:
        return chr(code)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Unicode)

    def __hash__(self) -> int:
        return hash(_Unicode)


class AnyText(Text):
    """Texts of any characters, the empty one included; samples are printable ASCII.

    The number of a character is its code point. gymnasium's `AsyncVectorEnv` passes texts between processes as the
    numbers of their characters, and a flattened text consists of the same numbers.
    """

    def __init__(self, max_length: int) -> None:
        super().__init__(max_length, min_length=0, charset=_PRINTABLE)
        self._sampled = Text(max_length, min_length=0, charset=_PRINTABLE)

    @property
    def character_set(self) -> Any:
        """Returns all of Unicode."""
        return _Unicode()

    @property
    def character_list(self) -> Any:
        """Returns all characters, by code point."""
        return _Unicode()

    def character_index(self, char: str) -> Any:
        """Returns the code point of a character."""
        return np.int32(ord(char))

    def sample(self, mask: Any = None, probability: Any = None) -> str:
        """Returns a text of printable ASCII. Masks apply to its characters."""
        self._sampled.seed(int(self.np_random.integers(2**31)))
        return str(self._sampled.sample(mask, probability))

    def __repr__(self) -> str:
        """Shows the maximum length."""
        return f"AnyText({self.max_length})"


class _SharedTexts:
    """A view of the texts in shared memory.

    `AsyncVectorEnv` reads its observations from shared memory once, when it is made, and then returns copies of what it
    read. If that is an array, a view of the memory, its copies have the new values. Texts would stay the first ones. So
    it reads this object instead, whose copies are tuples of the current texts.
    """

    def __init__(self, codes: np.ndarray[Any, Any]) -> None:
        self._codes = codes

    def __len__(self) -> int:
        return len(self._codes)

    def __getitem__(self, index: int) -> str:
        codes = self._codes[index]
        return "".join(map(chr, codes[codes <= sys.maxunicode]))

    def __iter__(self) -> Iterator[str]:
        return (self[index] for index in range(len(self)))

    def __deepcopy__(self, memo: Any) -> tuple[str, ...]:
        return tuple(self)


@read_from_shared_memory.register(AnyText)
def _read(space: AnyText, shared_memory: Any, n: int = 1) -> _SharedTexts:
    codes = np.frombuffer(shared_memory.get_obj(), dtype=np.int32)
    return _SharedTexts(codes.reshape((n, space.max_length)))
