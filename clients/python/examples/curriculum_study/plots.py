"""Draws the plots of an experiment."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import matplotlib as mpl
import numpy as np
from measures import interval

mpl.use("svg")
# Give equal files for equal figures, and write letters as text, which is smaller than outlines.
mpl.rcParams.update({"svg.hashsalt": "gradus", "svg.fonttype": "none", "font.sans-serif": ["DejaVu Sans"]})
from matplotlib import pyplot as plt


def _save(path: Path) -> None:
    plt.tight_layout()
    plt.savefig(path, metadata={"Date": None})
    plt.close()
    # Cut decimals and indentation, which nobody sees. This halves a plot's size.
    path.write_text(re.sub(r"(\d\.\d\d?)\d*|\n +", lambda found: found[1] or "\n", path.read_text()))


def draw_measure(path: Path, title: str, measure: str, baseline: str, values: Mapping[str, Sequence[float]]) -> None:
    """Draws a measure of each condition by seed, with mean and interval. The dotted line is the baseline's mean."""
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
    """Draws the mean of a score over rollouts, with its 95% interval as a band."""
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


Drawn = tuple[Sequence[str], Sequence[Sequence[Sequence[int]]]]
"""Arms of a condition, and what it drew of each in percent, (seeds, windows of a training, arms)."""


def draw_arms(path: Path, drawn: Mapping[str, Drawn]) -> None:
    """Draws each condition's shares of the arms over a training, mean over seeds."""
    columns = 2
    rows = -(-len(drawn) // columns)
    _, grid = plt.subplots(rows, columns, figsize=(9, 2 * rows), sharex=True, sharey=True, squeeze=False)
    known: Sequence[str] = ()
    for axes, (name, (arms, seeds)) in zip(grid.flat, drawn.items(), strict=False):
        shares = np.mean(seeds, axis=0)
        shares /= shares.sum(axis=1, keepdims=True)
        middles = (np.arange(len(shares)) + 0.5) / len(shares)
        axes.stackplot(middles, shares.T, labels=arms)
        axes.set_title(name, fontsize=9)
        axes.set_xlim(0, 1)
        axes.set_ylim(0, 1)
        if arms != known:
            axes.legend(fontsize=6, loc="lower right")
        known = arms
    for axes in grid[-1]:
        axes.set_xlabel("share of the training", fontsize=8)
    _save(path)
