"""Starts one server with several mounts, and prints when it is ready, what it serves, and what that takes."""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))
from serving import cpu_seconds, serving_ports

TARGETS = ["rlve-gym", "reasoning-core", "reasoning-gym", "textarena", "gem", "chuk-puzzles"]


def asked(port: int, method: str, request: object) -> dict[str, Any]:
    """Returns the reply of a call over HTTP."""
    data = json.dumps(request).encode()
    headers = {"content-type": "application/json"}
    call = urllib.request.Request(f"http://localhost:{port}/gradus.v1.{method}", data, headers)
    with urllib.request.urlopen(call) as response:
        found: dict[str, Any] = json.load(response)
        return found


def metrics(port: int) -> list[str]:
    """Returns the lines of the server's metrics."""
    with urllib.request.urlopen(f"http://localhost:{port}/metrics") as response:
        return response.read().decode().splitlines()  # type: ignore[no-any-return]


def tree(pid: int) -> list[int]:
    """Returns a process and its descendants."""
    children = [int(each) for path in Path(f"/proc/{pid}/task").glob("*/children") for each in path.read_text().split()]
    return [pid, *(each for child in children for each in tree(child))]


def mebibytes(pid: int) -> float:
    """Returns the memory of a process and its descendants; what they share counts once."""
    total = 0
    for each in tree(pid):
        # A worker may have ended meanwhile.
        with contextlib.suppress(OSError):
            lines = Path(f"/proc/{each}/smaps_rollup").read_text().splitlines()
            total += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return total / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("targets", nargs="*", default=TARGETS)
    parser.add_argument(
        "--python",
        default=sys.executable,
        help="the interpreter that has the libraries",
    )
    parser.add_argument(
        "--all",
        action="store_true",
        help="wait until all levels are tried, and measure again",
    )
    given = parser.parse_args()
    options = [part for target in given.targets for part in ("--mount", target)]
    began = time.monotonic()
    with serving_ports(
        Path(__file__).parents[2],
        "--store",
        "memory",
        "--python",
        given.python,
        *options,
    ) as (pid, ports):
        port = ports["httpPort"]
        print(f"listening after {time.monotonic() - began:.0f} s")
        while asked(port, "EnvironmentService/ListEnvironments", {"pageSize": 1}).get("mounting"):
            time.sleep(0.5)

        def took(what: str) -> None:
            seconds = time.monotonic() - began
            print(
                f"{what} after {seconds:.0f} s, {cpu_seconds(pid):.0f} s of CPU, {mebibytes(pid):.0f} MiB",
                flush=True,
            )

        took("ready")
        found = asked(port, "EnvironmentService/ListEnvironments", {"pageSize": 1000})["environments"]
        for prefix in [
            *(target.partition(":")[0] + "/" for target in given.targets),
            "",
        ]:
            some = [each for each in found if each["id"].startswith(prefix)]
            levels = sum(len(each["levels"]) for each in some)
            growing = sum(1 for each in some if each.get("axes"))
            print(f"{prefix or 'all'}: {len(some)} environments, {levels} levels, {growing} that can grow")
        untried = 'found="untried"'
        while given.all and any(untried in line and not line.endswith(" 0") for line in metrics(port)):
            time.sleep(1)
        if given.all:
            took("all levels tried")


if __name__ == "__main__":
    main()
