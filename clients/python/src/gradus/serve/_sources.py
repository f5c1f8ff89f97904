"""Sources of an environment: its loaded files, the packages that they use, and Python itself."""

from __future__ import annotations

import hashlib
import platform
import sys
import traceback
from importlib import metadata
from pathlib import Path

# Packages of Gradus, its requirements and the installer. Their versions do not count as sources of an environment.
_OURS = {"gradus", "gradus-gym", "grpcio", "protobuf", "pip", "setuptools"}


def sources_of(folder: Path | None) -> dict[str, str]:
    """Returns, by name, the digest of each loaded file in the folder, and the version of each loaded package.

    Python is included with the first two numbers of its version, because a change of these can change what `random`
    gives.
    """
    found = {"python": ".".join(platform.python_version_tuple()[:2])}
    owners = metadata.packages_distributions()
    used: set[str] = set()
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if file is None:
            continue
        path = Path(file)
        if folder is not None and _is_own(path, folder):
            found[f"file {path.relative_to(folder)}"] = hashlib.sha256(path.read_bytes()).hexdigest()
            continue
        used.update(owners.get(name.partition(".")[0], []))
    # Read each package's version once: this takes a millisecond, and a package may have a thousand modules.
    found.update({f"package {each.lower()}": metadata.version(each) for each in used if each.lower() not in _OURS})
    return found


def files_of(folder: Path | None, error: BaseException | None = None) -> list[str]:
    """Returns absolute paths of the folder's files that decide what is served.

    These are the files of loaded modules, and the files that an error names: the file that raised it, a file that could
    not be read, and the place of a missing module.
    """
    if folder is None:
        return []
    files = {
        file for module in list(sys.modules.values()) if isinstance(file := getattr(module, "__file__", None), str)
    }
    while error is not None:
        files.update(frame.f_code.co_filename for frame, _ in traceback.walk_tb(error.__traceback__))
        # SyntaxError and OSError name the file in this attribute.
        if isinstance(file := getattr(error, "filename", None), str):
            files.add(file)
        if isinstance(error, ModuleNotFoundError) and error.name:
            place = folder.joinpath(*error.name.split("."))
            files.update((f"{place}.py", str(place / "__init__.py"), str(place)))
        error = error.__cause__
    # Paths of relative imports are relative to the folder, which is the host's working directory.
    paths = (folder / file for file in files if not file.startswith("<"))
    return sorted(str(path) for path in paths if _is_own(path, folder))


def _is_own(path: Path, folder: Path) -> bool:
    return path.is_relative_to(folder) and "site-packages" not in path.parts


def versions() -> str:
    """Returns versions for logs, e.g. "Python 3.12.3"."""
    return f"Python {platform.python_version()}"
