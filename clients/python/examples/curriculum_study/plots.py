"""Plots of an experiment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from measures import interval

mpl.use("svg")
# The same figures give the same file.
mpl.rcParams["svg.hashsalt"] = "gradus"
from matplotlib import pyplot as plt

_SMOOTHED = 10
"""Updates over which the plot of arms is averaged."""


def _save(path: Path) -> None:
    plt.tight_layout()
    plt.savefig(path, metadata={"Date": None})
    plt.close()


def draw_measure(path: Path, title: str, measure: str, baseline: str, values: Mapping[str, Sequence[float]]) -> None:
    """A measure of each condition, seed by seed and as mean and interval; a dotted line is the baseline's mean."""
    names = [*values][::-1]
    _, axes = plt.subplots(figsize=(8, 0.5 * len(names) + 1.4))
    for at, name in enumerate(names):
        mean, half = interval(values[name])
        color = "tab:gray" if name == baseline else "tab:blue"
        axes.plot(values[name], [at] * len(values[name]), "|", color=color, alpha=0.5)
        axes.errorbar(mean, at, xerr=half if np.isfinite(half) else None, fmt="o", color=color, capsize=4)
    axes.axvline(interval(values[baseline])[0], color="tab:gray", linestyle=":")
    axes.set_yticks(range(len(names)), names)
    seeds = min(map(len, values.values()))
    axes.set_xlabel(f"{measure} after the same number of rollouts; mean and 95% interval, {seeds} seeds")
    axes.set_title(title, fontsize=10)
    _save(path)


def draw_curves(
    path: Path, title: str, baseline: str, curves: Mapping[str, Sequence[tuple[Sequence[int], Sequence[float]]]]
) -> None:
    """Mean of a score over rollouts; a band is its 95% interval."""
    _, axes = plt.subplots(figsize=(8, 5))
    for name, seeds in curves.items():
        at = seeds[0][0]
        means, halves = np.transpose([interval(values) for values in zip(*(each[1] for each in seeds), strict=True)])
        (line,) = axes.plot(at, means, label=name, color="black" if name == baseline else None)
        if np.isfinite(halves).all():
            axes.fill_between(at, means - halves, means + halves, alpha=0.15, color=line.get_color(), linewidth=0)
    axes.set_xlabel("rollouts")
    axes.set_ylabel(title)
    axes.legend()
    _save(path)


def draw_arms(path: Path, results: Mapping[str, Sequence[Mapping[str, Any]]]) -> None:
    """What each condition drew, as shares of an update, mean over seeds."""
    columns = 2
    rows = -(-len(results) // columns)
    _, grid = plt.subplots(rows, columns, figsize=(9, 2 * rows), sharex=True, sharey=True, squeeze=False)
    for axes, (name, seeds) in zip(grid.flat, results.items(), strict=False):
        drawn = np.mean([each["drawn"] for each in seeds], axis=0)
        shares = drawn / drawn.sum(axis=1, keepdims=True)
        smooth = np.stack([shares[max(0, i - _SMOOTHED + 1) : i + 1].mean(axis=0) for i in range(len(shares))])
        axes.stackplot(range(1, len(smooth) + 1), smooth.T, labels=seeds[0]["arms"])
        axes.set_title(name, fontsize=9)
        axes.set_ylim(0, 1)
        axes.legend(fontsize=6, loc="lower right")
    _save(path)
