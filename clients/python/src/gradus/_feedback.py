"""Counts whether runs recorded a client's scores (by feedback status), and warns of scores that they did not record."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable
from typing import Literal, TypeAlias

from gradus._warn import warn
from gradus.enums import FeedbackStatus
from gradus.errors import FeedbackError, FeedbackWarning
from gradus.outcomes import GroupOutcome, Outcome, Reward

OnFeedback: TypeAlias = Literal["warn", "raise", "ignore"]
"""Action if a run does not record a score: a `FeedbackWarning`, a `FeedbackError`, or none."""

_EXPECTED = ("recorded", "duplicate")
"""Statuses that need no warning. A duplicate is the same completion again after a retry, so nothing is lost."""


class FeedbackLog:
    """Counts of scores by run and feedback status.

    Each thread has its own counts, because a fork could leave a lock locked for ever.
    """

    def __init__(self, on_feedback: OnFeedback) -> None:
        if on_feedback not in ("warn", "raise", "ignore"):
            raise ValueError(f'on_feedback: want "warn", "raise" or "ignore"; got {on_feedback!r}')
        self._on_feedback = on_feedback
        self._counts: dict[tuple[int, str, FeedbackStatus], int] = {}
        self._warned: set[tuple[str, FeedbackStatus]] = set()

    def counts(self, run_id: str | None = None) -> dict[FeedbackStatus, int]:
        """Returns the number of scores by feedback status, of one run or of all."""
        counts: Counter[FeedbackStatus] = Counter()
        for (_, run, status), count in list(self._counts.items()):
            if run_id is None or run == run_id:
                counts[status] += count
        return dict(counts)

    def note_group(self, run_id: str, group: GroupOutcome) -> FeedbackError | None:
        """Counts the outcomes of a group like `note`, but faster if the run recorded all of them."""
        statuses = group.statuses()
        if any(each not in _EXPECTED for each in statuses):
            return self.note(run_id, group.outcomes)
        thread = threading.get_ident()
        for status in set(statuses):
            key = (thread, run_id, status)
            self._counts[key] = self._counts.get(key, 0) + statuses.count(status)
        return None

    def note(self, run_id: str, outcomes: Iterable[Outcome | Reward]) -> FeedbackError | None:
        """Counts outcomes of one run. If the run did not record a score, warns once or returns the error to raise."""
        thread = threading.get_ident()
        unexpected: Outcome | Reward | None = None
        for outcome in outcomes:
            if outcome.feedback is None:
                continue
            key = (thread, run_id, outcome.feedback)
            self._counts[key] = self._counts.get(key, 0) + 1
            # A sample that the server asks to send again is not recorded yet. That needs no warning.
            retried = outcome.no_reward is not None and outcome.no_reward.retry_delay is not None
            if outcome.feedback not in _EXPECTED and not retried:
                unexpected = unexpected or outcome
        if unexpected is None or self._on_feedback == "ignore":
            return None
        message = _message(run_id, unexpected)
        if self._on_feedback == "raise":
            return FeedbackError(message, unexpected.feedback or "not_recorded")
        self._warn(run_id, unexpected, message)
        return None

    def _warn(self, run_id: str, outcome: Outcome | Reward, message: str) -> None:
        key = (run_id, outcome.feedback or "not_recorded")
        if key not in self._warned:
            self._warned.add(key)
            advice = 'feedback_counts counts all; Client(on_feedback="raise") raises instead'
            warn(f"{message} (logged once; {advice})", FeedbackWarning)


def _message(run_id: str, outcome: Outcome | Reward) -> str:
    reasons: dict[str | None, str] = {
        "conflicting_completion": "another completion of this sample was recorded before, and counts",
        "stale_epoch": "its task is from before an import of the run, or of a run that was deleted",
    }
    reason = outcome.feedback_detail or reasons.get(outcome.feedback, "the server does not say why")
    where = f"run {run_id!r}" if run_id else "the task's run"
    return f"{where} did not learn from sample {outcome.sample_index}: {outcome.feedback}: {reason}"
