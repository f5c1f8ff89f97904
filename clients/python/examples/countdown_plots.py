"""Draws the plots of grpo_countdown.py."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from countdown_policy import Array


def plot_success(path: Path, seeds: Mapping[int, Sequence[tuple[int, float, float, float]]]) -> None:
    """Draws held-out success over updates; each seed's points are (update, mean, low, high)."""
    figure, axes = plt.subplots(figsize=(7, 4.2), layout="constrained")
    for seed, points in seeds.items():
        update, mean, low, high = np.array(points).T
        axes.plot(update, mean, marker="o", markersize=3, label=f"seed {seed}")
        axes.fill_between(update, low, high, alpha=0.2)
    axes.set(xlabel="update", ylabel="share of samples that hit the target", ylim=(0, 1))
    axes.set_title("Success on 200 held-out tasks (bands: 95% bootstrap over tasks)")
    axes.grid(alpha=0.3)
    axes.legend()
    figure.savefig(path, dpi=144)
    plt.close(figure)


def plot_arms(path: Path, seeds: Mapping[int, tuple[Sequence[str], Array]]) -> None:
    """Draws the bandit's arm probabilities over updates, stacked, in a panel for each seed."""
    figure, panels = plt.subplots(
        1, len(seeds), figsize=(2 + 5 * len(seeds), 4.2), layout="constrained", sharey=True, squeeze=False
    )
    for axes, (seed, (arm_ids, probabilities)) in zip(panels[0], seeds.items(), strict=True):
        # Synthetic arms are blue and real ones orange; harder arms are darker.
        half = len(arm_ids) // 2
        shades = np.linspace(0.3, 0.9, half)
        colors = [*plt.get_cmap("Blues")(shades), *plt.get_cmap("Oranges")(shades)]
        axes.stackplot(np.arange(len(probabilities)), probabilities.T, labels=arm_ids, colors=colors)
        axes.set(xlabel="update", title=f"seed {seed}", xlim=(0, max(1, len(probabilities) - 1)), ylim=(0, 1))
    panels[0][0].set_ylabel("arm probability, before constraints")
    handles, labels = panels[0][-1].get_legend_handles_labels()
    figure.legend(handles[::-1], labels[::-1], loc="outside right center")
    figure.savefig(path, dpi=144)
    plt.close(figure)
