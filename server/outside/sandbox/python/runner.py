"""Runs a program, as a script or by calling its functions, and returns the outcome as JSON.

The program can change anything in this process, since it shares the interpreter. That does no harm: expected values are
kept elsewhere, so it can only change its own result.

Results contain plain values of builtin types only. A value counts as one if `type(value)` is the builtin type, which no
class can override.
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

# Largest int that JavaScript numbers hold exactly.
SAFE = 2**53 - 1
# Limits on each value of a result, equal to those in ROOM in envs/ports.ts. A test whose expected value exceeds them is
# refused.
INT_BITS_MAX = 332_193
DEPTH_MAX = 100
# Limits on a whole result with all its parts.
PARTS_MAX = 250_000
CHARACTERS_MAX = 1024**2
ERROR_CHARACTERS_MAX = 500
NAME_CHARACTERS_MAX = 100
NAMES_MAX = 50

# Copy of the builtins from before any program could change them.
BUILTINS = dict(vars(builtins))
# Names of the builtin types, by id of the type. A type may have several names: IOError is OSError.
TYPE_NAMES: dict[int, list[str]] = {}
for builtin_name, builtin in BUILTINS.items():
    if isinstance(builtin, type):
        TYPE_NAMES.setdefault(id(builtin), []).append(builtin_name)

LETTERS = {tuple: "t", set: "s", frozenset: "z"}
# Dict-like types that correct programs return, and that Python compares equal to dicts.
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
    """Raised if a value is too large to be sent."""


def encode(value: Any) -> Any:
    """Encodes a value as JSON, in the form that envs/lib/python-values.ts reads.

    Small ints become numbers and lists become lists. A value of another type becomes an object, whose key is a letter
    for the type.
    """
    return Encoder().value(value, 0)


class Encoder:
    """Encodes one value, and refuses it if it becomes too large."""

    def __init__(self) -> None:
        self._parts_left = PARTS_MAX
        self._characters_left = CHARACTERS_MAX

    def value(self, value: Any, depth: int) -> Any:
        """Returns the encoded form of a value with all its parts. `depth` is the nesting depth so far."""
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
    """Returns the name of a type. It may be any text, because a program names its own types."""
    name = type.__dict__["__name__"].__get__(kind)
    return name[:NAME_CHARACTERS_MAX] if type(name) is str else "?"


def bases_of(kind: type) -> list[str]:
    """Returns the names of a type and its base classes. Leaves out a program's own class with the name of a builtin."""
    names: list[str] = []
    for base in type.__dict__["__mro__"].__get__(kind):
        name = name_of(base)
        names += TYPE_NAMES.get(id(base), [] if name in BUILTINS else [name])
    return names


def seen(view: Any, value: Any) -> Any:
    """Applies a function that a test names, e.g. `len`, to a value (View in envs/ports.ts)."""
    if view == "bases":
        return [name for name in bases_of(type(value)) if name in BUILTINS]
    if type(view) is dict:
        return BUILTINS["round"](value, view["round"])
    return BUILTINS[view](value)


def decode(value: Any) -> Any:
    """Decodes a PyValue of envs/ports.ts into a Python value."""
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
    """Returns the result of a test case as JSON in UTF-8."""
    told = {kind: value, **more}
    try:
        return to_json(told).encode()
    except UnicodeEncodeError:
        # UTF-8 cannot encode half of a surrogate pair, so the whole text is written in ASCII with escapes.
        return to_ascii(told).encode()


def reply_of(error: BaseException) -> bytes:
    """Returns the reply for a program that raised an exception."""
    if isinstance(error, MemoryError):
        return reply("exceeded", "memory")
    if isinstance(error, TooLargeError):
        return reply("exceeded", str(error))
    return reply("raised", describe(error), names=bases_of(type(error))[:NAMES_MAX])


def describe(error: BaseException) -> str:
    """Describes an error in one line: its type, its message, and the program's line where it was raised."""
    try:
        lines = "".join(traceback.format_exception_only(type(error), error)).strip().splitlines()
        # An error message may have several lines, followed by notes. The text of a syntax error begins with its
        # location.
        line = lines[-1 if isinstance(error, SyntaxError) else 0] if lines else name_of(type(error))
        if isinstance(error, ModuleNotFoundError):
            line += ": there is Python's standard library, and nothing else"
        text = line[:ERROR_CHARACTERS_MAX]
        places = [number for frame, number in traceback.walk_tb(error.__traceback__) if is_program(frame)]
        at = places[-1] if places else error.lineno if isinstance(error, SyntaxError) else None
        return f"{text} (line {at})" if at is not None else text
    except BaseException:  # Methods that the program defines may raise any exception.
        return name_of(type(error))


def is_program(frame: types.FrameType) -> bool:
    """Returns whether a stack frame belongs to the program and not to a library."""
    return frame.f_code.co_filename == PROGRAM


def load(program: str, name: str) -> types.ModuleType:
    """Runs a program as the module `name`, and returns the module."""
    module = types.ModuleType(name)
    sys.modules[name] = module
    module.__dict__["__builtins__"] = builtins
    module.__dict__["__file__"] = PROGRAM
    exec(compile(program, PROGRAM, "exec", dont_inherit=True), module.__dict__)
    return module


def prepare() -> None:
    """Sets up what each program expects at its start: a fresh random seed, empty arguments, and standard streams."""
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
        # Python's own streams have these attributes. Code for fast input, common in contests, reads them.
        stream.mode = "r" if name == "stdin" else "w"
        stream.buffer.raw.name = f"<{name}>"
        setattr(sys, f"__{name}__", stream)


def flush(stream: Any) -> None:
    """Flushes a stream as Python does at exit. Does nothing if the program has closed or removed the stream."""
    if stream is not None and not stream.closed:
        stream.flush()


def run_script(program: str) -> tuple[int, bytes | None]:
    """Runs a program to its end as Python does: waits for threads, calls exit functions, flushes output.

    Returns the exit status, and the reply to send in addition; None if there is none.
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
        # Some objects write when they are destroyed, e.g. a file that was never closed.
        sys.modules.pop("__main__").__dict__.clear()
        gc.collect()
        flush(output)
    except BaseException as error:
        status, told = 1, told or reply_of(error)
    if status is None or isinstance(status, int):
        return int.__and__(status or 0, 0xFF), told
    return 1, told or reply("raised", f"SystemExit: {str(status)[:ERROR_CHARACTERS_MAX]}")


class Module:
    """A program that is loaded as a module, so that its functions can be called, test case by test case."""

    def __init__(self, program: str) -> None:
        self._failed: bytes | None = None
        self._module = types.ModuleType("solution")
        try:
            self._module = load(program, "solution")
        except BaseException as error:
            self._failed = unusable(error)

    def call(self, case: dict[str, Any]) -> bytes:
        """Calls a function of the program. Returns the reply with its value, or with the reason why there is none."""
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
    """Returns the reply for a program that cannot be called, e.g. because it fails at import.

    The failure does not count as an exception of the call, even if the test expects that exception.
    """
    return reply_of(error) if isinstance(error, MemoryError) else reply("unusable", f"raised {describe(error)}")


def write_all(descriptor: int, data: bytes) -> None:
    """Writes all bytes to a file descriptor."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
