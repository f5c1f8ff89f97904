# What comes after runner.py where calls are run by another server's sandbox (../remote.ts): replies are lines.
import base64  # noqa: E402
import signal  # noqa: E402


def drive(encoded: str) -> None:
    """Makes the calls, and writes what each comes to. Processor time is limited here as far as the program lets it."""
    job = from_json(base64.b64decode(encoded).decode())
    lines = os.dup(1)
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(null, stream)
    prepare()
    seconds = job["cpuMsMax"] / 1000

    def stop(*_: object) -> None:
        write_all(lines, reply("exceeded", f"more than {job['cpuMsMax']:,} ms of processor time") + b"\n")
        os._exit(0)

    signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    module = Module(job["program"])
    for case in job["cases"]:
        write_all(lines, module.call(case) + b"\n")
        signal.setitimer(signal.ITIMER_PROF, seconds)
    os._exit(0)
