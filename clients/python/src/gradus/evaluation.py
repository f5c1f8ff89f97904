"""An evaluation, for code that waits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from gradus import _evaluation_calls as _calls
from gradus._enums import AnswerFormat, Thinking
from gradus.types import PendingTask, Sample, Submitted, Task
from gradus.v1 import evaluation_pb2

if TYPE_CHECKING:
    from gradus.client import Client


class Evaluation:
    """A model's completions of a suite, by its id: what `Client.evaluation` gives.

    Every call can be made again: the first completion of each sample counts.
    """

    def __init__(self, client: Client, evaluation_id: str) -> None:
        self._client = client
        self.evaluation_id = evaluation_id

    def create(
        self,
        suite: str,
        *,
        suite_version: int = 0,
        samples_per_task: int = 1,
        model: str = "",
        answer_format: AnswerFormat | None = None,
        thinking: Thinking | None = None,
    ) -> evaluation_pb2.Evaluation:
        """Creates it, or gives it as it stands if it exists with these choices; suite version 0 is the newest."""
        call = _calls.create_evaluation(
            self.evaluation_id, suite, suite_version, samples_per_task, model, answer_format, thinking
        )
        return self._client._call(call)

    def get(self) -> evaluation_pb2.Evaluation:
        """What it is of, and how many samples are scored."""
        return self._client._call(_calls.get_evaluation(self.evaluation_id))

    def pending(self, page_size: int = 0) -> Iterator[PendingTask]:
        """Tasks with missing samples, in the suite's order; each page (0: of 100) is asked for when it is wanted."""
        return self._client._pages(lambda token: _calls.pending(self.evaluation_id, page_size, token))

    def submit(self, completions: Iterable[tuple[Task | str, int, str]]) -> list[Submitted]:
        """Has completions scored: at most 1024 of (task or its id, sample index, text); what became of each."""
        return self._client._call(_calls.submit(self.evaluation_id, completions))

    def samples(self, page_size: int = 0) -> Iterator[Sample]:
        """What was submitted, with its outcomes, in the suite's order."""
        return self._client._pages(lambda token: _calls.samples(self.evaluation_id, page_size, token))

    def report(self) -> evaluation_pb2.Report:
        """The report so far."""
        return self._client._call(_calls.report(self.evaluation_id))
