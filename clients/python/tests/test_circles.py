"""Test that no imports of the package form a circle, also not those for type checkers or inside functions."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from importlib.util import resolve_name
from pathlib import Path

import pytest

import gradus


def imports_of(root: Path) -> dict[str, set[str]]:
    """Returns a package's modules, with the modules of the package that each imports anywhere."""
    paths = {".".join((root.name, *path.relative_to(root).with_suffix("").parts)): path for path in root.rglob("*.py")}
    modules = {name.removesuffix(".__init__"): path for name, path in paths.items()}
    return {name: set(imported(path, name, modules)) for name, path in modules.items()}


def imported(path: Path, name: str, modules: dict[str, Path]) -> Iterator[str]:
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names if each.name in modules)
        elif isinstance(node, ast.ImportFrom):
            source = resolve_name("." * node.level + (node.module or ""), package)
            if source in modules:
                inner = [f"{source}.{each.name}" for each in node.names]
                yield from (each if each in modules else source for each in inner)


def check(root: Path) -> None:
    TopologicalSorter(imports_of(root)).prepare()


def test_the_package_has_none() -> None:
    root = Path(gradus.__file__).parent
    assert imports_of(root)["gradus.outcomes"] >= {"gradus.errors", "gradus.tasks"}
    check(root)


@pytest.mark.parametrize(
    "closing",
    [
        "import planted.one",
        "from planted.one import something",
        "from planted import one",
        "from ..one import something",
        "from planted import something",
        "def late():\n    from planted.one import something",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from planted.one import something",
    ],
)
def test_a_circle_is_found(tmp_path: Path, closing: str) -> None:
    root = tmp_path / "planted"
    (root / "inner").mkdir(parents=True)
    (root / "__init__.py").write_text("from planted.one import something")
    (root / "one.py").write_text("from planted.inner.two import something")
    (root / "inner" / "__init__.py").write_text("")
    (root / "inner" / "two.py").write_text("import ast")
    check(root)
    (root / "inner" / "two.py").write_text(closing)
    with pytest.raises(CycleError, match=r"planted\.inner\.two"):
        check(root)
