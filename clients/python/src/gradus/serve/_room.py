"""Checks how much memory a worker has left, before it begins another item.

An environment may hold more and more memory. At its limit it need not fail: it may catch MemoryError and return a
different result. So a fresh worker replaces one with half of its memory taken. Memory that is taken at once may be a
table that all items need, and each new worker would load it again. It is accepted once.
"""

from __future__ import annotations

from collections.abc import Callable

HALF = 1 / 2
MORE = 3 / 4
# Free shares of memory below one half to test for, in descending order.
LESS = [sixteenths / 16 for sixteenths in range(7, 1, -1)]


class Room:
    """Free memory of one worker.

    `has_room` returns whether a share of its memory is free.
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
