"""Imports the modules that programs often use, before any program runs.

The processes forked for programs then have them.
"""

import contextlib
import importlib

# Modules that tests and solutions of public data sets import. A program that imports a loaded module waits for nothing.
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

# Extension modules that load libraries from outside Python's folders, which an isolated program cannot read.
EXTENSIONS = ["_bz2", "_lzma", "_sqlite3", "_ssl", "pyexpat"]


def import_ahead() -> None:
    """Imports all modules of IMPORTS and EXTENSIONS that are installed."""
    for name in IMPORTS + EXTENSIONS:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
