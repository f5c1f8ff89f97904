"""Report on the study of growth, by the criteria of docs/studies/growth.md."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from figures import Figures, by_condition, compact_figures, percent_drawn
from growth_plan import CAP, CONDITIONS, EQUAL, FITTING, GROW, PARTS, SCORED, WIDE
from measures import interval
from np_plan import NP_CONDITIONS, NP_EQUAL, NP_GROW, NP_PARTS, PILOT, RISE, SEEDS_RISEN, Problem
from np_plan import SCORED as NP_SCORED
from np_plan import WIDE as NP_WIDE
from plots import draw_arms, draw_curves
from scipy import stats
from sequence_plan import Part, arm_of
from sequence_report import area, curve, differences, final, holm, missing_seeds

Results = Mapping[str, Sequence[Figures]]
"""Figures by condition, seed by seed."""

MARGIN = 0.05
"""Area that growth may lose to the frontier policy over the lengths that fit."""
SOLVED = 0.95
"""Held-out share at which a length counts as solved."""
REACHED = 0.5
"""Held-out share at which a length counts as reached."""


def condense(raw: Mapping[str, Any]) -> Figures:
    """Returns what the report needs of one training. `scores` are over the first lengths, `wide` over all."""
    right = np.array([each["right"] for each in raw["curve"]])
    scored = SCORED if raw["part"] in PARTS else NP_SCORED
    return {
        **{name: raw[name] for name in ("part", "condition", "seed", "seconds")},
        "rollouts": [each["rollouts"] for each in raw["curve"]],
        "scores": right[:, :scored].mean(axis=1).tolist(),
        "wide": float(right[-1].mean()),
        "reached": int((right[-1] >= REACHED).sum()),
        "solved": _on_solved(right, np.array(raw["drawn"], float)),
        "percent": percent_drawn(raw["drawn"]),
    }


def _on_solved(right: np.ndarray, drawn: np.ndarray) -> float:
    """Share of the tasks that were drawn of lengths which the last evaluation before found solved."""
    # Update i lies between two evaluations, which are evenly spaced.
    at = np.minimum(np.arange(len(drawn)) * (len(right) - 1) // len(drawn), len(right) - 1)
    return float((drawn * (right[at] >= SOLVED)).sum() / drawn.sum())


def write_report(folder: Path) -> str:
    """Writes `report.md` and the plots into the folder of the figures; returns the report's text."""
    found = compact_figures(folder, condense)
    parts: Mapping[str, Part[Any]] = {**PARTS, **PILOT, **NP_PARTS}
    names = [*CONDITIONS, *NP_CONDITIONS]
    every = {name: by_condition((each for each in found if each["part"] == name), names) for name in parts}
    if not any(every.values()):
        raise SystemExit(f"growth: {folder} has no figures: train some first")
    there = {name: every[name] for name in PARTS if every[name]}
    missing = missing_seeds(every, parts)
    text = "\n\n".join(
        [
            "# The study of growth",
            "[What was asked, and how it is judged](../../../../../../docs/studies/growth.md), was written first.",
            *([f"**Not all of it has been run**: {'; '.join(missing)}."] if missing else []),
            "## Hypotheses",
            _superiority(there),
            _noninferiority(there),
            *(_part(PARTS[name], results, folder) for name, results in there.items()),
            *_pilot({PILOT[name].family.environment: every[name].get(NP_EQUAL, ()) for name in PILOT}),
            *(_np_part(part, every[name], folder) for name, part in NP_PARTS.items() if every[name]),
        ]
    )
    (folder / "report.md").write_text(text + "\n")
    return text


def _tested(every: Mapping[str, Results], others: Sequence[str]) -> list[tuple[str, list[float]]]:
    found = [
        (f"{name}: {GROW} less {other}", differences(results, GROW, other))
        for name, results in every.items()
        for other in others
    ]
    return [(title, values) for title, values in found if len(values) > 1]


def _rows(title: str, rows: Sequence[tuple[str, list[float]]], chances: Sequence[float]) -> str:
    lines = [f"| {title} | mean, 95% interval | seeds | p, corrected (Holm) |", "| --- " * 4 + "|"]
    for (words, values), chance in zip(rows, holm(chances), strict=True):
        mean, half = interval(values)
        lines.append(f"| {words} | {mean:+.3f} ± {half:.3f} | {len(values)} | {chance:.2g} |")
    return "\n".join(lines) if rows else f"No pair of conditions has two seeds yet: {title}."


