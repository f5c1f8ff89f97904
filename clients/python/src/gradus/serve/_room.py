"""Memory that a worker has yet, before it begins with another item.

An environment may hold on to more and more, and one that comes to the end of its memory need not fail: it may catch
MemoryError and find something else. So a worker gives way to a fresh one once half of its memory is taken. What is
taken at once may be a table that all items need, and would be loaded anew in each worker: that stays, once.
"""

from __future__ import annotations

from collections.abc import Callable

HALF = 1 / 2
MORE = 3 / 4
# Less than half, and enough to go on with, the most first.
LESS = [sixteenths / 16 for sixteenths in range(7, 1, -1)]


class Room:
    """Of one worker; `has_room` says whether such a share of its memory is free."""

    def __init__(self, has_room: Callable[[float], bool]) -> None:
        self._has_room = has_room
        self._wanted = MORE
        self._is_settled = False

    def is_left(self) -> bool:
        """Whether there is enough for another item. To be asked before each."""
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
