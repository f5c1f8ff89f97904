"""A host: processes that import the mounted code once, and fork the workers that serve requests (ProviderFrame).

A server starts it as `python -m gradus.serve.host`, in a folder without files, and exchanges frames over descriptors 0
and 1. Printed text is dropped, and cannot get between the frames.
"""

from __future__ import annotations

import os
import sys

# These are set before numpy and the like are imported: workers have one thread each.
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS"), "1")
HASH_SEED = "0"
FOLDER = "/proc"
"""Folder in which a host starts. It can hold no module, because Python imports from this folder."""


def begin_again() -> None:
    """Restarts this program if hashes of strings would differ from those of other hosts."""
    os.environ.update(ONE_THREAD)
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    if sys.flags.hash_randomization:
        os.environ["PYTHONHASHSEED"] = HASH_SEED
        os.execv(sys.executable, [sys.executable, "-B", "-m", "gradus.serve.host", *sys.argv[1:]])


def main() -> None:
    """Runs from the first frame until descriptor 0 closes.

    Arguments name walls to go without, in tests.
    """
    sys.path[:] = [path for path in sys.path if path not in ("", os.getcwd())]
    begin_again()
    # This import comes late, because of all that it imports.
    from gradus.serve import _family, _hosting  # noqa: PLC0415

    os.setpgid(0, 0)
    _family.run(_hosting.run, frozenset(sys.argv[1:]))


if __name__ == "__main__":
    main()
