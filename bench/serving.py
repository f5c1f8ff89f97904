"""Starts servers for benchmarks in Python, and measures their CPU."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TICKS = os.sysconf("SC_CLK_TCK")


@contextmanager
def serving(checkout: Path = ROOT) -> Iterator[tuple[int, str]]:
    """Yields process and address of a checkout's server, with its own data directory."""
    with serving_ports(checkout) as (pid, ports):
        yield pid, f"localhost:{ports['grpcPort']}"


@contextmanager
def serving_ports(checkout: Path = ROOT, *options: str) -> Iterator[tuple[int, dict[str, int]]]:
    """Yields the process, and `grpcPort` and `httpPort`, of a server that was started with more options."""
    with tempfile.TemporaryDirectory() as data:
        program = json.loads((checkout / "package.json").read_text())["bin"]["gradus"]
        command = [str(checkout / program), "serve", "--port", "0", "--http-port", "0"]
        flags = ["--data-dir", data, "--log-format", "json", *options]
        with subprocess.Popen(
            [*command, *flags],
            cwd=checkout,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        ) as server:
            assert server.stdout is not None
            line = next(each for each in server.stdout if b'"listening"' in each)
            threading.Thread(target=server.stdout.read, daemon=True).start()
            try:
                yield server.pid, json.loads(line)
            finally:
                server.terminate()


def cpu_seconds(pid: int) -> float:
    """Returns the seconds of CPU of a process, its threads and its running and ended child processes."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    children = [each for path in Path(f"/proc/{pid}/task").glob("*/children") for each in path.read_text().split()]
    return sum(map(int, fields[11:15])) / TICKS + sum(cpu_seconds(int(each)) for each in children)