def _superiority(every: Mapping[str, Results]) -> str:
    rows = _tested(every, (EQUAL, WIDE))
    return _rows("greater area", rows, [float(stats.ttest_1samp(values, 0).pvalue) for _, values in rows])


def _noninferiority(every: Mapping[str, Results]) -> str:
    rows = _tested(every, (FITTING,))
    chances = [float(stats.ttest_1samp(values, -MARGIN, alternative="greater").pvalue) for _, values in rows]
    return _rows(f"loses less than {MARGIN}", rows, chances)


def _part(part: Part[Any], results: Results, folder: Path) -> str:
    arms, noun, wide, baseline = [arm_of(length) for length in range(1, CAP + 1)], "lengths", f"1 to {CAP}", EQUAL
    if isinstance(part.family, Problem):
        arms = [f"{part.family.axis}-{value:02}" for value in part.family.values(NP_WIDE)]
        noun, wide, baseline = "values", f"{NP_WIDE} values", NP_EQUAL
    draw_arms(folder / f"{part.name}-drawn.svg", {name: (arms, _drawn(seeds)) for name, seeds in results.items()})
    curves = {name: [curve(each) for each in seeds] for name, seeds in results.items()}
    draw_curves(folder / f"{part.name}-curves.svg", "score", baseline, curves)
    titles = ("", "area", "final", f"final, {wide}", f"{noun} reached", f"tasks of solved {noun}", "seeds")
    lines = [f"| {' | '.join(titles)} |", "| --- " * len(titles) + "|"]
    for name, seeds in results.items():
        measured = (
            [area(each) for each in seeds],
            [final(each) for each in seeds],
            *([float(each[of]) for each in seeds] for of in ("wide", "reached", "solved")),
        )
        lines.append(f"| {' | '.join([name, *map(_said, measured), str(len(seeds))])} |")
    return "\n\n".join([f"## {part.name.capitalize()}", "\n".join(lines)])


def _drawn(seeds: Sequence[Figures]) -> list[list[list[int]]]:
    windows = min(len(each["percent"]) for each in seeds)
    return [each["percent"][:windows] for each in seeds]


def _said(values: Sequence[float]) -> str:
    mean, half = interval(values)
    return f"{mean:.3f} ± {half:.3f}" if np.isfinite(half) else f"{mean:.3f}"


def _pilot(trainings: Mapping[str, Sequence[Figures]]) -> list[str]:
    """Says of each environment's seeds what they learnt, and which environment is the first that counts as learnt."""
    seeds = sorted({each["seed"] for found in trainings.values() for each in found})
    titles = ("environment", *(f"seed {seed}" for seed in seeds), "learnt")
    lines = [f"| {' | '.join(titles)} |", "| --- " * len(titles) + "|"]
    for name, found in trainings.items():
        cells = {each["seed"]: f"{each['scores'][0]:.3f} → {final(each):.3f} ({_rise(each):+.3f})" for each in found}
        learnt = "yes" if is_learnt(found) else "no"
        lines.append(f"| {' | '.join([name, *(cells.get(seed, '') for seed in seeds), learnt])} |")
    first = next((name for name, found in trainings.items() if is_learnt(found)), None)
    outcome = f"The first that is learnt is {first}." if first else "None is learnt, so that no condition is compared."
    words = f"Mean held-out quality over the first {NP_SCORED} values, after the imitation and at the end. {outcome}"
    return ["## Pilot with NP-hard problems", words, "\n".join(lines)] if seeds else []


def is_learnt(trainings: Sequence[Figures]) -> bool:
    """Returns whether a problem counts as learnt, by the trainings of its pilot."""
    return sum(_rise(each) >= RISE for each in trainings) >= SEEDS_RISEN


def _rise(figures: Figures) -> float:
    return round(final(figures) - float(figures["scores"][0]), 6)


def _np_part(part: Part[Problem], results: Results, folder: Path) -> str:
    """Returns a part's table, and the differences in area, which are given without a test."""
    lines = ["| greater area | mean, 95% interval | seeds | |", "| --- " * 4 + "|"]
    for other in results:
        values = differences(results, NP_GROW, other)
        if other != NP_GROW and values:
            mean, half = interval(values)
            difference = f"{mean:+.3f} ± {half:.3f}" if np.isfinite(half) else f"{mean:+.3f}"
            told = "" if abs(mean) > half else "not told apart"
            lines.append(f"| {NP_GROW} less {other} | {difference} | {len(values)} | {told} |")
    return "\n\n".join([_part(part, results, folder), "\n".join(lines)])
