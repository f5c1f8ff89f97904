"""When a failed call is made again, and how long the caller waits before."""

from __future__ import annotations

import time

from gradus.errors import GradusError, ResourceExhaustedError, UnavailableError

_PATIENT_DELAY = 0.5
"""Seconds between two tries of a patient call where the server names no delay."""


class Deadline:
    """A point in time, in the seconds of a monotonic clock."""

    def __init__(self, timeout: float) -> None:
        self._at = time.monotonic() + timeout

    def left(self) -> float:
        """Seconds until then, at least 0."""
        return max(0.0, self._at - time.monotonic())


def delay_before_retry(error: GradusError, patient: bool, deadline: Deadline) -> float | None:
    """Seconds to wait before the call is made again; None: the error is final.

    What gRPC's retry policy can see it has retried already (_channels.py); what is left here are delays that the
    server asks for, and calls that wait for feedback.
    """
    if error.mistake is not None or not isinstance(error, (UnavailableError, ResourceExhaustedError)):
        return None
    delay = error.retry_delay
    if delay is None and patient and isinstance(error, UnavailableError):
        delay = _PATIENT_DELAY
    return delay if delay is not None and delay < deadline.left() else None
