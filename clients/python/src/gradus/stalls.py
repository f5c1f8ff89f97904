"""Runs that give no tasks because they wait for feedback: the error, the warning, and the awaited groups."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import grpc

from gradus.errors import DeadlineExceededError, GradusError, UnavailableError
from gradus.groups import RunGroup

GATHER_SECONDS = 0.2
"""Seconds before the end of a call's timeout at which the server must have answered."""

ASK_SECONDS = 5.0
"""Maximum seconds, after the call's own timeout, to find out which groups the run waits for."""

NOTICE_SECONDS = 30.0
"""Seconds that a call waits for feedback on a run before a warning."""

_GROUPS_NAMED = 3

_WAITS = re.compile(r"waits for feedback of batch (\d+)")


class StalledError(UnavailableError):
    """A run gave no tasks in time, because it waits for feedback.

    `update_batch` is the index of the first awaited batch, and `open_groups` are its open groups.
    """

    def __init__(self, message: str, update_batch: int, open_groups: tuple[RunGroup, ...]) -> None:
        super().__init__(grpc.StatusCode.UNAVAILABLE, message)
        self.update_batch = update_batch
        self.open_groups = open_groups

    def __reduce__(self) -> tuple[Any, ...]:
        """See `GradusError.__reduce__`."""
        return StalledError, (self.message, self.update_batch, self.open_groups)


class StallWarning(UserWarning):
    """A run has given no tasks for a while, because it waits for feedback."""


def is_stall(error: GradusError) -> bool:
    """Returns whether the call may have failed because the run waits for feedback."""
    if isinstance(error, UnavailableError):
        # Older servers do not send the reason FEEDBACK_DUE, so recognize the text of their error.
        return error.reason == "FEEDBACK_DUE" or _WAITS.search(error.message) is not None
    return isinstance(error, DeadlineExceededError) and error.mistake is None


def stalled(run_id: str, cursor: int, seconds: float, groups: Sequence[RunGroup]) -> StalledError:
    """Returns the error for a non-empty list of open groups, by cursor."""
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
