"""Runs that give no tasks, for they wait for feedback: the error, the warning, and of which groups in words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import grpc

from gradus.errors import DeadlineExceededError, GradusError, UnavailableError
from gradus.groups import RunGroup

GATHER_SECONDS = 0.2
"""How long before the end of a call's time the server is to have answered."""

ASK_SECONDS = 5.0
"""How long it may take to find out what is waited for, after the call's own time."""

NOTICE_SECONDS = 30.0
"""How long a stall lasts before it is warned of."""

_GROUPS_NAMED = 3

_WAITS = re.compile(r"waits for feedback of batch (\d+)")


class StalledError(UnavailableError):
    """A run gave no tasks in time, for it waits for feedback.

    `update_batch` is the first one that is waited for, and `open_groups` those of its groups that are open.
    """

    def __init__(self, message: str, update_batch: int, open_groups: tuple[RunGroup, ...]) -> None:
        super().__init__(grpc.StatusCode.UNAVAILABLE, message)
        self.update_batch = update_batch
        self.open_groups = open_groups

    def __reduce__(self) -> tuple[Any, ...]:
        """See `GradusError.__reduce__`."""
        return StalledError, (self.message, self.update_batch, self.open_groups)


class StallWarning(UserWarning):
    """A run has given no tasks for a while, for it waits for feedback."""


def is_stall(error: GradusError) -> bool:
    """Whether feedback that is due may be what the call waited for."""
    if isinstance(error, UnavailableError):
        # A server of before this reason existed says it in words alone.
        return error.reason == "FEEDBACK_DUE" or _WAITS.search(error.message) is not None
    return isinstance(error, DeadlineExceededError) and error.mistake is None


def stalled(run_id: str, cursor: int, seconds: float, groups: Sequence[RunGroup]) -> StalledError:
    """The error for groups that are open, which are at least one, by cursor."""
    first = groups[0].update_batch
    waited = tuple(each for each in groups if each.update_batch == first)
    named = "; ".join(_words(each) for each in waited[:_GROUPS_NAMED])
    more = f"; and {len(waited) - _GROUPS_NAMED} more" if len(waited) > _GROUPS_NAMED else ""
    message = (
        f"run {run_id!r} gave no tasks from cursor {cursor} on within {seconds:g} s: it waits for feedback of update "
        f"batch {first}, of which {len(waited)} group{' is' if len(waited) == 1 else 's are'} open: {named}{more}. "
        "Send their completions, or close them by close_groups; a larger feedback_lag lets draws run further ahead"
    )
    return StalledError(message, first, waited)


def _words(group: RunGroup) -> str:
    missing = ", ".join(map(str, group.missing[:8])) + (", …" if len(group.missing) > 8 else "")  # noqa: PLR2004
    return f"{group.group_id} (cursor {group.cursor}, arm {group.arm_id}; without samples {missing})"
