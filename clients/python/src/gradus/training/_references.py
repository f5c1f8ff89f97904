"""What of a task travels with a row of a data set, to where its completions are scored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any

from gradus.tasks import Task
from gradus.training._address import RunAddress

if TYPE_CHECKING:
    from typing_extensions import Self


@dataclass(frozen=True)
class TaskReference:
    """All that is needed to score completions of a task, in any process. As a row it is text and one number.

    Attributes
    ----------
    address
        Of its run, as `RunAddress` writes it; "": who scores has a client.
    num_generations
        The whole group's size, which goes with every completion.

    """

    address: str
    task_id: str
    group_id: str
    run_id: str
    num_generations: int

    @classmethod
    def of(cls, task: Task, address: RunAddress | None, num_generations: int) -> Self:
        """The reference to a task that was given out by the run at `address`."""
        return cls("" if address is None else str(address), task.task_id, task.group_id, task.run_id, num_generations)

    def to_row(self) -> dict[str, str | int]:
        """As a row of a data set or a JSON object holds it."""
        return asdict(self)

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Self:
        """Reads what `to_row` gave.

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
