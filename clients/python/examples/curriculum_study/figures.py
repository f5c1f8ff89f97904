"""Keeps the figures of a study in one compact file, with a line for each training.

Each training writes its full figures into a file outside of Git. Reports are made from the compact file,
`figures.jsonl.gz`, which is in Git.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

Figures = Mapping[str, Any]
"""Compact figures of one training: its condition and seed, `seconds`, and what its report needs."""

_COMPACT = "figures.jsonl.gz"
_WINDOWS = 12
"""Windows of a training over which `percent` averages what was drawn."""
_DIGITS = 7
"""Significant digits of a number in the compact file."""


def compact_figures(folder: Path, condense: Callable[[Mapping[str, Any]], Figures]) -> list[Figures]:
    """Returns the compact figures of a folder, one training each, ordered by file name.

    If the folder has files of trainings, `condense` is applied to each and the compact file is written. Otherwise the
    compact file is read. An empty folder gives an empty list.
    """
    trainings = sorted(folder.glob("*.json"))
    compact = folder / _COMPACT
    if trainings:
        found = (_rounded(condense(json.loads(path.read_text()))) for path in trainings)
        lines = [json.dumps(each, separators=(",", ":")) for each in found]
        # Leave out the time of writing, so that equal figures give equal files.
        compact.write_bytes(gzip.compress(("\n".join(lines) + "\n").encode(), mtime=0))
    if not compact.exists():
        return []
    return [json.loads(line) for line in gzip.decompress(compact.read_bytes()).splitlines()]


def by_condition(figures: Iterable[Figures], names: Iterable[str]) -> dict[str, list[Figures]]:
    """Groups figures by condition, in the order of `names`, sorted by seed; leaves out conditions without figures."""
    every = sorted(figures, key=lambda each: each["seed"])
    grouped = {name: [each for each in every if each["condition"] == name] for name in names}
    return {name: seeds for name, seeds in grouped.items() if seeds}


def percent_drawn(drawn: Sequence[Sequence[int]]) -> list[list[int]]:
    """Returns each arm's percentage of the tasks in each window of a training, (windows, arms).

    `drawn` is the number of tasks that each arm gave in each update, (updates, arms).
    """
    windows = np.array_split(np.asarray(drawn, float), min(_WINDOWS, len(drawn)))
    totals = [window.sum(axis=0) for window in windows]
    return [[round(100 * float(share)) for share in total / total.sum()] for total in totals]


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.{_DIGITS}g}")
    if isinstance(value, Mapping):
        return {key: _rounded(each) for key, each in value.items()}
    return [_rounded(each) for each in value] if isinstance(value, list | tuple) else value
