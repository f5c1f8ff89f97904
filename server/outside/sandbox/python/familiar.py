"""Supplies what programs of public data sets expect and the sandbox lacks, such as /dev/stdin or higher stack limits.

The replacements only help honest programs: a program may remove them, so they isolate nothing.
"""

import _thread
import builtins
import io
import os
import resource
import site
import threading
from collections.abc import Callable
from typing import Any

from child import MiB

STREAMS = {
    f"{folder}{name}": number
    for number, stream in enumerate(("stdin", "stdout", "stderr"))
    for folder, name in (("/dev/", stream), ("/dev/fd/", number))
}
# Maximum stack of a thread that a program may ask for. A larger one does not fit into the memory limit.
THREAD_STACK_BYTES_MAX = 512 * MiB


def furnish() -> None:
    """Replaces functions such as `open` for all programs. Called once, before a process is forked for any program."""
    site.setquit()
    site.setcopyright()
    site.sethelper()
    builtins.open = io.open = with_streams(io.open)
    os.open = with_streams(os.open, lambda descriptor, *_: descriptor)
    threading.stack_size = _thread.stack_size = limited(threading.stack_size)  # type: ignore[assignment]
    resource.setrlimit = keep_limit


def with_streams(opens: Callable[..., Any], of_descriptor: Callable[..., Any] | None = None) -> Callable[..., Any]:
    """Wraps `open` so that paths such as "/dev/stdin" open the standard streams."""

    def open(*args: Any, **kwargs: Any) -> Any:
        file = args[0] if args else None
        name = os.fspath(file) if isinstance(file, os.PathLike) else file
        if type(name) is not str or name not in STREAMS:
            return opens(*args, **kwargs)
        return (of_descriptor or opens)(os.dup(STREAMS[name]), *args[1:], **kwargs)

    return open


def limited(stack_size: Callable[[int], int]) -> Callable[[int], int]:
    """Wraps threading.stack_size so that a request for a larger stack gets THREAD_STACK_BYTES_MAX."""

    def bounded(size: int = 0) -> int:
        return stack_size(min(size, THREAD_STACK_BYTES_MAX))

    return bounded


def keep_limit(which: int, limits: tuple[int, int]) -> None:
    """Replaces resource.setrlimit, and does nothing.

    Raises no exception either: the stack is already large, and a program cannot change the other limits.
    """
