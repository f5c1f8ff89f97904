"""Addresses of runs, to use as a trainer's data file, and references to tasks in rows of data."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote, urlsplit

from gradus import aio
from gradus._arguments import shown
from gradus._credentials import Tls
from gradus._feedback import OnFeedback
from gradus._retries import AS_LONG_AS_THERE_IS_TIME
from gradus.client import Client
from gradus.tasks import Task

if TYPE_CHECKING:
    from typing_extensions import Self

PATIENCE_SECONDS = 600.0
"""Default maximum of seconds to wait for a server, and to send a completion again if the server asks for it."""

_SCHEMES = {"gradus": False, "gradus+tls": True}

_FORM = "gradus://HOST:PORT/RUN_ID, or gradus://HOST:PORT/RUN_ID#EVALUATION_ARM_ID for an evaluation arm"


@dataclass(frozen=True)
class RunAddress:
    """A run on a server, or one of its evaluation arms; with an empty `run_id` only the server.

    As text: `gradus://localhost:50051/my-run` or `gradus://localhost:50051/my-run#eval/countdown/T1`; `gradus+tls://`
    is for TLS. The text has no secrets: the token is in the environment variable GRADUS_TOKEN, and the path of the file
    with trusted certificates in GRADUS_TLS_CA.
    """

    server: str
    run_id: str
    evaluation_arm: str = ""
    tls: bool = False

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parses the text of an address, e.g. "gradus://localhost:50051/my-run".

        Raises
        ------
        ValueError
            If the text is no address. The message shows the form.

        """
        if not isinstance(text, str):
            raise TypeError(f"address: want {_FORM}, as str; got {shown(text)}")
        parts = urlsplit(text)
        run_id = unquote(parts.path.removeprefix("/"))
        if parts.scheme not in _SCHEMES or not parts.netloc:
            raise ValueError(f"{text!r} is not the address of a run: want {_FORM}")
        return cls(parts.netloc, run_id, unquote(parts.fragment), _SCHEMES[parts.scheme])

    @classmethod
    def of_run(cls, text: str) -> Self:
        """Parses an address and requires a run.

        Raises
        ------
        ValueError
            If the address names no run.

        """
        address = cls.parse(text)
        if not address.run_id:
            raise ValueError(f"{text!r} names a server and no run: want {_FORM}")
        return address

    def __str__(self) -> str:
        """Returns the address as text."""
        scheme = "gradus+tls" if self.tls else "gradus"
        arm = f"#{quote(self.evaluation_arm)}" if self.evaluation_arm else ""
        return f"{scheme}://{self.server}/{quote(self.run_id)}{arm}"

    def client(self, on_feedback: OnFeedback = "warn", patience: float = PATIENCE_SECONDS) -> Client:
        """Returns a client of the server. Its calls wait up to `patience` seconds for a server that is down."""
        return Client(self.server, on_feedback=on_feedback, **self._settings(patience))

    def aio_client(self, on_feedback: OnFeedback = "warn", patience: float = PATIENCE_SECONDS) -> aio.Client:
        """Returns a client for asyncio; see `client`."""
        return aio.Client(self.server, on_feedback=on_feedback, **self._settings(patience))

    def _settings(self, patience: float) -> dict[str, Any]:
        tls = Tls(ca=os.environ.get("GRADUS_TLS_CA")) if self.tls else None
        return {
            "timeout": patience,
            "retries": AS_LONG_AS_THERE_IS_TIME,
            "tls": tls,
            "token": os.environ.get("GRADUS_TOKEN", "").strip() or None,
        }


@dataclass(frozen=True)
class TaskReference:
    """The data that any process needs to score completions of a task.

    Attributes
    ----------
    address
        Address of the task's run, as text; "": the scorer already has a client.
    num_generations
        Number of completions in the whole group.

    """

    address: str
    task_id: str
    group_id: str
    run_id: str
    num_generations: int

    @classmethod
    def of(cls, task: Task, address: RunAddress | None, num_generations: int) -> Self:
        """Returns the reference to a task that the run at `address` issued."""
        return cls("" if address is None else str(address), task.task_id, task.group_id, task.run_id, num_generations)

    def to_row(self) -> dict[str, str | int]:
        """Returns the reference as a dictionary, e.g. for a row of a data set."""
        return asdict(self)

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Self:
        """Returns the reference from a row that `to_row` made.

        Raises
        ------
        ValueError
            If a field is missing; the message names it.

        """
        names = [each.name for each in fields(cls)]
        missing = [each for each in names if each not in row]
        if missing:
            raise ValueError(f"a row's reference to its task has no {missing[0]!r}: was the row made by this package?")
        return cls(**{name: row[name] for name in names})
