"""The chance that a module draws on beside the generator that it is handed: set before each item, and so the same.

Setting the state of `random` takes longer than many a verifier, and hardly one draws on it. A host's own generator
sets it only once something is drawn.
"""

from __future__ import annotations

import random
import sys
from typing import Any


class Late(random.Random):
    """Python's generator, which begins with its seed at the first draw after it was told of it."""

    _due: int | None = None

    def begin_with(self, seed: int) -> None:
        """The next draw is the first of this seed."""
        self._due = seed
        # What `gauss` has left of what was drawn before.
        self.gauss_next = None

    def _begin(self) -> None:
        if self._due is not None:
            self.seed(self._due)

    def seed(self, *args: Any, **kwargs: Any) -> None:
        """As Python's."""
        self._due = None
        super().seed(*args, **kwargs)

    def random(self) -> float:
        """As Python's."""
        self._begin()
        return super().random()

    def getrandbits(self, k: int, /) -> int:
        """As Python's."""
        self._begin()
        return super().getrandbits(k)

    def getstate(self) -> tuple[Any, ...]:
        """As Python's."""
        self._begin()
        return super().getstate()

    def setstate(self, state: tuple[Any, ...]) -> None:
        """As Python's."""
        self._due = None
        super().setstate(state)


_late: Late | None = None


def install() -> None:
    """Puts such a generator in the place of `random`'s own: before anything that draws on it is imported."""
    global _late  # noqa: PLW0603
    _late = late = Late()
    for name, value in list(vars(random).items()):
        if type(getattr(value, "__self__", None)) is random.Random:
            setattr(random, name, getattr(late, name))


def seed_chance(seed: int) -> None:
    """Sets what chance a module may draw on beside the generator that it is handed."""
    if _late is None:
        random.seed(seed)
    else:
        _late.begin_with(seed)
    numpy = sys.modules.get("numpy.random")
    if numpy is not None:
        numpy.seed(seed % 2**32)
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.manual_seed(seed % 2**63)
