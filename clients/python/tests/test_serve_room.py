"""Test how many items a worker begins, by the memory that it still has."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from gradus.serve._room import Room


@pytest.mark.parametrize(
    ("taken", "items"),
    [
        # The use of memory grows slowly.
        ([1 / 16] * 30, 9),
        ([0.125] * 8, 5),
        ([0.24, 0.2, 0.2, 0.2], 3),
        # A table is loaded, and stays.
        ([0, 0.6, *[0] * 50], 52),
        ([0.8, *[0] * 50], 51),
        # A table is loaded, and later items keep more memory.
        ([0.6, *[0.05] * 9], 6),
        ([0.55, 0.3, 0.01], 2),
        # Too little memory is left.
        ([0.9, 0], 1),
        ([0.24, 0.7], 2),
    ],
)
def test_items_are_begun_while_there_is_room(taken: Sequence[float], items: int) -> None:
    free = 1.0
    room = Room(lambda share: free >= share)
    begun = 0
    for each in taken:
        if begun > 0 and not room.is_left():
            break
        begun += 1
        free -= each
    assert begun == items
