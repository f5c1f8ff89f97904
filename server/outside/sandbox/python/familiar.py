"""What programs of public sets take for granted and this room does not have: something is put in its place.

It is there for programs that mean no harm, and holds nobody in: a program may take it away. The scripts of those sets
were written for judges with a /dev, larger limits to ask for, and an interpreter that `site` has set up.
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
# Larger ones do not fit beside the rest.
THREAD_STACK_BYTES_MAX = 512 * MiB


def furnish() -> None:
    """Once, before any program: processes that are forked have it too."""
    site.setquit()
    site.setcopyright()
    site.sethelper()
    builtins.open = io.open = with_streams(io.open)
    os.open = with_streams(os.open, lambda descriptor, *_: descriptor)
    threading.stack_size = _thread.stack_size = limited(threading.stack_size)  # type: ignore[assignment]
    resource.setrlimit = keep_limit


def with_streams(opens: Callable[..., Any], of_descriptor: Callable[..., Any] | None = None) -> Callable[..., Any]:
    """The function that opens files, with the three streams under the names that they have on Linux."""

    def open(*args: Any, **kwargs: Any) -> Any:
        file = args[0] if args else None
        name = os.fspath(file) if isinstance(file, os.PathLike) else file
        if type(name) is not str or name not in STREAMS:
            return opens(*args, **kwargs)
        return (of_descriptor or opens)(os.dup(STREAMS[name]), *args[1:], **kwargs)

    return open


def limited(stack_size: Callable[[int], int]) -> Callable[[int], int]:
    """The function that sets the stack of threads: who asks for more than there can be has what there is."""

    def bounded(size: int = 0) -> int:
        return stack_size(min(size, THREAD_STACK_BYTES_MAX))

    return bounded


def keep_limit(which: int, limits: tuple[int, int]) -> None:
    """Nothing changes, and nothing is raised: who asks for a larger stack has a large one, and the rest holds."""
