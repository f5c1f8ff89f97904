"""Runs a program, as a script or by calling what it defines, and writes what comes of it as JSON.

A program shares the interpreter with this file, and can change anything in it. That is no harm: what is expected of it
is known elsewhere, so that all it can do is to give another answer. Values are sent, never objects: only what is of
exactly a builtin type, told by `type`, which no class can override.
"""

import atexit
import builtins
import collections
import gc
import io
import json
import os
import random
import sys
import threading
import traceback
import types
from collections.abc import Callable
from typing import Any

PROGRAM = "program.py"

# All ints up to here are whole numbers in JavaScript too.
SAFE = 2**53 - 1
# The same as of ROOM in envs/ports.ts, by which tests are refused that nothing could pass.
INT_BITS_MAX = 332_193
DEPTH_MAX = 100
# Of a whole value.
PARTS_MAX = 250_000
CHARACTERS_MAX = 1024**2
ERROR_CHARACTERS_MAX = 500
NAME_CHARACTERS_MAX = 100
NAMES_MAX = 50

# Kept from before a program can have changed them.
BUILTINS = dict(vars(builtins))
# The names of builtin types; IOError is OSError too.
TYPE_NAMES: dict[int, list[str]] = {}
for builtin_name, builtin in BUILTINS.items():
    if isinstance(builtin, type):
        TYPE_NAMES.setdefault(id(builtin), []).append(builtin_name)

LETTERS = {tuple: "t", set: "s", frozenset: "z"}
# Right programs return them, and Python calls them equal to dicts.
DICT_TYPES = (
    dict,
    collections.defaultdict,
    collections.OrderedDict,
    collections.Counter,
)

to_json = json.JSONEncoder(ensure_ascii=False, check_circular=False, allow_nan=False, separators=(",", ":")).encode
from_json = json.JSONDecoder().decode
to_ascii = json.JSONEncoder(ensure_ascii=True, check_circular=False, allow_nan=False, separators=(",", ":")).encode


class TooLargeError(Exception):
    """A value that is not sent."""


def encode(value: Any) -> Any:
    """A value as JSON: small ints as numbers, lists as lists, and the rest of PyValue by one letter."""
    return Encoder().value(value, 0)


class Encoder:
    """One value, of limited size."""

    def __init__(self) -> None:
        self._parts_left = PARTS_MAX
        self._characters_left = CHARACTERS_MAX

    def value(self, value: Any, depth: int) -> Any:
        """It, with all that is in it."""
        self._parts_left -= 1
        if self._parts_left < 0:
            raise TooLargeError(f"more than {PARTS_MAX:,} parts of a result")
        kind = type(value)
        if value is None or kind is bool:
            return value
        if kind is int:
            return value if -SAFE <= value <= SAFE else {"i": self._text(self._hex(value))}
        if kind is str:
            return self._text(value)
        if kind is float:
            return {"f": repr(value)}
        if kind is bytes:
            return {"b": self._text(value.decode("latin-1"))}
        return self._container(kind, value, depth)

    def _container(self, kind: type, value: Any, depth: int) -> Any:
        if depth >= DEPTH_MAX:
            raise TooLargeError(f"more than {DEPTH_MAX} levels of a result")
        if kind is list:
            return [self.value(item, depth + 1) for item in value]
        if kind in LETTERS:
            return {LETTERS[kind]: [self.value(item, depth + 1) for item in value]}
        if kind in DICT_TYPES:
            pairs = dict.items(value)
            return {"d": [[self.value(key, depth + 1), self.value(item, depth + 1)] for key, item in pairs]}
        return {"o": name_of(kind)}

    def _hex(self, value: int) -> str:
        if value.bit_length() > INT_BITS_MAX:
            raise TooLargeError(f"more than {INT_BITS_MAX:,} bits of an int")
        return hex(value)

    def _text(self, text: str) -> str:
        self._characters_left -= len(text)
        if self._characters_left < 0:
            raise TooLargeError(f"more than {CHARACTERS_MAX:,} characters of a result")
        return text


def name_of(kind: type) -> str:
    """The name of a type, which a program may have chosen."""
    name = type.__dict__["__name__"].__get__(kind)
    return name[:NAME_CHARACTERS_MAX] if type(name) is str else "?"


def bases_of(kind: type) -> list[str]:
    """The names of a type and of what it inherits from. Only a builtin goes by a builtin's name."""
    names: list[str] = []
    for base in type.__dict__["__mro__"].__get__(kind):
        name = name_of(base)
        names += TYPE_NAMES.get(id(base), [] if name in BUILTINS else [name])
    return names


def seen(view: Any, value: Any) -> Any:
    """What a test looks at in place of the value (View in envs/ports.ts)."""
    if view == "bases":
        return [name for name in bases_of(type(value)) if name in BUILTINS]
    if type(view) is dict:
        return BUILTINS["round"](value, view["round"])
    return BUILTINS[view](value)


def decode(value: Any) -> Any:
    """A PyValue of the contract between Gradus and its environments (envs/ports.ts)."""
    if isinstance(value, list):
        return [decode(item) for item in value]
    if not isinstance(value, dict):
        return value
    ((tag, inside),) = value.items()
    if tag in MAKERS:
        return MAKERS[tag](inside)
    if tag == "dict":
        return {decode(key): decode(item) for key, item in inside}
    return {"tuple": tuple, "set": set, "frozenset": frozenset}[tag](decode(inside))


