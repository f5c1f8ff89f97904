"""Writes the report on the study of sequences, by the criteria of docs/studies/sequences.md."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from figures import Figures, by_condition, compact_figures, percent_drawn
from measures import first_reaching, interval
from plots import draw_arms, draw_curves
from scipy import stats
from sequence_plan import EQUAL, FRONTIER, HELD_OUT, LENGTHS, PARTS, Part, arm_of

Raw = Mapping[str, Any]
"""Figures of one training, whole, as `sequence_training.Trained` has them."""
Results = Mapping[str, Sequence[Figures]]
"""Figures by condition, in the part's order, seed by seed."""

_REACHED = 0.9
"""Share of equal shares' mean final score; the report counts the rollouts until a condition reaches it."""

_HYPOTHESES = (
    ("1. cipher: frontier less equal shares", "cipher", FRONTIER, EQUAL),
    ("2. cipher: frontier less a fixed mixture of its shares", "cipher", FRONTIER, "frontier's shares"),
    ("3. running sums: frontier less equal shares", "running sums", FRONTIER, EQUAL),
    ("4. sort, the negative control: frontier less equal shares", "sort", FRONTIER, EQUAL),
    ("5. cipher, imitated: frontier less equal shares", "cipher, imitated", FRONTIER, EQUAL),
)


def condense(raw: Raw) -> Figures:
    """Returns the figures of one training that the report needs. A score is the mean share right over lengths."""
    return {
        **{name: raw[name] for name in ("part", "condition", "seed", "seconds")},
        "rollouts": [each["rollouts"] for each in raw["curve"]],
        "scores": [float(np.mean(each["right"])) for each in raw["curve"]],
        "noise": evaluation_noise(raw),
        "percent": percent_drawn(raw["drawn"]),
    }


def curve(figures: Figures) -> tuple[list[int], list[float]]:
    """Returns the rollouts at the evaluations, and the scores."""
    return figures["rollouts"], figures["scores"]


def area(figures: Figures) -> float:
    """Returns the area under the curve, by trapezoids, divided by the rollouts."""
    at, scores = curve(figures)
    return float(np.trapezoid(scores, at) / (at[-1] - at[0]))


def final(figures: Figures) -> float:
    """Returns the score at the last evaluation."""
    return float(figures["scores"][-1])


def evaluation_noise(raw: Raw) -> float:
    """Returns the area's standard deviation by the draw of held-out tasks and answers, which is binomial."""
    at = np.array([each["rollouts"] for each in raw["curve"]], float)
    right = np.array([each["right"] for each in raw["curve"]])
    of_score = (right * (1 - right) / HELD_OUT).sum(axis=1) / right.shape[1] ** 2
    steps = np.diff(at)
    weights = (np.concatenate([steps, [0]]) + np.concatenate([[0], steps])) / 2 / (at[-1] - at[0])
    return float(np.sqrt((weights**2 * of_score).sum()))


def differences(results: Results, name: str, other: str) -> list[float]:
    """Returns differences in area under the curve, for the seeds that both conditions have."""
    by_seed = {each["seed"]: area(each) for each in results.get(other, ())}
    return [area(each) - by_seed[each["seed"]] for each in results.get(name, ()) if each["seed"] in by_seed]


def holm(chances: Sequence[float]) -> list[float]:
    """Returns p-values corrected for multiple tests (Holm 1979), in the given order."""
    order = np.argsort(chances)
    corrected, before = [0.0] * len(chances), 0.0
    for rank, at in enumerate(order):
        before = max(before, min(1.0, chances[at] * (len(chances) - rank)))
        corrected[at] = before
    return corrected


def write_report(folder: Path) -> str:
    """Writes `report.md` and the plots into the folder of the figures; returns the report's text."""
    found = compact_figures(folder, condense)
    every = {
        name: by_condition((each for each in found if each["part"] == name), part.conditions)
        for name, part in PARTS.items()
    }
    there = {name: results for name, results in every.items() if results}
    if not there:
        raise SystemExit(f"sequences: {folder} has no figures: train some first")
    missing = missing_seeds(every, PARTS)
    text = "\n\n".join(
        [
            "# The study of sequences",
            "[What was asked, and how it is judged](../../../../../../docs/studies/sequences.md), was written first.",
            *([_still_missing(missing)] if missing else []),
            "## Hypotheses",
            _hypotheses(there),
            *(_part(PARTS[name], results, folder) for name, results in there.items()),
        ]
    )
    (folder / "report.md").write_text(text + "\n")
    return text


