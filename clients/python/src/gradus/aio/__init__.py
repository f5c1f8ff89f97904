"""The asyncio half: the same files and methods as in gradus itself."""

from gradus.aio.client import AsyncClient
from gradus.aio.evaluation import AsyncEvaluation
from gradus.aio.run import AsyncRun

__all__ = ["AsyncClient", "AsyncEvaluation", "AsyncRun"]
