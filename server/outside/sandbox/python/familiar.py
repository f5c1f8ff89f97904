"""Supplies things that public sets' programs expect and that the sandbox lacks.

The replacements help honest programs and isolate nothing: a program may remove them. The scripts of those sets were
written for judges with a /dev, with larger limits to ask for, and with an interpreter that `site` has set up.
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
# Maximum stack of a thread. A larger one does not fit into memory with the rest.
THREAD_STACK_BYTES_MAX = 512 * MiB


def furnish() -> None:
    """Installs the replacements once, before any program, so that forked processes have them."""
    site.setquit()
    site.setcopyright()
    site.sethelper()
    builtins.open = io.open = with_streams(io.open)
    os.open = with_streams(os.open, lambda descriptor, *_: descriptor)
    threading.stack_size = _thread.stack_size = limited(threading.stack_size)  # type: ignore[assignment]
    resource.setrlimit = keep_limit


def with_streams(opens: Callable[..., Any], of_descriptor: Callable[..., Any] | None = None) -> Callable[..., Any]:
    """Returns a function that opens files, and also the standard streams under their Linux names."""

    def open(*args: Any, **kwargs: Any) -> Any:
        file = args[0] if args else None
        name = os.fspath(file) if isinstance(file, os.PathLike) else file
        if type(name) is not str or name not in STREAMS:
            return opens(*args, **kwargs)
        return (of_descriptor or opens)(os.dup(STREAMS[name]), *args[1:], **kwargs)

    return open


def limited(stack_size: Callable[[int], int]) -> Callable[[int], int]:
    """Returns a function that sets the stack size of threads, cut to the maximum."""

    def bounded(size: int = 0) -> int:
        return stack_size(min(size, THREAD_STACK_BYTES_MAX))

    return bounded


def keep_limit(which: int, limits: tuple[int, int]) -> None:
    """Changes nothing and raises nothing: the stack is large already, and the other limits stay as they are."""
