"""Measures what a command costs: CPU of its process and its children, user and system, the median of 20.

    python3 bench/cli/run.py [--gradus cli/gradus] [--other FOLDER/cli/gradus] [--count 20] [--json]

`--gradus out/project/node_modules/.bin/gradus` measures a package that was installed there (docs/guides/releasing.md).
The commands run by turns, so that other work of the machine affects all. The first round, which fills Node's compile
cache, is left out. CPU is what the system counted for the child and its children.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import tempfile
from pathlib import Path

COMMANDS = ("--help", "envs", "reset np/tsp", "reset countdown --level T0 --seed 7", "version")


def cpu_seconds(command: list[str], env: dict[str, str]) -> float:
    """Returns the CPU seconds of a command and of the children that it waited for. Exits if the command fails."""
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, env=env)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}")
    return usage.ru_utime + usage.ru_stime


def main() -> None:
    """Measures by turns and prints the medians."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gradus", default="cli/gradus")
    parser.add_argument("--other", help="a second program, measured by turns")
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    programs = [str(Path(each).absolute()) for each in (args.gradus, args.other) if each]
    runs = [(program, words) for words in COMMANDS for program in programs]
    with tempfile.TemporaryDirectory() as data:
        env = {**os.environ, "GRADUS_DATA_DIR": data}
        env.pop("NODE_COMPILE_CACHE", None)
        rounds = [
            [cpu_seconds([program, *words.split()], env) for program, words in runs] for _ in range(args.count + 1)
        ]
    took = {f"{program} {words}": [of[i] for of in rounds[1:]] for i, (program, words) in enumerate(runs)}
    if args.json:
        print(json.dumps(took))
        return
    for command, seconds in took.items():
        print(f"{statistics.median(seconds):.2f} s ({min(seconds):.2f} to {max(seconds):.2f})  {command}")


if __name__ == "__main__":
    main()
