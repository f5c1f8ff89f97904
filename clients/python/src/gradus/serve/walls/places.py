"""Files and folders that a host may read.

Landlock cannot exclude parts of a folder, so allowed parts are listed singly.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from pathlib import Path


class RefusedError(Exception):
    """This kernel cannot isolate a host, or a path that the host must read lies among the server's secrets."""


class Places:
    """Files and folders that can be read, and folders of which only the file names can be listed."""

    def __init__(self, hidden: Sequence[Path], start_folder: Path | None = None) -> None:
        # Hidden paths, both as given and with symbolic links resolved.
        self._hidden = {Path(os.path.abspath(path)) for path in hidden} | {path.resolve() for path in hidden}
        # The folder in which the server was started is never shown as a whole, only paths in it.
        start = {start_folder, start_folder.resolve()} if start_folder is not None else set()
        self._left_out = self._hidden | start
        # Device and inode of hidden files, because a file may have a second name (hard link).
        self._files = {identity for path in hidden if (identity := _identity(path)) is not None}
        self.readable: list[str] = []
        self.listable: list[str] = []

    def show(self, path: Path, what: str = "") -> None:
        """Adds a file, or a folder without the hidden files in it.

        If the path lies in a hidden folder, raises RefusedError that calls it `what`, or leaves it out if `what` is "".
        """
        covering = next((each for each in self._hidden if _is_in(path, each) or _is_in(path.resolve(), each)), None)
        if covering is None:
            return self._add(path)
        if what:
            raise RefusedError(f"{what} lies in {covering}, which is the server's own and hidden: move it elsewhere")
        return None

    def join(self, other: Places) -> None:
        """Adds all files and folders of another `Places`."""
        self.readable += other.readable
        self.listable += other.listable

    def _add(self, path: Path) -> None:
        real = path.resolve()
        if path in self._left_out or real in self._left_out or _identity(path) in self._files:
            return None
        if not self._is_around(path) and not self._is_around(real):
            return self.readable.append(str(path))
        self.listable.append(str(path))
        with contextlib.suppress(OSError):
            for child in path.iterdir():
                # A symbolic link is shown only if its target lies in the same folder, so that it shows nothing more.
                target = child.resolve()
                if not child.is_symlink() or (real in target.parents and not self._is_around(target)):
                    self._add(child)
        return None

    def _is_around(self, folder: Path) -> bool:
        return any(folder in each.parents for each in self._left_out)


def _is_in(path: Path, folder: Path) -> bool:
    return path == folder or folder in path.parents


def _identity(path: Path) -> tuple[int, int] | None:
    """Returns device and inode of a file with several hard links; None: it has only one, is missing or is a folder."""
    try:
        found = path.stat()
    except OSError:
        return None
    return (found.st_dev, found.st_ino) if found.st_nlink > 1 and not path.is_dir() else None
