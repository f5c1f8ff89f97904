"""Imports the modules that programs use, before any program runs, so that forked processes have them."""

import contextlib
import importlib

# Modules that the programs of tests import. Importing a loaded module costs nothing.
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

# Extension modules that need libraries outside Python's folders, which programs cannot reach later.
EXTENSIONS = ["_bz2", "_lzma", "_sqlite3", "_ssl", "pyexpat"]


def import_ahead() -> None:
    """Imports all modules of IMPORTS and EXTENSIONS that this Python has."""
    for name in IMPORTS + EXTENSIONS:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
