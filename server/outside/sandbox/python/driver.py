"""Calls a program's functions in a sandbox on another machine, and prints each result as a line of JSON (../remote.ts).

The program runs in the same process. So it may print lines of its own, and lift the limit of processor time that this
driver sets. The limits of that sandbox still hold.
"""

import base64
import os
import signal

import runner


def drive(encoded: str) -> None:
    """Decodes a job (program and calls), makes the calls, prints each result, and ends the process."""
    job = runner.from_json(base64.b64decode(encoded).decode())
    lines = os.dup(1)
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(null, stream)
    runner.prepare()
    cpu_ms_max = job["cpuMsMax"]

    def stop(*_: object) -> None:
        told = runner.reply("exceeded", f"more than {cpu_ms_max:,} ms of processor time")
        runner.write_all(lines, told + b"\n")
        os._exit(0)

    signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, cpu_ms_max / 1000)
    module = runner.Module(job["program"])
    for case in job["cases"]:
        runner.write_all(lines, module.call(case) + b"\n")
        signal.setitimer(signal.ITIMER_PROF, cpu_ms_max / 1000)
    os._exit(0)
