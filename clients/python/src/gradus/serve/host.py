"""A host: processes that import the mounted code once, and fork the workers that serve requests (ProviderFrame).

A server starts it as `python -m gradus.serve.host`, in a folder without files, and exchanges frames over descriptors 0
and 1. Printed text cannot get between the frames: at imports it goes to stderr, and workers drop it.
"""

from __future__ import annotations

import os
import sys

# Set these variables before numpy and other libraries are imported, because each worker has one thread.
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS"), "1")
HASH_SEED = "0"
FOLDER = "/proc"
"""Folder in which a host starts. Python imports modules from this folder, and /proc can hold none."""


def begin_again() -> None:
    """Restarts this program with PYTHONHASHSEED=0 if it hashes strings by random keys: all hosts must hash alike."""
    os.environ.update(ONE_THREAD)
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    if sys.flags.hash_randomization:
        os.environ["PYTHONHASHSEED"] = HASH_SEED
        os.execv(sys.executable, [sys.executable, "-B", "-m", "gradus.serve.host", *sys.argv[1:]])


def main() -> None:
    """Runs the host from the server's first frame until the server closes descriptor 0, the standard input.

    In tests, arguments name kinds of isolation not to use.
    """
    sys.path[:] = [path for path in sys.path if path not in ("", os.getcwd())]
    begin_again()
    # Import these only after the restart, because they import many modules.
    from gradus.serve import _family, _hosting  # noqa: PLC0415

    os.setpgid(0, 0)
    _family.run(_hosting.run, frozenset(sys.argv[1:]))


if __name__ == "__main__":
    main()
