"""Checks how much memory a worker has left, before it begins another item.

An environment may use more and more memory. At the limit it need not fail: it may catch MemoryError and return a
different result. So a worker that has used too much of its memory is replaced by a fresh one. But the memory may hold a
table that all items need, which each new worker would load again. So a large use of memory is accepted once.
"""

from __future__ import annotations

from collections.abc import Callable

HALF = 1 / 2
MORE = 3 / 4
# Shares of the worker's memory below one half, in descending order. `Room` takes the first share that is still free as
# an estimate of the worker's free memory.
LESS = [sixteenths / 16 for sixteenths in range(7, 1, -1)]


class Room:
    """Decides whether one worker has enough free memory for another item.

    `has_room(share)` returns whether this share of the worker's maximum memory is still free, e.g. 0.5: half of it.
    """

    def __init__(self, has_room: Callable[[float], bool]) -> None:
        self._has_room = has_room
        self._wanted = MORE
        self._is_settled = False

    def is_left(self) -> bool:
        """Returns whether there is enough memory for another item. Called before each item."""
        if self._has_room(self._wanted):
            return True
        if self._is_settled:
            return False
        self._is_settled = True
        if self._has_room(HALF):
            self._wanted = HALF
            return True
        left = next((share for share in LESS if self._has_room(share)), 0)
        self._wanted = left / 2
        return left > 0
