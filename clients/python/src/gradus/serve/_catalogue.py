"""Loads the environments of a target: a Python file, or by an adapter those of another library."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from gradus.serve._environment import Environment
from gradus.serve._facts import MisshapenError
from gradus.serve._served import Served, in_words
from gradus.serve._sources import sources_of, versions
from gradus.v1 import provider_pb2

PROTOCOL = 1

ADAPTERS = {
    "reasoning-gym": "gradus.serve.adapters.reasoning_gym",
    "reasoning-core": "gradus.serve.adapters.reasoning_core",
    "rlve-gym": "gradus.serve.adapters.rlve_gym",
    "verifiers": "gradus.serve.adapters.verifiers",
    "nemo-gym": "gradus.serve.adapters.nemo_gym",
    "openenv": "gradus.serve.adapters.openenv",
    "ors": "gradus.serve.adapters.ors",
    "textarena": "gradus.serve.adapters.textarena",
    "gem": "gradus.serve.adapters.gem",
    "chuk-puzzles": "gradus.serve.adapters.chuk_puzzles",
}
"""Modules of the adapters by the prefix of a target, such as "reasoning-gym:names"."""


class TargetError(Exception):
    """A target (a file, or e.g. "reasoning-gym:names") cannot be mounted. The message has the reason and the remedy."""


@dataclass(frozen=True)
class Needs:
    """Files and network access that an adapter needs for its target, e.g. "nemo-gym:http://host,rows=file"."""

    read: list[str] = field(default_factory=list)
    network: bool = False


@dataclass
class Offer:
    """Environments that a target offers, and the names of those that cannot be served, with the reason."""

    environments: list[Environment]
    left_out: dict[str, str] = field(default_factory=dict)
    tried_here: bool = True
    """Whether the host tries to make instances of all levels before it reports its environments.

    False if there are hundreds of levels, some of which take minutes. The server that mounts them then tries each level
    before its first task. The environments' digests do not depend on this flag.
    """


@dataclass
class Catalogue:
    """Environments that a host serves."""

    served: dict[str, Served]
    left_out: dict[str, str]
    tried_here: bool = True

    def describe(self) -> provider_pb2.DescribeResponse:
        """Returns the protobuf message DescribeResponse: the environments, and those left out."""
        return provider_pb2.DescribeResponse(
            protocol=PROTOCOL,
            host=versions(),
            environments=[served.describe() for _, served in sorted(self.served.items())],
            left_out=[
                provider_pb2.LeftOut(name=name, reason=reason[:2000]) for name, reason in sorted(self.left_out.items())
            ],
        )


def adapter_of(target: str) -> tuple[ModuleType, str] | None:
    """Returns the adapter of a target and the text after the colon; None: the target is the path of a file."""
    name, _, rest = target.partition(":")
    return (import_module(ADAPTERS[name]), rest) if name in ADAPTERS else None


def needs_of(target: str, folder: str) -> Needs:
    """Returns the file and network access that an adapter's target needs.

    Makes `folder` the working directory, if it is given, because paths in the target may be relative to it.
    """
    adapter = adapter_of(target)
    if adapter is None or not hasattr(adapter[0], "needs"):
        return Needs()
    if folder:
        os.chdir(folder)
    needs: Needs = adapter[0].needs(adapter[1])
    return needs


def folder_of(target: str) -> Path | None:
    """Returns the folder of a mounted file; None: the target is no file."""
    return None if target.partition(":")[0] in ADAPTERS else Path(target).resolve().parent


def load(target: str) -> Catalogue:
    """Loads the environments of a target, and leaves out invalid ones.

    Raises TargetError if it cannot, or none is left.
    """
    adapter = adapter_of(target)
    folder = folder_of(target)
    if adapter is None:
        offer = Offer(environments_of(import_file(target)))
    else:
        module, rest = adapter
        offer = module.offer(rest)
    if "numpy" in sys.modules:
        # Import numpy.random now. An environment may import it only while it makes or verifies an item, and its random
        # state could then not be seeded before that item.
        import_module("numpy.random")
    sources = sources_of(folder)
    served: dict[str, Served] = {}
    for environment in offer.environments:
        try:
            each = Served(environment, folder or Path(), sources)
        except (MisshapenError, ValueError, TypeError) as error:
            offer.left_out[environment.id or type(environment).__name__] = in_words(error)
            continue
        if each.id in served:
            raise TargetError(f"two environments have the id {each.id}")
        served[each.id] = each
    if not served:
        reasons = "; ".join(f"{name}: {reason}" for name, reason in offer.left_out.items())
        raise TargetError(f"{target} has no environment that can be served{': ' if reasons else ''}{reasons}")
    return Catalogue(served, offer.left_out, offer.tried_here)


def import_file(target: str) -> ModuleType:
    """Imports a Python file and returns the module. Raises TargetError with the reason if it cannot."""
    path = Path(target).resolve()
    if not path.is_file():
        raise TargetError(f"there is no file {target}")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise TargetError(f"{target} is no Python file: its name must end with .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    sys.path.insert(0, str(path.parent))
    try:
        spec.loader.exec_module(module)
    except ModuleNotFoundError as error:
        raise TargetError(f"{target} needs the package {error.name}: install it beside gradus-gym") from error
    except BaseException as error:
        raise TargetError(f"importing {target} raised {in_words(error)}") from error
    return module


def environments_of(module: ModuleType) -> list[Environment]:
    """Returns the environments in the list `environments` of a module.

    Without a list, returns one of each Environment class with an id that the module defines. Raises TargetError if
    there are none.
    """
    listed: Iterable[Any] | None = getattr(module, "environments", None)
    if listed is None:
        listed = [
            each
            for each in vars(module).values()
            if isinstance(each, type)
            and issubclass(each, Environment)
            and each.__module__ == module.__name__
            and each.id
        ]
    found: list[Environment] = []
    for each in listed:
        made = each() if isinstance(each, type) else each
        if not isinstance(made, Environment):
            raise TargetError(f"`environments` holds a {type(made).__name__}, which is no gradus.serve.Environment")
        found.append(made)
    if not found:
        raise TargetError(
            f"{module.__name__} defines no environment: a class that derives from gradus.serve.Environment, with an id"
        )
    return found
