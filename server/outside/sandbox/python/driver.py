"""Makes the calls of a job in another server's sandbox, and prints the result of each as a line (../remote.ts).

The driver shares its process with the program, which may print lines of its own and raise the limit of processor time
that is set here. The other server's limits hold all the same.
"""

import base64
import os
import signal

import runner


def drive(encoded: str) -> None:
    """Makes all calls of the encoded job, and ends the process."""
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
