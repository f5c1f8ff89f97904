"""Tables of an experiment, from the figures of its seeds."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from experiment import Experiment, Figures, Measure
from measures import first_reaching, interval
from plots import draw_arms, draw_curves, draw_measure

Results = Mapping[str, Sequence[Figures]]
"""Figures by condition, in the experiment's order, seed by seed."""


def read_results(experiment: Experiment, folder: Path) -> Results:
    """What is there; conditions without figures are left out."""
    found: dict[str, list[Figures]] = {each.name: [] for each in experiment.conditions}
    for path in sorted(folder.glob("*.json")):
        figures = json.loads(path.read_text())
        found[figures["condition"]].append(figures)
    starts = {each["start"] for seeds in found.values() for each in seeds}
    if len(starts) > 1:
        raise SystemExit(f"study: {folder} has figures of {len(starts)} starts: give another folder with --results")
    return {name: sorted(seeds, key=lambda each: each["seed"]) for name, seeds in found.items() if seeds}


def curve(experiment: Experiment, figures: Figures) -> tuple[list[int], list[float]]:
    """Rollouts, and the score at each."""
    points = figures["curve"]
    return [each["rollouts"] for each in points], [experiment.score(each["sets"]) for each in points]


def write_report(experiment: Experiment, size: str, folder: Path) -> str:
    """Writes `report.md` and the plots beside the figures; gives the report's text."""
    results = read_results(experiment, folder)
    if experiment.baseline not in results:
        raise SystemExit(f"study: {folder} has no figures of {experiment.baseline!r}, which others are compared with")
    parts = [_setting(experiment, size, results), _table(experiment, results), _differences(experiment, results)]
    text = "\n\n".join([*parts, _meanings(experiment, results), _speed(results)]) + "\n"
    (folder / "report.md").write_text(text)
    values = {name: [experiment.measures[0].of(each) for each in seeds] for name, seeds in results.items()}
    draw_measure(
        folder / "compared.svg", experiment.question, experiment.measures[0].title, experiment.baseline, values
    )
    curves = {name: [curve(experiment, each) for each in seeds] for name, seeds in results.items()}
    draw_curves(folder / "curves.svg", experiment.score_title, experiment.baseline, curves)
    draw_arms(folder / "arms.svg", results)
    return text


def _setting(experiment: Experiment, size: str, results: Results) -> str:
    settings = experiment.settings[size]
    counts = sorted({len(each) for each in results.values()})
    seeds = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    return (
        f"Setting `{size}`: {seeds} seeds of each condition; {settings.rollouts:,} rollouts each ({settings.updates}"
        f" updates of {settings.prompts} prompts x {settings.generations}); {settings.samples} samples of each held-out"
        f" prompt, at temperature {settings.temperature}. Means over seeds ± half their 95% intervals."
    )


def _table(experiment: Experiment, results: Results) -> str:
    baseline = experiment.baseline
    titles = [*(each.title for each in experiment.measures), f'rollouts to the final score of "{baseline}"']
    goal = interval([curve(experiment, each)[1][-1] for each in results[baseline]])[0]
    lines = _head(["", *titles, "in the papers"])
    for name, seeds in results.items():
        cells = [_plain(interval([measure.of(each) for each in seeds])) for measure in experiment.measures]
        reached = _reached([curve(experiment, each) for each in seeds], goal)
        lines.append(_row([name, *cells, reached, experiment.condition(name).papers or "-"]))
    return "\n".join(lines)


def _reached(curves: Sequence[tuple[Sequence[int], Sequence[float]]], goal: float) -> str:
    reached = [first_reaching(at, values, goal) for at, values in curves]
    there = sum(each is not None for each in reached)
    median = float(np.median([np.inf if each is None else each for each in reached]))
    said = f"{median:,.0f}" if np.isfinite(median) else "not reached"
    return f"{said} ({there} of {len(reached)} seeds)"


def _differences(experiment: Experiment, results: Results) -> str:
    """Seed by seed, for a seed has the same chances under each."""
    baseline = experiment.baseline
    measures = [each for each in experiment.measures if each.title in experiment.compared]
    lines = _head([f'less "{baseline}", paired by seed', *(each.title for each in measures)])
    for name in (each for each in results if each != baseline):
        lines.append(_row([name, *(_signed(difference(results, name, baseline, each)) for each in measures)]))
    return "\n".join(lines)


def difference(results: Results, name: str, baseline: str, measure: Measure) -> tuple[float, float]:
    """Mean of a condition less the baseline, over the seeds that both have, and half its 95% interval."""
    of_baseline = {each["seed"]: measure.of(each) for each in results[baseline]}
    return interval(
        [measure.of(each) - of_baseline[each["seed"]] for each in results[name] if each["seed"] in of_baseline]
    )


def _meanings(experiment: Experiment, results: Results) -> str:
    return "\n".join(f"- {name}: {experiment.condition(name).meaning}." for name in results)


def _speed(results: Results) -> str:
    every = [each for seeds in results.values() for each in seeds]
    share = np.array([each["waiting"] / each["seconds"] for each in every if each["seconds"]])
    minutes = np.array([each["seconds"] / 60 for each in every])
    return (
        f"A training took {np.median(minutes):.1f} minutes (median) without its evaluations, of which it waited for"
        f" scores {np.median(share):.1%} (at most {share.max():.1%})."
    )


def _plain(of: tuple[float, float]) -> str:
    return f"{of[0]:.3f} ± {of[1]:.3f}"


def _signed(of: tuple[float, float]) -> str:
    return f"{of[0]:+.3f} ± {of[1]:.3f}"


def _head(titles: Sequence[str]) -> list[str]:
    return [_row(titles), _row(["---"] * len(titles))]


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
