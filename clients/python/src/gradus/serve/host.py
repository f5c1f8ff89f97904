"""A host: the processes that import what is mounted, once, and fork the workers that are asked (ProviderFrame).

A server starts it as `python -m gradus.serve.host`, in a folder without files, and speaks frames with it over
descriptors 0 and 1. What is printed goes to nobody, and cannot get between the frames.
"""

from __future__ import annotations

import os
import sys

# Before numpy and the like are imported: workers have one thread each.
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS"), "1")
HASH_SEED = "0"
FOLDER = "/proc"
"""Where a host is started: a folder that can hold no module, for Python imports from where it is started."""


def begin_again() -> None:
    """Starts this program afresh where strings' hashes would differ from those of other hosts."""
    os.environ.update(ONE_THREAD)
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    if sys.flags.hash_randomization:
        os.environ["PYTHONHASHSEED"] = HASH_SEED
        os.execv(sys.executable, [sys.executable, "-B", "-m", "gradus.serve.host", *sys.argv[1:]])


def main() -> None:
    """From the first frame to the end of descriptor 0. Arguments name walls to go without, for tests."""
    sys.path[:] = [path for path in sys.path if path not in ("", os.getcwd())]
    begin_again()
    # Only here, for all that is imported by it.
    from gradus.serve import _family, _hosting  # noqa: PLC0415

    os.setpgid(0, 0)
    _family.run(_hosting.run, frozenset(sys.argv[1:]))


if __name__ == "__main__":
    main()
