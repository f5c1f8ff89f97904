"""Experiments on curricula and rewards: a small transformer learns from a Gradus server.

    python study.py countdown                       # five seeds of each condition, then tables and plots
    python study.py countdown --seeds 1 --only uniform
    python study.py countdown --report              # tables and plots of the finished trainings

It exports the solver's answers, starts a Gradus server, trains one start by imitation, and continues from it by RLOO,
once for each condition and seed. Finished trainings are kept, so that it can be stopped and continued at any time.
README.md has the comparisons and the results.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

import countdown
import packing
from experiment import Experiment, slug
from report import write_report
from server import REPOSITORY, export_answers, serving
from start import load, make_start
from tqdm import tqdm
from training import Trainer

from gradus import Client

EXPERIMENTS = {each.name: each for each in (countdown.EXPERIMENT, packing.EXPERIMENT)}

ONE_THREAD = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"


@dataclass(frozen=True)
class Place:
    """One setting of one experiment, with its folders for results and for other files, e.g. the start's weights."""

    experiment: Experiment
    size: str
    results: Path
    work: Path

    def result(self, condition: str, seed: int) -> Path:
        """Returns the path of one seed's figures."""
        return self.results / f"{slug(condition)}.{seed}.json"

    @property
    def start(self) -> Path:
        """The weights of the supervised start."""
        return self.work / "start.pickle"


def train_one(place: Place, condition: str, seed: int, address: str) -> None:
    """Trains one seed of one condition and writes its figures."""
    experiment = place.experiment
    with Client(address) as client:
        start = load(place.start)
        trained = Trainer(client, experiment, place.size, experiment.condition(condition), seed, start).train()
    place.results.mkdir(parents=True, exist_ok=True)
    place.result(condition, seed).write_text(json.dumps(asdict(trained), indent=1) + "\n")


def prepare(place: Place) -> list[str]:
    """Makes the pool and the supervised start, if they do not exist. Returns the server's flags."""
    experiment, settings, work = place.experiment, place.experiment.settings[place.size], place.work
    work.mkdir(parents=True, exist_ok=True)
    pool = work / "pool.jsonl"
    if experiment.pool and not pool.exists():
        experiment.write_pool(pool, settings.pool_rows)
    if not place.start.exists():
        answers = work / "answers.jsonl"
        with answers.open("w") as together:
            for environment, levels in experiment.levels:
                part = work / "part.jsonl"
                export_answers(environment, levels, settings.start_rows // len(experiment.levels), part)
                together.write(part.read_text())
        make_start(experiment, settings, answers, place.start)
    return ["--pool", f"{experiment.pool}:{pool}"] if experiment.pool else []


def train_missing(place: Place, conditions: Sequence[str], seeds: int, processes: int) -> None:
    """Does the trainings without figures, by seed, `processes` at a time."""
    missing = [(name, seed) for seed in range(seeds) for name in conditions if not place.result(name, seed).exists()]
    if not missing:
        return
    flags = prepare(place)
    with serving(place.work, *flags) as address, ThreadPoolExecutor(processes) as workers:

        def start(job: tuple[str, int]) -> int:
            name, seed = job
            here = ["--size", place.size, "--results", str(place.results), "--work", str(place.work)]
            options = [*here, "--one", name, "--seed", str(seed), "--server", address]
            command = [sys.executable, __file__, place.experiment.name, *options]
            # Parallel trainings have a core each, where several threads of jax would wait for each other.
            threads = {"XLA_FLAGS": f"{os.environ.get('XLA_FLAGS', '')} {ONE_THREAD}"} if processes > 1 else {}
            with (place.work / f"{place.result(name, seed).stem}.log").open("w") as log:
                return subprocess.run(command, env=os.environ | threads, stderr=log, check=False).returncode

        codes = list(tqdm(workers.map(start, missing), total=len(missing), desc="trainings", unit="training"))
    failed = [job for job, code in zip(missing, codes, strict=True) if code]
    if failed:
        raise SystemExit(
            f"study: {len(failed)} trainings failed: {failed}. Their logs are in {place.work}; the same command tries"
            " them again."
        )


def main(arguments: Sequence[str] | None = None) -> int:
    """Reads the command line. Returns the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("experiment", choices=list(EXPERIMENTS))
    parser.add_argument(
        "--size", choices=("tiny", "small", "large"), default="small", help="tiny tries the code, large wants a GPU"
    )
    parser.add_argument("--seeds", type=int, default=5, help="of each condition (default: %(default)s)")
    parser.add_argument("--only", action="append", help="a condition; may be given several times (default: all)")
    parser.add_argument("--processes", type=int, default=2, help="trainings at a time (default: %(default)s)")
    parser.add_argument("--report", action="store_true", help="train nothing")
    parser.add_argument(
        "--results", type=Path, help="folder of figures, report and plots (default: the folder `results` of --work)"
    )
    parser.add_argument("--work", type=Path, help="folder of weights (default: out/curriculum-study/EXPERIMENT/SIZE)")
    for hidden in ("--one", "--server"):
        parser.add_argument(hidden, help=argparse.SUPPRESS)
    parser.add_argument("--seed", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    experiment = EXPERIMENTS[options.experiment]
    names = [each.name for each in experiment.conditions if not each.is_retired]
    for unknown in (each for each in options.only or () if each not in names):
        parser.error(f"--only {unknown!r}: {experiment.name} has {', '.join(map(repr, names))}")
    work = options.work or REPOSITORY / "out" / "curriculum-study" / experiment.name / options.size
    results = options.results or work / "results"
    place = Place(experiment, options.size, results, work)
    if options.one:
        train_one(place, options.one, options.seed, options.server)
        return 0
    if not options.report:
        train_missing(place, options.only or names, options.seeds, options.processes)
    print(write_report(experiment, options.size, results))
    return 0


if __name__ == "__main__":
    sys.exit(main())
