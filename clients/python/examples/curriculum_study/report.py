"""Tables and plots of the study, from the figures of its seeds."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from conditions import CONDITIONS
from measures import first_reaching, interval
from settings import Settings

mpl.use("svg")
mpl.rcParams["svg.hashsalt"] = "gradus"
from matplotlib import pyplot as plt  # noqa: E402

Figures = Mapping[str, Any]
BASELINE = "uniform"

PAPERS = {
    "uniform": "ADSC: pass@1 .480, pass@16 .68; Curriculum RLOO: .496, .72",
    "staged": "Curriculum RLOO, step 90: pass@1 .509, pass@16 .68 to .70",
    "bandit, real": "ADSC: pass@1 .508, pass@16 .70",
    "bandit, synthetic too": "ADSC, rule-based: pass@1 .478, pass@16 .68",
    "replay": "no figure on Countdown",
    "default": "ours; nearest: Hybrid, pass@1 .515, pass@16 .70",
    "default + VCC": "VCC-RLOO from uniform: pass@1 .326, pass@16 .78",
}
"""What the papers have: 3 and 4 numbers, 50 prompts of 16 samples, one seed, a model of half a billion parameters."""


@dataclass(frozen=True)
class Measure:
    """A column of the table."""

    title: str
    of: Callable[[Figures], float]


def _over_sets(k: int) -> Callable[[Figures], float]:
    return lambda figures: float(np.mean([figures["passes"][name][k - 1] for name in ("3", "4")]))


MEASURES = (
    Measure("pass@1", _over_sets(1)),
    Measure("pass@16", _over_sets(16)),
    Measure("average pass@k", lambda figures: float(np.mean([figures["passes"][name] for name in ("3", "4")]))),
    Measure("pass@1, 3 numbers", lambda figures: figures["passes"]["3"][0]),
    Measure("pass@1, 4 numbers", lambda figures: figures["passes"]["4"][0]),
    Measure("pass@1, 5 numbers", lambda figures: figures["passes"]["5"][0]),
    Measure("pass@16, 5 numbers", lambda figures: figures["passes"]["5"][15]),
)


def read_results(folder: Path) -> dict[str, list[Figures]]:
    """Figures by condition, in the order of conditions, seed by seed."""
    found: dict[str, list[Figures]] = {each.name: [] for each in CONDITIONS}
    for path in sorted(folder.glob("*.json")):
        figures = json.loads(path.read_text())
        found[figures["condition"]].append(figures)
    return {name: sorted(seeds, key=lambda each: each["seed"]) for name, seeds in found.items() if seeds}


def curve(figures: Figures) -> tuple[list[int], list[float]]:
    """Rollouts, and the share of samples of 3 and 4 numbers that are right."""
    points = figures["curve"]
    return [each["rollouts"] for each in points], [(each["solved"]["3"] + each["solved"]["4"]) / 2 for each in points]


def write_report(settings: Settings, folder: Path) -> str:
    """Writes the plots and `report.md` beside the figures; gives the report's text."""
    results = read_results(folder)
    if BASELINE not in results:
        raise SystemExit(f"study: {folder} has no figures of {BASELINE!r} to compare with")
    text = "\n\n".join([_setting(settings, results), _table(results), _differences(results), _speed(results)]) + "\n"
    (folder / "report.md").write_text(text)
    _draw_differences(folder / "differences.svg", results)
    _draw_curves(folder / "curves.svg", results)
    _draw_arms(folder / "arms.svg", results)
    return text


def _setting(settings: Settings, results: Mapping[str, Sequence[Figures]]) -> str:
    seeds = sorted({len(each) for each in results.values()})
    count = f"{seeds[0]}" if len(seeds) == 1 else f"{seeds[0]} to {seeds[-1]}"
    rollouts = settings.updates * settings.prompts * settings.generations
    prompts = settings.held_out * 2 + settings.held_out * 3 // 4
    return (
        f"Setting `{settings.name}`: {count} seeds of each condition; {rollouts:,} rollouts each"
        f" ({settings.updates} updates of {settings.prompts} prompts × {settings.generations});"
        f" {prompts:,} held-out prompts, {settings.samples} samples of each at temperature {settings.temperature}."
        " Mean over seeds ± half the 95% interval. pass@k without a set is of three and four numbers alike."
    )


def _table(results: Mapping[str, Sequence[Figures]]) -> str:
    titles = ["curriculum", *(each.title for each in MEASURES), "rollouts to uniform's final score", "in the papers"]
    goal = interval([curve(each)[1][-1] for each in results[BASELINE]])[0]
    lines = [_row(titles), _row(["---"] * len(titles))]
    for name, seeds in results.items():
        cells = [_plain(interval([measure.of(each) for each in seeds])) for measure in MEASURES]
        lines.append(_row([name, *cells, _reached(seeds, goal), PAPERS[name]]))
    return "\n".join(lines)


