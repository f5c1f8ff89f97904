"""Reads an environment's rows from a list, an iterable, a `datasets.Dataset` or a file."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from gradus.serve import _json

ROWS_MAX = 10_000_000


def read_rows(source: Any, folder: Path) -> Sequence[Any]:
    """Returns an environment's rows as a sequence. Raises ValueError that says what cannot be read."""
    if isinstance(source, (str, Path)):
        return _read_file(folder / source)
    if isinstance(source, Mapping):
        raise ValueError("rows: a dict has rows by level, each a list, a data set or the path of a file")
    if hasattr(source, "__getitem__") and hasattr(source, "__len__"):
        return source  # type: ignore[no-any-return]
    if not isinstance(source, Iterable):
        raise ValueError(f"rows: a {type(source).__name__} is no list, data set or file's path")
    rows = []
    for row in source:
        rows.append(row)
        if len(rows) > ROWS_MAX:
            raise ValueError(f"rows: more than {ROWS_MAX:,}; an endless source must be the method `generate`")
    return rows


def _read_file(path: Path) -> Sequence[Any]:
    if not path.exists():
        raise ValueError(f"rows: there is no file {path.name} beside the environment")
    if path.suffix == ".parquet":
        try:
            import pyarrow.parquet  # noqa: PLC0415  # Only needed here, and not required.
        except ImportError as error:
            raise ValueError(f"rows: {path.name} needs pyarrow: pip install pyarrow") from error
        rows: list[Any] = pyarrow.parquet.read_table(path).to_pylist()
        return rows
    with path.open(encoding="utf-8") as lines:
        return [_read_line(line, number, path) for number, line in enumerate(lines, 1) if line.strip()]


def _read_line(line: str, number: int, path: Path) -> Any:
    try:
        return json.loads(line)
    except ValueError as error:
        raise ValueError(f"rows: line {number} of {path.name} is no JSON: {error}") from error


def digest_rows(rows: Sequence[Any], digest: Any) -> None:
    """Adds every row to a hash, so that changed rows give another digest."""
    for row in rows:
        digest.update(_json.dump(row, sort=True) + b"\n")
