"""Each snippet of the README runs as it stands, against a server of the tests."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from conftest import ROOT, Server

README = ROOT / "clients/python/README.md"
SNIPPETS = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)


def test_there_are_snippets() -> None:
    assert SNIPPETS


@pytest.mark.parametrize("snippet", SNIPPETS, ids=range(len(SNIPPETS)))
def test_the_snippet_runs(snippet: str, server: Server) -> None:
    program = snippet.replace("localhost:50051", server.address)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