MAKERS: dict[str, Callable[[str], Any]] = {
    "int": int,
    "float": float,
    "bytes": lambda text: text.encode("latin-1"),
}


def reply(kind: str, value: Any, **more: Any) -> bytes:
    """What a case came to, in UTF-8."""
    told = {kind: value, **more}
    try:
        return to_json(told).encode()
    except UnicodeEncodeError:
        # Half of a surrogate pair.
        return to_ascii(told).encode()


def reply_of(error: BaseException) -> bytes:
    """What an exception is told as."""
    if isinstance(error, MemoryError):
        return reply("exceeded", "memory")
    if isinstance(error, TooLargeError):
        return reply("exceeded", str(error))
    return reply("raised", describe(error), names=bases_of(type(error))[:NAMES_MAX])


def describe(error: BaseException) -> str:
    """The last line of what Python would print, and where in the program it was."""
    try:
        lines = "".join(traceback.format_exception_only(type(error), error)).strip().splitlines()
        # A message may have several lines, and notes after it; of a syntax error the place comes first.
        line = lines[-1 if isinstance(error, SyntaxError) else 0] if lines else name_of(type(error))
        if isinstance(error, ModuleNotFoundError):
            line += ": there is Python's standard library, and nothing else"
        text = line[:ERROR_CHARACTERS_MAX]
        places = [number for frame, number in traceback.walk_tb(error.__traceback__) if is_program(frame)]
        at = places[-1] if places else error.lineno if isinstance(error, SyntaxError) else None
        return f"{text} (line {at})" if at is not None else text
    except BaseException:  # what the program defines may fail in any way
        return name_of(type(error))


def is_program(frame: types.FrameType) -> bool:
    """Whether it is the program's, and not a library's."""
    return frame.f_code.co_filename == PROGRAM


def load(program: str, name: str) -> types.ModuleType:
    """Runs a program as the module of that name."""
    module = types.ModuleType(name)
    sys.modules[name] = module
    module.__dict__["__builtins__"] = builtins
    module.__dict__["__file__"] = PROGRAM
    exec(compile(program, PROGRAM, "exec", dont_inherit=True), module.__dict__)
    return module


def prepare() -> None:
    """What each program finds alike: chance, arguments and streams. They are descriptors 0, 1 and 2."""
    random.seed(0)
    sys.argv = [PROGRAM]
    sys.stdin = io.TextIOWrapper(io.BufferedReader(io.FileIO(0, "r", closefd=False)), encoding="utf-8")
    sys.stdout = io.TextIOWrapper(io.BufferedWriter(io.FileIO(1, "w", closefd=False)), encoding="utf-8")
    sys.stderr = io.TextIOWrapper(
        io.BufferedWriter(io.FileIO(2, "w", closefd=False)),
        encoding="utf-8",
        errors="backslashreplace",
    )
    for name in ("stdin", "stdout", "stderr"):
        stream = getattr(sys, name)
        # As Python's own have them, which headers for fast input look at.
        stream.mode = "r" if name == "stdin" else "w"
        stream.buffer.raw.name = f"<{name}>"
        setattr(sys, f"__{name}__", stream)


def flush(stream: Any) -> None:
    """As Python does at its end, where a program may have closed its output, or taken it away."""
    if stream is not None and not stream.closed:
        stream.flush()


def run_script(program: str) -> tuple[int, bytes | None]:
    """Runs a program to its end, as Python does: with its threads, what it registered for the end, its last output.

    Gives the status to exit with, and what is to be told beside that.
    """
    told = None
    status: Any = 0
    output = sys.stdout
    try:
        load(program, "__main__")
    except SystemExit as error:
        status = error.code
    except BaseException as error:
        status, told = 1, reply_of(error)
    try:
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
        flush(sys.stdout)
        # What writes when it goes, such as a file that was never closed.
        sys.modules.pop("__main__").__dict__.clear()
        gc.collect()
        flush(output)
    except BaseException as error:
        status, told = 1, told or reply_of(error)
    if status is None or isinstance(status, int):
        return int.__and__(status or 0, 0xFF), told
    return 1, told or reply("raised", f"SystemExit: {str(status)[:ERROR_CHARACTERS_MAX]}")


class Module:
    """A program whose definitions are called, one case after the other."""

    def __init__(self, program: str) -> None:
        self._failed: bytes | None = None
        self._module = types.ModuleType("solution")
        try:
            self._module = load(program, "solution")
        except BaseException as error:
            self._failed = unusable(error)

    def call(self, case: dict[str, Any]) -> bytes:
        """What a call gives, or why it gives nothing."""
        if self._failed is not None:
            return self._failed
        try:
            target: Any = self._module
            for name in case["name"].split("."):
                owner = target() if isinstance(target, type) else target
                target = getattr(owner, name, MISSING)
                if target is MISSING:
                    return reply("unusable", f"does not define {name}")
        except BaseException as error:
            return unusable(error)
        try:
            args = decode(case["args"])
            kwargs = {name: decode(value) for name, value in case.get("kwargs", [])}
            value = target(*args, **kwargs)
            for view in case.get("views", []):
                value = seen(view, value)
            return reply("value", encode(value))
        except BaseException as error:
            return reply_of(error)


MISSING = object()


def unusable(error: BaseException) -> bytes:
    """What is told where there is nothing to call: no exception of a call, whatever tests expect of one."""
    return reply_of(error) if isinstance(error, MemoryError) else reply("unusable", f"raised {describe(error)}")


def write_all(descriptor: int, data: bytes) -> None:
    """Writes all of it."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
