"""Lets gRPC live through forks. Imported before grpc, which reads its environment once.

Without this, a child that is forked after its parent's first call hangs in its own first call, even on a channel of
its own; PyTorch's data loaders fork.
"""

import os
import sys

_VARIABLE = "GRPC_ENABLE_FORK_SUPPORT"
_grpc_came_first = "grpc" in sys.modules and _VARIABLE not in os.environ
os.environ.setdefault(_VARIABLE, "1")

_safe = not _grpc_came_first and os.environ[_VARIABLE].lower() in {"1", "true", "yes", "on", "enabled"}
_processes: set[int] = set()


def enter(process: int) -> None:
    """Notes that the process is about to use gRPC. Raises RuntimeError where its calls would hang."""
    if not _safe and _processes and process not in _processes:
        raise RuntimeError(
            "gRPC was used before this process was forked, and without fork support, so that calls would hang here: "
            f"import gradus before grpc, set {_VARIABLE}=1, or start processes by spawn"
        )
    _processes.add(process)
