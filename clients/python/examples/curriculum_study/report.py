"""Writes the tables of an experiment from the figures of its seeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from experiment import Experiment
from figures import Figures, by_condition, compact_figures, percent_drawn
from measures import first_reaching, interval
from plots import draw_arms, draw_curves, draw_measure

Results = Mapping[str, Sequence[Figures]]
"""Figures by condition, in the experiment's order, seed by seed."""


def read_results(experiment: Experiment, folder: Path) -> Results:
    """Returns the figures of a folder by condition; exits if they come from several starts."""
    found = compact_figures(folder, lambda raw: condense(experiment, raw))
    starts = {each["start"] for each in found}
    if len(starts) > 1:
        raise SystemExit(f"study: {folder} has figures of {len(starts)} starts: give another folder with --results")
    return by_condition(found, (each.name for each in experiment.conditions))


def condense(experiment: Experiment, raw: Mapping[str, Any]) -> Figures:
    """Returns the figures of one training (`training.Trained`) that a report needs."""
    return {
        **{name: raw[name] for name in ("condition", "seed", "start", "seconds", "waiting", "arms")},
        "measures": {each.title: each.of(raw) for each in experiment.measures},
        "rollouts": [each["rollouts"] for each in raw["curve"]],
        "scores": [experiment.score(each["sets"]) for each in raw["curve"]],
        "percent": percent_drawn(raw["drawn"]),
    }


def write_report(experiment: Experiment, size: str, folder: Path) -> str:
    """Writes `report.md` and the plots into the folder of the figures; returns the report's text."""
    results = read_results(experiment, folder)
    if experiment.baseline not in results:
        raise SystemExit(f"study: {folder} has no figures of {experiment.baseline!r}, which others are compared with")
    parts = [_setting(experiment, size, results), _table(experiment, results), _differences(experiment, results)]
    text = "\n\n".join([*parts, _meanings(experiment, results), _speed(results)]) + "\n"
    (folder / "report.md").write_text(text)
    values = {
        name: [each["measures"][experiment.measures[0].title] for each in seeds] for name, seeds in results.items()
    }
    draw_measure(
        folder / "compared.svg", experiment.question, experiment.measures[0].title, experiment.baseline, values
    )
    curves = {name: [(each["rollouts"], each["scores"]) for each in seeds] for name, seeds in results.items()}
    draw_curves(folder / "curves.svg", experiment.score_title, experiment.baseline, curves)
    drawn = {name: (seeds[0]["arms"], [each["percent"] for each in seeds]) for name, seeds in results.items()}
    draw_arms(folder / "arms.svg", drawn)
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
    goal = interval([each["scores"][-1] for each in results[baseline]])[0]
    lines = _head(["", *titles, "in the papers"])
    for name, seeds in results.items():
        cells = [
            _plain(interval([each["measures"][measure.title] for each in seeds])) for measure in experiment.measures
        ]
        reached = _reached([(each["rollouts"], each["scores"]) for each in seeds], goal)
        lines.append(_row([name, *cells, reached, experiment.condition(name).papers or "-"]))
    return "\n".join(lines)


def _reached(curves: Sequence[tuple[Sequence[int], Sequence[float]]], goal: float) -> str:
    reached = [first_reaching(at, values, goal) for at, values in curves]
    there = sum(each is not None for each in reached)
    median = float(np.median([np.inf if each is None else each for each in reached]))
    said = f"{median:,.0f}" if np.isfinite(median) else "not reached"
    return f"{said} ({there} of {len(reached)} seeds)"


def _differences(experiment: Experiment, results: Results) -> str:
    """Returns the table of differences, paired by seed because a seed gives equal randomness."""
    baseline = experiment.baseline
    titles = [each.title for each in experiment.measures if each.title in experiment.compared]
    lines = _head([f'less "{baseline}", paired by seed', *titles])
    for name in (each for each in results if each != baseline):
        lines.append(_row([name, *(_signed(difference(results, name, baseline, each)) for each in titles)]))
    return "\n".join(lines)


def difference(results: Results, name: str, baseline: str, title: str) -> tuple[float, float]:
    """Returns the mean difference from the baseline, over the seeds that both have, and half its 95% interval."""
    of_baseline = {each["seed"]: each["measures"][title] for each in results[baseline]}
    return interval(
        [each["measures"][title] - of_baseline[each["seed"]] for each in results[name] if each["seed"] in of_baseline]
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
