"""An evaluation, for asyncio: the methods of evaluation.py, awaited."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from typing import TYPE_CHECKING

from gradus import _evaluation_calls as _calls
from gradus._enums import AnswerFormat, Thinking
from gradus.types import PendingTask, Sample, Submitted, Task
from gradus.v1 import evaluation_pb2

if TYPE_CHECKING:
    from gradus.aio.client import AsyncClient


class AsyncEvaluation:
    """`Evaluation` for asyncio."""

    def __init__(self, client: AsyncClient, evaluation_id: str) -> None:
        self._client = client
        self.evaluation_id = evaluation_id

    async def create(
        self,
        suite: str,
        *,
        suite_version: int = 0,
        samples_per_task: int = 1,
        model: str = "",
        answer_format: AnswerFormat | None = None,
        thinking: Thinking | None = None,
    ) -> evaluation_pb2.Evaluation:
        """See `Evaluation.create`."""
        call = _calls.create_evaluation(
            self.evaluation_id, suite, suite_version, samples_per_task, model, answer_format, thinking
        )
        return await self._client._call(call)

    async def get(self) -> evaluation_pb2.Evaluation:
        """See `Evaluation.get`."""
        return await self._client._call(_calls.get_evaluation(self.evaluation_id))

    def pending(self, page_size: int = 0) -> AsyncIterator[PendingTask]:
        """See `Evaluation.pending`."""
        return self._client._pages(lambda token: _calls.pending(self.evaluation_id, page_size, token))

    async def submit(self, completions: Iterable[tuple[Task | str, int, str]]) -> list[Submitted]:
        """See `Evaluation.submit`."""
        return await self._client._call(_calls.submit(self.evaluation_id, completions))

    def samples(self, page_size: int = 0) -> AsyncIterator[Sample]:
        """See `Evaluation.samples`."""
        return self._client._pages(lambda token: _calls.samples(self.evaluation_id, page_size, token))

    async def report(self) -> evaluation_pb2.Report:
        """See `Evaluation.report`."""
        return await self._client._call(_calls.report(self.evaluation_id))