def _reached(seeds: Sequence[Figures], goal: float) -> str:
    reached = [first_reaching(*curve(each), goal) for each in seeds]
    there = [each for each in reached if each is not None]
    if not there:
        return "not reached"
    median = f"{np.median([np.inf if each is None else each for each in reached]):,.0f}"
    median = "more than there were" if median == "inf" else median
    return f"{median} (median; reached by {len(there)} of {len(seeds)})"


def _differences(results: Mapping[str, Sequence[Figures]]) -> str:
    """What each gains over uniform, seed by seed, for a seed has the same chances under each."""
    titles = ["against uniform, paired by seed", "pass@1", "pass@16", "average pass@k", "pass@1, 5 numbers"]
    measures = [each for each in MEASURES if each.title in titles]
    lines = [_row(titles), _row(["---"] * len(titles))]
    for name in (each for each in results if each != BASELINE):
        lines.append(_row([name, *(_signed(difference(results, name, measure)) for measure in measures)]))
    return "\n".join(lines)


def difference(results: Mapping[str, Sequence[Figures]], name: str, measure: Measure) -> tuple[float, float]:
    """Mean of a condition less uniform over the seeds that both have, and half its 95% interval."""
    uniform = {each["seed"]: measure.of(each) for each in results[BASELINE]}
    return interval([measure.of(each) - uniform[each["seed"]] for each in results[name] if each["seed"] in uniform])


def _speed(results: Mapping[str, Sequence[Figures]]) -> str:
    every = [each for seeds in results.values() for each in seeds]
    share = np.array([each["waiting"] / each["seconds"] for each in every])
    minutes = np.array([each["seconds"] / 60 for each in every])
    return (
        f"A seed trained for {np.median(minutes):.1f} minutes (median), and waited for Gradus"
        f" {np.median(share):.1%} of it (greatest {share.max():.1%})."
    )


def _plain(of: tuple[float, float]) -> str:
    return f"{of[0]:.3f} ± {of[1]:.3f}"


def _signed(of: tuple[float, float]) -> str:
    return f"{of[0]:+.3f} ± {of[1]:.3f}"


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _save(path: Path) -> None:
    plt.tight_layout()
    plt.savefig(path, metadata={"Date": None})
    plt.close()


def _draw_differences(path: Path, results: Mapping[str, Sequence[Figures]]) -> None:
    """The plot that answers the question: pass@1 of each curriculum, uniform's beside it, with intervals."""
    names = list(reversed(results))
    figure, axes = plt.subplots(figsize=(8, 0.5 * len(names) + 1.4))
    for at, name in enumerate(names):
        values = [MEASURES[0].of(each) for each in results[name]]
        mean, half = interval(values)
        color = "tab:gray" if name == BASELINE else "tab:blue"
        axes.errorbar(mean, at, xerr=half if np.isfinite(half) else None, fmt="o", color=color, capsize=4)
        axes.plot(values, [at] * len(values), "|", color=color, alpha=0.5)
    axes.axvline(interval([MEASURES[0].of(each) for each in results[BASELINE]])[0], color="tab:gray", linestyle=":")
    axes.set_yticks(range(len(names)), names)
    seeds = min(map(len, results.values()))
    axes.set_xlabel(f"held-out pass@1 after the same number of rollouts; mean and 95% interval of {seeds} seeds")
    axes.set_title("Does the server's curriculum help?")
    figure.set_layout_engine("tight")
    _save(path)


def _draw_curves(path: Path, results: Mapping[str, Sequence[Figures]]) -> None:
    """Held-out success over rollouts, with a band of the mean's 95% interval."""
    _, axes = plt.subplots(figsize=(8, 5))
    for name, seeds in results.items():
        at = curve(seeds[0])[0]
        means, halves = np.transpose([interval(values) for values in zip(*(curve(each)[1] for each in seeds), strict=True)])
        (line,) = axes.plot(at, means, label=name, color="black" if name == BASELINE else None)
        if np.isfinite(halves).all():
            axes.fill_between(at, means - halves, means + halves, alpha=0.15, color=line.get_color(), linewidth=0)
    axes.set_xlabel("rollouts")
    axes.set_ylabel("held-out pass@1, three and four numbers")
    axes.legend()
    _save(path)


def _draw_arms(path: Path, results: Mapping[str, Sequence[Figures]]) -> None:
    """What each curriculum drew, mean over seeds, as shares of an update."""
    columns = 2
    rows = -(-len(results) // columns)
    _, grid = plt.subplots(rows, columns, figsize=(9, 2 * rows), sharex=True, sharey=True, squeeze=False)
    for axes, (name, seeds) in zip(grid.flat, results.items(), strict=False):
        drawn = np.mean([each["drawn"] for each in seeds], axis=0)
        smooth = np.stack([drawn[max(0, i - 9) : i + 1].mean(axis=0) for i in range(len(drawn))])
        axes.stackplot(range(1, len(drawn) + 1), (smooth / drawn.sum(axis=1, keepdims=True)).T, labels=seeds[0]["arms"])
        axes.set_title(name, fontsize=9)
        axes.set_ylim(0, 1)
        axes.legend(fontsize=6, loc="lower right")
    _save(path)
