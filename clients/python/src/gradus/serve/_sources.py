"""What an environment is made of: the files that it loaded, the packages that these stand on, and Python itself."""

from __future__ import annotations

import hashlib
import platform
import sys
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
        if folder is not None and path.is_relative_to(folder) and "site-packages" not in path.parts:
            found[f"file {path.relative_to(folder)}"] = hashlib.sha256(path.read_bytes()).hexdigest()
            continue
        for owner in owners.get(name.partition(".")[0], []):
            if owner.lower() not in _OURS:
                found[f"package {owner.lower()}"] = metadata.version(owner)
    return found


def versions() -> str:
    """For logs, e.g. "Python 3.12.3"."""
    return f"Python {platform.python_version()}"
