"""Imports the modules that programs often use, before any program runs.

The processes that are later forked for programs have these modules already.
"""

import contextlib
import importlib

# Modules that tests and solutions of public data sets import. If a program imports one of them, it is loaded already.
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

# Extension modules whose shared libraries lie outside Python's folders. An isolated program could not read these
# libraries.
EXTENSIONS = ["_bz2", "_lzma", "_sqlite3", "_ssl", "pyexpat"]


def import_ahead() -> None:
    """Imports all modules of IMPORTS and EXTENSIONS that are installed."""
    for name in IMPORTS + EXTENSIONS:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
