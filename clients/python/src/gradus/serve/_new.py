"""The command `gradus env new`: writes an example environment to a file, for the user to change."""

from __future__ import annotations

import re
import sys
from pathlib import Path

TEMPLATE = '''"""An environment for Gradus: see `gradus env check {file}` and `gradus serve --python {file}`."""

from gradus.serve import Environment


class {name}(Environment):
    """Find the letters of a word in the order of the alphabet."""

    id = "mine/{slug}"
    levels = {{"short": {{"letters": 4}}, "long": {{"letters": 12}}}}

    def generate(self, rng, letters):
        return "".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=letters))

    def prompt(self, instance):
        return f"Sort the letters of {{instance}} alphabetically."

    def verify(self, instance, answer):
        return answer.strip() == self.reference(instance)

    def reference(self, instance):
        return "".join(sorted(instance))
'''


def new(file: str) -> int:
    """Writes an example environment to a file, unless the file exists. Returns the exit status."""
    path = Path(file)
    if path.suffix != ".py":
        print(f"gradus: {file}: a Python file's name ends with .py", file=sys.stderr)
        return 2
    words = re.findall(r"[a-z0-9]+", path.stem.lower())
    if not words or not path.stem.isidentifier():
        print(f"gradus: {file}: a module's name is letters, digits and underscores", file=sys.stderr)
        return 2
    text = TEMPLATE.format(file=file, name="".join(word.capitalize() for word in words), slug="-".join(words))
    try:
        with path.open("x", encoding="utf-8") as out:
            out.write(text)
    except FileExistsError:
        print(f"gradus: {file} exists already, and is not changed", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"gradus: {file} cannot be written: {error.strerror}", file=sys.stderr)
        return 1
    print(f"{file} is an environment: change it, then\n  gradus env check {file}\n  gradus serve --python {file}")
    return 0