def missing_seeds(every: Mapping[str, Results], parts: Mapping[str, Part[Any]]) -> list[str]:
    """Returns the conditions of which seeds are missing, each with how many of them there are."""
    return [
        f"{name}, {condition}: {len(every[name].get(condition, ()))} of {len(part.seeds)} seeds"
        for name, part in parts.items()
        for condition in part.conditions
        if len(every[name].get(condition, ())) < len(part.seeds)
    ]


def _still_missing(missing: Sequence[str]) -> str:
    return "**Not all of it has been run**, so that nothing here is a result yet. Missing: " + "; ".join(missing) + "."


def _hypotheses(every: Mapping[str, Results]) -> str:
    rows, chances = [], []
    for title, part, name, other in _HYPOTHESES:
        found = differences(every.get(part, {}), name, other)
        if len(found) > 1:
            rows.append((title, found))
            chances.append(float(stats.ttest_1samp(found, 0).pvalue))
    lines = [
        "| difference of the area under the curve | mean, 95% interval | seeds | p, corrected (Holm) |",
        "| --- " * 4 + "|",
    ]
    for (title, found), chance in zip(rows, holm(chances), strict=True):
        mean, half = interval(found)
        lines.append(f"| {title} | {mean:+.3f} ± {half:.3f} | {len(found)} | {chance:.2g} |")
    return "\n".join(lines) if rows else "None has two seeds of both conditions yet."


def _part(part: Part[Any], results: Results, folder: Path) -> str:
    stem = "-".join(part.name.replace(",", "").split())
    arms = [arm_of(length) for length in LENGTHS]
    draw_arms(folder / f"{stem}-drawn.svg", {name: (arms, _drawn(seeds)) for name, seeds in results.items()})
    parts = [
        f"## {part.name[0].upper()}{part.name[1:]}",
        f"{part.rollouts:,} rollouts each. `sequences.py --report` draws the scores, `{stem}-curves.svg`, and what each"
        f" condition drew, `{stem}-drawn.svg`.",
    ]
    # Dynamic sampling evaluates after other numbers of rollouts, so it is in the table only.
    same = {name: seeds for name, seeds in results.items() if len({tuple(curve(each)[0]) for each in seeds}) == 1}
    draw_curves(folder / f"{stem}-curves.svg", "score", EQUAL, {n: [curve(e) for e in s] for n, s in same.items()})
    return "\n\n".join([*parts, _table(results)])


def _drawn(seeds: Sequence[Figures]) -> list[list[list[int]]]:
    """Returns the percentages of each seed, cut to the number of windows that all have."""
    windows = min(len(each["percent"]) for each in seeds)
    return [each["percent"][:windows] for each in seeds]


def _table(results: Results) -> str:
    titles = (
        "",
        "area",
        "less equal shares, paired",
        "final",
        "rollouts to reach (median)",
        "noise of evaluation",
        "seeds",
    )
    lines = [f"| {' | '.join(titles)} |", "| --- " * len(titles) + "|"]
    goal = _REACHED * float(np.mean([final(each) for each in results[EQUAL]])) if EQUAL in results else float("nan")
    for name, seeds in results.items():
        paired = differences(results, name, EQUAL) if name != EQUAL else []
        reached = [first_reaching(*curve(each), goal) for each in seeds]
        median = float(np.median([np.inf if each is None else each for each in reached]))
        cells = [
            name,
            _plain([area(each) for each in seeds]),
            _plain(paired, signed=True) if paired else "",
            _plain([final(each) for each in seeds]),
            f"{median:,.0f}" if np.isfinite(median) else "not reached",
            f"{np.mean([each['noise'] for each in seeds]):.4f}",
            str(len(seeds)),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _plain(values: Sequence[float], *, signed: bool = False) -> str:
    mean, half = interval(values)
    said = f"{mean:+.3f}" if signed else f"{mean:.3f}"
    return f"{said} ± {half:.3f}" if np.isfinite(half) else said
