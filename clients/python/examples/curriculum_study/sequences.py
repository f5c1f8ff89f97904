"""Runs the study of sequences, which tests the default curriculum on a policy with random weights.

    python sequences.py                                   # the whole study, two trainings at a time, then the report
    python sequences.py --part cipher --only frontier --seeds 2
    python sequences.py --report                          # tables and plots of the finished trainings

docs/studies/sequences.md, which was written before, says what is compared and how. Finished trainings are kept, so
that it can be stopped and continued at any time. The whole study takes about three hours of one core.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sequence_plan import CONDITIONS, PARTS, Condition, Part
from sequence_report import write_report
from sequence_training import SequenceTrainer, Trained, shares_of
from server import REPOSITORY, serving
from study import ONE_THREAD
from tqdm import tqdm

from gradus import Client


@dataclass(frozen=True)
class Job:
    """One training to do."""

    part: Part[Any]
    condition: str
    seed: int

    def result(self, results: Path) -> Path:
        """Path of its figures."""
        words = f"{self.part.name} {self.condition}".replace(",", " ").replace("'", "").split()
        return results / f"{'-'.join(words)}.{self.seed}.json"


def train(client: Client, job: Job, condition: Condition, shares: Sequence[float]) -> Trained:
    """Does one training on sequences."""
    return SequenceTrainer(client, job.part, condition, job.seed, shares).train()


@dataclass(frozen=True)
class Study:
    """A study of trainings: its plan, its script, how its report is written, and what does one of its trainings."""

    name: str
    script: str
    parts: Mapping[str, Part[Any]]
    conditions: Mapping[str, Condition]
    write_report: Callable[[Path], str]
    train: Callable[[Client, Job, Condition, Sequence[float]], Trained] = train


SEQUENCES = Study("sequences", __file__, PARTS, CONDITIONS, write_report)


def jobs_of(parts: Sequence[str], conditions: Sequence[str], seeds: int | None, study: Study = SEQUENCES) -> list[Job]:
    """Returns trainings in the order of work: by seed, and those that need others' draws last."""
    chosen = [
        Job(part, condition, seed)
        for part in (study.parts[name] for name in parts)
        for seed in part.seeds[:seeds]
        for condition in part.conditions
        if condition in conditions
    ]
    return sorted(chosen, key=lambda job: bool(study.conditions[job.condition].needs))


def drawn_by_needed(job: Job, results: Path, study: Study) -> list[float]:
    """Returns the mean shares of the condition that this one needs, or none if it needs none."""
    needed = study.conditions[job.condition].needs
    if not needed:
        return []
    paths = [Job(job.part, needed, seed).result(results) for seed in job.part.seeds]
    missing = [path.name for path in paths if not path.exists()]
    if missing:
        raise SystemExit(
            f"{study.name}: '{job.condition}' needs all seeds of '{needed}', and these are not there: {missing}"
        )
    return shares_of([json.loads(path.read_text())["drawn"] for path in paths])


def train_one(job: Job, results: Path, address: str, study: Study = SEQUENCES) -> None:
    """Does one training, and writes its figures at the end. A killed one leaves no figures."""
    with Client(address) as client:
        shares = drawn_by_needed(job, results, study)
        trained = study.train(client, job, study.conditions[job.condition], shares)
    path = job.result(results)
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(".unfinished")
    unfinished.write_text(json.dumps(asdict(trained)) + "\n")
    unfinished.rename(path)


def train_missing(jobs: Sequence[Job], results: Path, work: Path, processes: int, study: Study) -> None:
    """Does the trainings without figures, `processes` at a time."""
    work.mkdir(parents=True, exist_ok=True)
    with serving(work) as address, ThreadPoolExecutor(processes) as workers:

        def start(job: Job) -> int:
            here = ["--results", str(results), "--server", address]
            which = ["--part", job.part.name, "--only", job.condition, "--seed", str(job.seed)]
            variables = {
                "XLA_FLAGS": f"{os.environ.get('XLA_FLAGS', '')} {ONE_THREAD}",
                # Trainings share what jax has compiled.
                "JAX_COMPILATION_CACHE_DIR": str(work / "compiled"),
                "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
            }
            with (work / f"{job.result(results).stem}.log").open("w") as log:
                command = [sys.executable, study.script, *which, *here]
                return subprocess.run(command, env=os.environ | variables, stderr=log, check=False).returncode

        # First all that need no others' draws, then those that do.
        for needs in (False, True):
            missing = [
                job
                for job in jobs
                if bool(study.conditions[job.condition].needs) == needs and not job.result(results).exists()
            ]
            codes = list(tqdm(workers.map(start, missing), total=len(missing), desc="trainings", unit="training"))
            failed = [job.result(results).stem for job, code in zip(missing, codes, strict=True) if code]
            if failed:
                raise SystemExit(
                    f"{study.name}: {len(failed)} trainings failed: {failed}. Their logs are in {work}; the same"
                    " command tries them again."
                )


def main(arguments: Sequence[str] | None = None, study: Study = SEQUENCES) -> int:
    """Reads the command line. Returns the exit code."""
    parser = argparse.ArgumentParser(description=f"The study of {study.name}.")
    work = REPOSITORY / "out" / study.name
    parts_of, conditions_of = list(study.parts), list(study.conditions)
    parser.add_argument("--part", action="append", choices=parts_of, help="may be given several times (default: all)")
    parser.add_argument("--only", action="append", choices=conditions_of, help="a condition (default: all)")
    parser.add_argument("--seeds", type=int, help="the first so many of each condition (default: all)")
    parser.add_argument("--processes", type=int, default=2, help="trainings at a time (default: %(default)s)")
    parser.add_argument("--report", action="store_true", help="train nothing")
    parser.add_argument("--results", type=Path, default=work / "results", help="folder of figures, report and plots")
    parser.add_argument("--work", type=Path, default=work, help="folder of logs")
    parser.add_argument("--server", help=argparse.SUPPRESS)
    parser.add_argument("--seed", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    parts, conditions = options.part or parts_of, options.only or conditions_of
    if options.server:
        train_one(Job(study.parts[parts[0]], conditions[0], options.seed), options.results, options.server, study)
        return 0
    if not options.report:
        jobs = jobs_of(parts, conditions, options.seeds, study)
        train_missing(jobs, options.results, options.work, options.processes, study)
    print(study.write_report(options.results))
    return 0


if __name__ == "__main__":
    sys.exit(main())
