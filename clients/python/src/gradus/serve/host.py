"""A host: the process that imports what is mounted, once, and forks the workers that are asked (ProviderFrame).

A server starts it as `python -m gradus.serve.host`, and speaks frames with it over descriptors 0 and 1; workers connect
to the server's socket by themselves. What is printed goes to nobody, and cannot get between the frames.
"""

from __future__ import annotations

import os
import sys

# Before numpy and the like are imported: workers have one thread each.
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS"), "1")
HASH_SEED = "0"


def begin_again() -> None:
    """Starts this program afresh where strings' hashes would differ from those of other hosts."""
    os.environ.update(ONE_THREAD)
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    if sys.flags.hash_randomization:
        os.environ["PYTHONHASHSEED"] = HASH_SEED
        os.execv(sys.executable, [sys.executable, "-m", "gradus.serve.host"])


def main() -> None:
    """From the first frame to the end of descriptor 0."""
    begin_again()
    # Only here, for all that is imported by it.
    from gradus.serve import _hosting  # noqa: PLC0415

    os.setpgid(0, 0)
    frames = os.dup(1)
    os.set_inheritable(frames, False)
    # Nothing that is printed gets between the frames.
    os.dup2(2, 1)
    _hosting.run(0, frames)


if __name__ == "__main__":
    main()
