"""Rules of retries: which failures are retried, and after how long."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import Any, TypeVar

from gradus._call import Call, Io
from gradus._op import Op
from gradus._warn import warn
from gradus.errors import (
    AbortedError,
    GradusError,
    PausedError,
    ResourceExhaustedError,
    UnavailableError,
    UnavailableWarning,
)

T = TypeVar("T")

_PATIENT_DELAY = 0.5
"""Seconds between two tries of a call that expects UNAVAILABLE (`Call.patient`), if the server names no delay."""

_PAUSE_DELAY = 1.0
"""Seconds between two tries while a run is paused, if the server names no delay."""

_RETRIES_UNREACHED = 4
"""Default maximum number of retries before a server has answered for the first time. Perhaps no server is running."""

AS_LONG_AS_THERE_IS_TIME = 10**9
"""Value of `retries` so high that only the timeout ends a call, for callers whose server may not be running yet."""

_FIRST_DELAY, _DELAY_MAX = 0.1, 5.0
"""First and maximum delay before a retry in seconds, if the server names none. It doubles with each try."""


def spread(delay: float) -> float:
    """Returns the delay plus up to a fifth of it, so that not all waiting callers retry at once."""
    return delay * (1 + 0.2 * random.random())


class Deadline:
    """A point in time, in the seconds of a monotonic clock."""

    def __init__(self, timeout: float) -> None:
        self._at = time.monotonic() + timeout

    def left(self) -> float:
        """Returns the seconds until the deadline, at least 0."""
        return max(0.0, self._at - time.monotonic())


Waiting = Callable[[GradusError], Op[None]]
"""Operation that runs each time before a call waits for its next try."""


def perform(
    io: Io,
    call: Call[T],
    timeout: float,
    retries: int | None,
    waiting: Waiting | None = None,
    first: Callable[[], Any] | None = None,
) -> Op[T]:
    """Repeats a call until it succeeds, fails with a final error, or times out; raises GradusError.

    A call that waits through pauses has its whole timeout and all retries again after a pause. `first` waits for the
    first try, if it has begun already (`Io.begin`).
    """
    deadline = Deadline(timeout)
    tries = 0
    while True:
        left = deadline.left()
        call.prepare(left)
        try:
            response = yield (io.exchange(call, left) if first is None or tries else first())
        except GradusError as failure:
            error = failure
        else:
            return call.read(response)
        if isinstance(error, PausedError):
            if not call.through_pause:
                raise error
            if waiting is not None:
                yield from waiting(error)
            yield io.sleep(spread(_PAUSE_DELAY if error.retry_delay is None else error.retry_delay))
            deadline, tries, first = Deadline(timeout), 0, None
            continue
        if tries == 0 and not io.reached:
            error = yield io.explain(error)
        delay = delay_before(error, tries, retries, io.reached, repeatable=call.repeatable, patient=call.patient)
        if delay is None or delay >= deadline.left():
            if tries > 0 and not io.reached:
                error = yield io.explain(error)
            raise error
        if tries == _RETRIES_UNREACHED and not io.reached:
            warn(f"{error.message}. Waiting for it, at most {deadline.left():.0f} s more", UnavailableWarning)
        if waiting is not None:
            yield from waiting(error)
        yield io.sleep(delay)
        tries += 1


def delay_before(
    error: GradusError,
    tries: int,
    retries: int | None,
    reached: bool,
    *,
    repeatable: bool = True,
    patient: bool = False,
) -> float | None:
    """Returns the seconds before the next try; None: the error is final."""
    if error.mistake is not None or (retries is not None and tries >= retries):
        return None
    if isinstance(error, (UnavailableError, ResourceExhaustedError)) and error.retry_delay is not None:
        return spread(error.retry_delay)
    if not repeatable or not isinstance(error, (UnavailableError, AbortedError)):
        return None
    if patient:
        return spread(_PATIENT_DELAY)
    if retries is None and not reached and tries >= _RETRIES_UNREACHED:
        return None
    return spread(min(_DELAY_MAX, _FIRST_DELAY * 2.0**tries))
