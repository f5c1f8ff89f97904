"""Seeds `random`, numpy and torch before each item, so that code which draws from them gives repeatable results.

Seeding `random` takes longer than many verifiers, and few verifiers use it. So a host replaces its generator by one
that is seeded when the first random number is drawn.
"""

from __future__ import annotations

import random
import sys
from typing import Any


class Late(random.Random):
    """Python's generator, seeded late: at the first draw after `begin_with`."""

    _due: int | None = None

    def begin_with(self, seed: int) -> None:
        """Makes the next random number the first one of this seed."""
        self._due = seed
        # `random.gauss` makes two numbers at a time, and may have kept the second.
        self.gauss_next = None

    def _begin(self) -> None:
        if self._due is not None:
            self.seed(self._due)

    def seed(self, *args: Any, **kwargs: Any) -> None:
        """Like `random.Random.seed`."""
        self._due = None
        super().seed(*args, **kwargs)

    def random(self) -> float:
        """Like `random.Random.random`."""
        self._begin()
        return super().random()

    def getrandbits(self, k: int, /) -> int:
        """Like `random.Random.getrandbits`."""
        self._begin()
        return super().getrandbits(k)

    def getstate(self) -> tuple[Any, ...]:
        """Like `random.Random.getstate`."""
        self._begin()
        return super().getstate()

    def setstate(self, state: tuple[Any, ...]) -> None:
        """Like `random.Random.setstate`."""
        self._due = None
        super().setstate(state)


_late: Late | None = None


def install() -> None:
    """Replaces the generator of `random`, before anything that uses it is imported."""
    global _late  # noqa: PLW0603
    _late = late = Late()
    for name, value in list(vars(random).items()):
        if type(getattr(value, "__self__", None)) is random.Random:
            setattr(random, name, getattr(late, name))
    # Replace also `random._inst`, the generator behind the functions of `random`, because some libraries, such as
    # networkx, read it.
    random._inst = late


def seed_chance(seed: int) -> None:
    """Seeds the generators of `random`, and of numpy and torch if they are imported."""
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


def chance() -> tuple[Any, Any]:
    """Returns the states of the generators of `random`, and of numpy's if it is imported."""
    numpy = sys.modules.get("numpy.random")
    return random.getstate(), None if numpy is None else numpy.get_state()


def resume_chance(states: tuple[Any, Any]) -> None:
    """Sets the generators to states that `chance` returned, so that they continue from there."""
    random.setstate(states[0])
    numpy = sys.modules.get("numpy.random")
    if numpy is not None and states[1] is not None:
        numpy.set_state(states[1])
