"""Starts the study's Gradus server and exports data, by this repository's command line."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[4]
_GRADUS = ["cli/gradus"]
_START_SECONDS_MAX = 900
"""A pool that the server has not seen is solved row by row before it listens."""


def export_answers(environment: str, levels: Sequence[str], rows: int, out: Path) -> None:
    """Exports the solver's answers to `rows` tasks of an environment's levels, in the train split."""
    named = [each for level in levels for each in ("--level", level)]
    task = ["--environment", environment, *named, "--count", str(rows), "--answer-format", "answer_tag"]
    subprocess.run([*_GRADUS, "export", "--solver", *task, "--out", str(out)], cwd=REPOSITORY, check=True)


@contextmanager
def serving(directory: Path, *more: str) -> Iterator[str]:
    """Yields the address of a server on a free port, and stops it in the end."""
    log = directory / "server.log"
    flags = ["--port", "0", "--http-port", "0", "--data-dir", str(directory / "data"), "--log-format", "json"]
    options = [*flags, *more]
    with log.open("wb") as out:
        process = subprocess.Popen([*_GRADUS, "serve", *options], cwd=REPOSITORY, stdout=out, stderr=subprocess.STDOUT)
    try:
        yield f"localhost:{_port(process, log)}"
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait()


def _port(process: subprocess.Popen[bytes], log: Path) -> int:
    deadline = time.monotonic() + _START_SECONDS_MAX
    while process.poll() is None and time.monotonic() < deadline:
        for line in log.read_text().splitlines():
            if line.endswith("}") and (said := json.loads(line)).get("msg") == "listening":
                return int(said["grpcPort"])
        time.sleep(0.1)
    raise RuntimeError(f"the server did not start; its log is {log}")
