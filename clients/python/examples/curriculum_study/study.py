"""Does the server's curriculum help? Countdown, learned by a small transformer under seven curricula.

    python study.py                     # all of it: five seeds of each condition, then tables and plots
    python study.py --seeds 1 --only uniform
    python study.py --report            # tables and plots of what is there

It makes a pool, exports the solver's answers, starts a Gradus server, trains one start by imitation, and goes on from
it by RLOO: once for each condition and seed. What is done is not done again, so that it can be stopped at any time.
README.md says what is compared and what came of it.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path

from conditions import CONDITIONS, POOL
from server import REPOSITORY, export_answers, serving
from settings import LARGE, SMALL, Settings

RESULTS = Path(__file__).resolve().parent / "results"


def result_path(settings: Settings, condition: str, seed: int) -> Path:
    """Where one seed's figures are kept; they belong to the repository."""
    return RESULTS / settings.name / f"{condition.replace(', ', '-').replace(' ', '-')}.{seed}.json"


def train_one(settings: Settings, condition_name: str, seed: int, address: str, start_file: Path) -> None:
    """Trains one seed of one condition and writes its figures."""
    from data import held_out
    from start import load
    from training import Trainer

    from gradus import Client

    condition = next(each for each in CONDITIONS if each.name == condition_name)
    with Client(address) as client:
        trainer = Trainer(client, condition, seed, settings, load(start_file))
        trained = trainer.run(held_out(client, settings))
    out = result_path(settings, condition_name, seed)
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(asdict(trained), indent=1) + "\n")


def train_missing(settings: Settings, names: Sequence[str], seeds: int, processes: int, work: Path) -> None:
    """Trains what has no figures yet, seed by seed, `processes` at a time."""
    missing = [
        (name, seed) for seed in range(seeds) for name in names if not result_path(settings, name, seed).exists()
    ]
    if not missing:
        return
    work.mkdir(parents=True, exist_ok=True)
    pool, answers, start_file = work / "pool.jsonl", work / "answers.jsonl", work / "start.pickle"
    if not pool.exists():
        from data import write_pool

        write_pool(pool)
    if not start_file.exists():
        from start import make_start

        if not answers.exists():
            export_answers(answers, settings.start_rows)
        make_start(answers, start_file, settings)
    # A run that was begun and not ended is begun anew: under a new server, which knows none.
    subprocess.run(["rm", "-rf", str(work / "data")], check=True)
    with serving(work, f"{POOL}=countdown:{pool}") as address, ThreadPoolExecutor(processes) as workers:

        def start(job: tuple[str, int]) -> int:
            name, seed = job
            options = ["--size", settings.name, "--one", name, "--seed", str(seed), "--server", address]
            return subprocess.run([sys.executable, __file__, *options], check=False).returncode

        failed = [job for job, code in zip(missing, workers.map(start, missing), strict=True) if code]
    if failed:
        raise SystemExit(f"study: {len(failed)} trainings failed: {failed}; the same command tries them again")


def main(arguments: Sequence[str] | None = None) -> int:
    """Reads the command line; 0 is success."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--size", choices=("small", "large"), default="small", help="large wants a GPU")
    parser.add_argument("--seeds", type=int, default=5, help="of each condition (default: %(default)s)")
    parser.add_argument("--only", action="append", choices=[each.name for each in CONDITIONS], help="of the conditions")
    parser.add_argument("--processes", type=int, default=2, help="trainings at a time (default: %(default)s)")
    parser.add_argument("--report", action="store_true", help="train nothing")
    parser.add_argument("--work", type=Path, default=REPOSITORY / "out" / "curriculum-study", help="folder of weights")
    for hidden in ("--one", "--server"):
        parser.add_argument(hidden, help=argparse.SUPPRESS)
    parser.add_argument("--seed", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    settings = {each.name: each for each in (SMALL, LARGE)}[options.size]
    work = options.work / settings.name
    if options.one:
        train_one(settings, options.one, options.seed, options.server, work / "start.pickle")
        return 0
    if not options.report:
        names = options.only or [each.name for each in CONDITIONS]
        train_missing(settings, names, options.seeds, options.processes, work)
    from report import write_report

    print(write_report(settings, RESULTS / settings.name))
    return 0


if __name__ == "__main__":
    sys.exit(main())
