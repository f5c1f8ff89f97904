"""Measures on held-out prompts: pass@k, its average, and the intervals of their means over seeds."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb

import numpy as np
import numpy.typing as npt
from scipy import stats

Array = npt.NDArray[np.float64]


def pass_at(solved: Array, k: int) -> Array:
    """Returns the unbiased probability that one of k samples is right, (prompts,), for solved (prompts, n).

    It is 1 - C(n - c, k) / C(n, k), if c of n are right (Chen et al. 2021, section 2.1).
    """
    n = solved.shape[1]
    table = np.array([1 - comb(n - c, k) / comb(n, k) for c in range(n + 1)])
    at: Array = table[solved.sum(axis=1).astype(int)]
    return at


def curve_of(solved: Array) -> list[float]:
    """Returns the mean pass@k over prompts for k = 1 to n."""
    return [float(pass_at(solved, k).mean()) for k in range(1, solved.shape[1] + 1)]


def interval(values: Sequence[float]) -> tuple[float, float]:
    """Returns the mean over seeds and half its 95% interval (Student's t), infinite for one seed."""
    mean = float(np.mean(values))
    if len(values) == 1:
        return mean, float("inf")
    half = float(stats.t.ppf(0.975, len(values) - 1) * stats.sem(values))
    return mean, half


def first_reaching(at: Sequence[int], values: Sequence[float], goal: float) -> float | None:
    """Returns the interpolated point where a curve first reaches a goal, or None if it never does."""
    before_at, before = at[0], values[0]
    if before >= goal:
        return float(before_at)
    for now_at, now in zip(at[1:], values[1:], strict=True):
        if now >= goal:
            return before_at + (now_at - before_at) * (goal - before) / (now - before)
        before_at, before = now_at, now
    return None
