"""Test that `import gradus` imports no trainer, and an adapter only its own."""

from __future__ import annotations

import subprocess
import sys

import pytest

TRAINERS = ("datasets", "gymnasium", "slime", "torch", "transformers", "trl", "verifiers", "verl")


@pytest.mark.parametrize(
    ("module", "allowed"),
    [
        ("gradus", set()),
        ("gradus.training", set()),
        ("gradus.gymnasium", {"gymnasium"}),
        ("gradus.verl", {"torch"}),
    ],
)
def test_only_what_is_wanted_is_imported(module: str, allowed: set[str]) -> None:
    program = f"import sys, {module}; print(*(name for name in {TRAINERS!r} if name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=True)
    assert set(done.stdout.split()) == allowed
