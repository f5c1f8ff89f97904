"""What an environment is made of: the files that it loaded, the packages that these stand on, and Python itself."""

from __future__ import annotations

import hashlib
import platform
import sys
import traceback
from importlib import metadata
from pathlib import Path

# Of this host's: they decide what is served, and are not what an environment is made of.
_OURS = {"gradus", "gradus-gym", "grpcio", "protobuf", "pip", "setuptools"}


def sources_of(folder: Path | None) -> dict[str, str]:
    """By name: the digest of each module's file that lies in the folder, and the version of each package that loaded.

    Python is among them by its first two numbers, for others change what `random` gives.
    """
    found = {"python": ".".join(platform.python_version_tuple()[:2])}
    owners = metadata.packages_distributions()
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if file is None:
            continue
        path = Path(file)
        if folder is not None and _is_own(path, folder):
            found[f"file {path.relative_to(folder)}"] = hashlib.sha256(path.read_bytes()).hexdigest()
            continue
        for owner in owners.get(name.partition(".")[0], []):
            if owner.lower() not in _OURS:
                found[f"package {owner.lower()}"] = metadata.version(owner)
    return found


def files_of(folder: Path | None, error: BaseException | None = None) -> list[str]:
    """Absolute paths of the folder's files that decide what is served.

    These are the files of loaded modules, and the files that an error names: where it was raised, what it could not
    read, and where a module that is missing would be.
    """
    if folder is None:
        return []
    files = {
        file for module in list(sys.modules.values()) if isinstance(file := getattr(module, "__file__", None), str)
    }
    while error is not None:
        files.update(frame.f_code.co_filename for frame, _ in traceback.walk_tb(error.__traceback__))
        # Of a SyntaxError and of an OSError.
        if isinstance(file := getattr(error, "filename", None), str):
            files.add(file)
        if isinstance(error, ModuleNotFoundError) and error.name:
            place = folder.joinpath(*error.name.split("."))
            files.update((f"{place}.py", str(place / "__init__.py"), str(place)))
        error = error.__cause__
    # Paths of files that were imported by a relative name are relative to the folder, which a host works in.
    paths = (folder / file for file in files if not file.startswith("<"))
    return sorted(str(path) for path in paths if _is_own(path, folder))


def _is_own(path: Path, folder: Path) -> bool:
    return path.is_relative_to(folder) and "site-packages" not in path.parts


def versions() -> str:
    """For logs, e.g. "Python 3.12.3"."""
    return f"Python {platform.python_version()}"
