"""Reads the pairs of math-verify's tests out of its source package, without importing any of it.

python bench/math/peer_pairs.py FOLDER
"""

import ast
import json
import sys
import tarfile
from pathlib import Path

COLUMNS = {"expected", "result"}


def pairs_of(source: str):
    """Every row of a test that is parametrized by a gold, a prediction and whether they are equal."""
    for node in ast.walk(ast.parse(source)):
        if not (
            isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "parametrize"
        ):
            continue
        try:
            names, rows = (ast.literal_eval(argument) for argument in node.args[:2])
        except ValueError:
            continue
        columns = [name.strip() for name in names.split(",")]
        told = next((columns.index(name) for name in columns if name in COLUMNS), None)
        if "gold" not in columns or "pred" not in columns or told is None:
            continue
        for row in rows:
            yield (
                row[columns.index("gold")],
                row[columns.index("pred")],
                bool(row[told]),
            )


def main() -> None:
    (archive,) = Path(sys.argv[1]).glob("math_verify-*.tar.gz")
    found = []
    with tarfile.open(archive) as tar:
        for member in tar.getmembers():
            name = Path(member.name)
            if name.parent.name == "tests" and name.suffix == ".py":
                source = tar.extractfile(member).read().decode()
                found += [
                    {
                        "gold": gold,
                        "answer": answer,
                        "isEqual": is_equal,
                        "file": name.name,
                    }
                    for gold, answer, is_equal in pairs_of(source)
                ]
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
