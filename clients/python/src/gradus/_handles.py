"""Members of `Client`, `Run` and `Evaluation` that make no calls, shared by their blocking and asyncio forms."""

from __future__ import annotations

from gradus._client_core import ClientCore
from gradus._evaluation_core import EvaluationCore
from gradus._op import Handle
from gradus._run_groups import WholeRunCore
from gradus.enums import FeedbackStatus


class ClientHandle(Handle[ClientCore]):
    """Base class of `Client` and its asyncio form."""

    @property
    def feedback_counts(self) -> dict[FeedbackStatus, int]:
        """Returns the number of scores by feedback status, as seen by this client; see `Run.feedback_counts`."""
        return self._core.feedback.counts()

    def __repr__(self) -> str:
        """Returns the address, without the token."""
        return f"<{type(self).__module__}.{type(self).__name__} of {self._core.settings.target}>"


class RunHandle(Handle[WholeRunCore]):
    """Base class of `Run`, the handle of a training run, and its asyncio form."""

    @property
    def run_id(self) -> str:
        """The run's id."""
        return self._core.run_id

    @property
    def cursor(self) -> int | None:
        """Position of the next batch, in tasks from 0; None: the first update batch that is not closed.

        A trainer may keep the position in a checkpoint, and set it again.
        """
        return self._core.cursor

    @cursor.setter
    def cursor(self, cursor: int | None) -> None:
        self._core.cursor = cursor

    @property
    def feedback_counts(self) -> dict[FeedbackStatus, int]:
        """Returns the number of this run's scores by feedback status, e.g. {"recorded": 512}, as seen by this client.

        Scores that were sent by the task's id alone, without its `Task` or `CompletionGroup`, count only for the client
        (`Client.feedback_counts`).
        """
        return self._core.feedback_counts()

    def __repr__(self) -> str:
        """Returns the class and the id."""
        return f"<{type(self).__module__}.{type(self).__name__} {self.run_id!r}>"


class EvaluationHandle(Handle[EvaluationCore]):
    """Base class of `Evaluation`, the handle of an evaluation, and its asyncio form."""

    @property
    def evaluation_id(self) -> str:
        """The evaluation's id."""
        return self._core.evaluation_id

    def __repr__(self) -> str:
        """Returns the class and the id."""
        return f"<{type(self).__module__}.{type(self).__name__} {self.evaluation_id!r}>"
