"""Makes gRPC work after forks, or explains why it cannot. Import it before grpc, which reads its environment only once.

Without fork support, a child that is forked after its parent's first call hangs in its own first call, even on its own
channel. PyTorch's data loaders fork. With fork support, gRPC still fails if an asyncio channel is open.
"""

import os
import sys

_VARIABLE = "GRPC_ENABLE_FORK_SUPPORT"
_grpc_came_first = "grpc" in sys.modules and _VARIABLE not in os.environ
os.environ.setdefault(_VARIABLE, "1")

_safe = not _grpc_came_first and os.environ[_VARIABLE].lower() in {"1", "true", "yes", "on", "enabled"}
_processes: set[int] = set()
_problem = ""


def enter(process: int) -> None:
    """Records that the process is about to use gRPC. Raises RuntimeError if its calls would hang."""
    if _processes and process not in _processes and (_problem or not _safe):
        unsupported = f"gRPC was loaded without fork support: import gradus before grpc or set {_VARIABLE}=1"
        raise RuntimeError(
            "calls would hang in this forked process, because its parent had used gRPC, and "
            f"{_problem or unsupported}; or start processes by spawn"
        )
    _processes.add(process)


def spoil(problem: str) -> None:
    """Makes `enter` raise an error with this text in processes forked from now on; "": `enter` raises none again."""
    global _problem  # noqa: PLW0603
    _problem = problem
