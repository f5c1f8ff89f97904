"""Imports what programs import, before any of them runs: a process that is forked has it already."""

import contextlib
import importlib

# What tests' programs import. It costs nothing where it is there already.
IMPORTS = [
    "abc",
    "array",
    "ast",
    "base64",
    "binascii",
    "bisect",
    "calendar",
    "cmath",
    "collections",
    "collections.abc",
    "contextlib",
    "copy",
    "csv",
    "dataclasses",
    "datetime",
    "decimal",
    "difflib",
    "enum",
    "fractions",
    "functools",
    "graphlib",
    "hashlib",
    "heapq",
    "inspect",
    "io",
    "itertools",
    "json",
    "keyword",
    "locale",
    "math",
    "numbers",
    "operator",
    "os",
    "pprint",
    "queue",
    "random",
    "re",
    "secrets",
    "statistics",
    "string",
    "struct",
    "sys",
    "textwrap",
    "threading",
    "time",
    "timeit",
    "traceback",
    "types",
    "typing",
    "unicodedata",
    "uuid",
    "warnings",
    "weakref",
    "zlib",
    "_strptime",
    "encodings.ascii",
    "encodings.latin_1",
    "encodings.utf_8",
    "encodings.utf_16",
    "encodings.idna",
]

# The parts of others that need libraries from outside of Python's folders, which are out of reach later.
EXTENSIONS = ["_bz2", "_lzma", "_sqlite3", "_ssl", "pyexpat"]


def import_ahead() -> None:
    """The libraries."""
    for name in IMPORTS + EXTENSIONS:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
