"""Log lines and warnings while a call waits for a run's next tasks."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from gradus._op import Op
from gradus._warn import warn
from gradus.errors import GradusError, PausedError
from gradus.stalls import NOTICE_SECONDS, StalledError, StallWarning

PAUSE_NOTICE_SECONDS = 60.0
"""Seconds between two log lines while a run is paused."""

_LOG = logging.getLogger("gradus")

Why = Callable[[GradusError, float], Op[GradusError]]
"""Function that adds to an error why the run gives no tasks. Its second argument is the seconds waited so far."""


class Notice:
    """Warns once of a long wait for feedback, and logs once a minute that the run is paused.

    A pause is only logged: if warnings are errors, a warning would end the training.
    """

    def __init__(self, run_id: str, why: Why) -> None:
        self._run_id = run_id
        self._why = why
        self._began = time.monotonic()
        self._warned = False
        self._paused_at: float | None = None
        self._said_at = float("-inf")

    def waiting(self, error: GradusError) -> Op[None]:
        """Called before each retry: warns once of a long wait for feedback, or logs a pause at most once a minute."""
        now = time.monotonic()
        if isinstance(error, PausedError):
            self._paused(error, now)
            return
        self.resumed()
        if self._warned or now - self._began < NOTICE_SECONDS:
            return
        self._warned = True
        why = yield from self._why(error, round(now - self._began))
        if isinstance(why, StalledError):
            warn(f"{why.message}. Still waiting", StallWarning)

    def resumed(self) -> None:
        """Records that the run is not paused now. After a pause, logs its end, and counts the wait from now on."""
        if self._paused_at is not None:
            self._began = time.monotonic()
            _LOG.info("run %r was resumed after a pause of %.0f s", self._run_id, self._began - self._paused_at)
            self._paused_at = None

    def _paused(self, error: PausedError, now: float) -> None:
        self._paused_at = now if self._paused_at is None else self._paused_at
        if now - self._said_at < PAUSE_NOTICE_SECONDS:
            return
        self._said_at = now
        since = error.paused_since
        words = f" since {since:%Y-%m-%d %H:%M:%S} UTC" if since else ""
        by = f" by {error.paused_by}" if error.paused_by else ""
        _LOG.warning(
            "run %r is paused%s%s: the trainer waits until it is resumed (gradus run resume %s)",
            self._run_id,
            by,
            words,
            self._run_id,
        )
