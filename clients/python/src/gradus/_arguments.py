"""Checks of the arguments of calls: options, numbers, texts and lists; and the texts of their errors."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar

if TYPE_CHECKING:
    from typing_extensions import ParamSpec

    P = ParamSpec("P")

T = TypeVar("T")


class CallOptions(TypedDict, total=False):
    """Options of every call, in place of the client's own.

    `timeout`: maximum duration of the call in seconds, all tries included. `retries`: maximum number of retries. None:
    as many as the timeout allows, or four if no server has ever answered.
    """

    timeout: float | None
    retries: int | None


_SECONDS_MAX = 366 * 24 * 3600.0
"""Maximum timeout in seconds. gRPC and threads accept no infinite timeout."""


def limits_of(timeout: float, retries: int | None) -> tuple[float, int | None]:
    """Returns the timeout and the retries of a call; raises TypeError or ValueError for invalid ones."""
    check_seconds(timeout, "timeout")
    if not timeout > 0:
        raise ValueError(f"timeout: want seconds above 0; got {timeout!r}")
    if retries is not None and not is_whole(retries):
        raise TypeError(f"retries: want a whole number, or None; got {type(retries).__name__} {retries!r}")
    if retries is not None and retries < 0:
        raise ValueError(f"retries: want 0 or more, or None; got {retries}")
    return min(float(timeout), _SECONDS_MAX), retries


def check_seconds(seconds: float, place: str) -> None:
    """Raises TypeError unless the value is a number."""
    if isinstance(seconds, bool) or not isinstance(seconds, Real):
        raise TypeError(f"{place}: want a number of seconds; got {type(seconds).__name__} {seconds!r}")


def channel_options(options: Any) -> tuple[tuple[str, Any], ...]:
    """Converts a client's `options` to channel arguments of gRPC.

    Raises TypeError, with the remedy, unless `options` are a mapping or a list of pairs of name and value.
    """
    pairs = listed(options, tuple, "options") if not isinstance(options, Mapping) else list(options.items())
    for pair in pairs:
        if not isinstance(pair, (tuple, list)) or len(pair) != _PAIR or not isinstance(pair[0], str):
            wanted = 'want (name, value) each, as ("grpc.max_reconnect_backoff_ms", 1000)'
            raise TypeError(f"options: {wanted}; got {shown(pair)}")
        if not isinstance(pair[1], (int, str, bytes)):
            raise TypeError(f"options: {pair[0]} takes a whole number or a text; got {shown(pair[1])}")
    return tuple((name, value) for name, value in pairs)


_PAIR = 2


def is_whole(value: Any) -> bool:
    """Returns whether a value is an integer, of Python or numpy. Booleans do not count as integers."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def call_options(given: Mapping[str, Any]) -> CallOptions:
    """Returns `timeout` and `retries`, which every call takes, and leaves out all other options."""
    options: CallOptions = {}
    if "timeout" in given:
        options["timeout"] = given["timeout"]
    if "retries" in given:
        options["retries"] = given["retries"]
    return options


def suggestion(name: str, known: Iterable[str]) -> str:
    """Returns the end of an error about an unknown name: the nearest known name, or all known ones."""
    names = sorted(known)
    near = get_close_matches(name, names, n=1) or [each for each in names if name in each.split("_")]
    return f"; did you mean {near[0]!r}?" if near else f"; there are {', '.join(names)}"


def option_names(function: Callable[..., Any]) -> frozenset[str]:
    """Returns the keywords that a function takes, including those of an unpacked TypedDict."""
    names: set[str] = set()
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is parameter.VAR_KEYWORD:
            unpacked = re.fullmatch(r"Unpack\[(\w+)\]", str(parameter.annotation))
            if unpacked is None:
                raise TypeError(f"{function.__qualname__}: want **options as Unpack[a TypedDict]")
            names |= function.__globals__[unpacked[1]].__annotations__.keys()
        elif parameter.kind is not parameter.VAR_POSITIONAL:
            names.add(parameter.name)
    return frozenset(names - {"self"})


def check_options(function: str, given: Iterable[str], known: frozenset[str]) -> None:
    """Raises TypeError for the first unknown option."""
    for name in given:
        if name not in known:
            raise TypeError(f"{function}() has no option {name!r}{suggestion(name, known)}")


def suggesting(function: Callable[P, T]) -> Callable[P, T]:
    """Wraps a function so that a misspelled option raises a TypeError which suggests the nearest name."""
    names = option_names(function)

    @functools.wraps(function)
    def call(*arguments: P.args, **options: P.kwargs) -> T:
        if not options.keys() <= names:
            check_options(function.__name__.replace("__init__", "Client"), options, names)
        return function(*arguments, **options)

    return call


def check_text(text: str, place: str) -> str:
    """Returns the text; raises TypeError for anything else.

    protobuf would read None as an empty text, and bytes as a text.
    """
    if isinstance(text, str):
        return text
    remedy = {
        "NoneType": "; leave out samples without a text, because an empty text is scored",
        "bytes": "; decode it",
        "list": "; Task.group takes several completions of a task",
    }.get(type(text).__name__, "")
    raise TypeError(f"{place}: want what the policy wrote, as str; got {shown(text)}{remedy}")


def check_index(given: int) -> int:
    """Returns the index of a sample; raises TypeError for None.

    protobuf would read None as 0, which is another sample.
    """
    if given is None:
        raise TypeError("sample_index: want a whole number from 0; got NoneType")
    return given


def check_id(given: str, place: str) -> str:
    """Returns the id; raises TypeError for anything else, because protobuf would read None as an empty id."""
    if isinstance(given, str):
        return given
    raise TypeError(f"{place}: want it as str; got {shown(given)}")


def listed(values: Any, kind: Any, place: str) -> list[Any]:
    """Returns the values of an iterable as a list.

    Raises TypeError for values that are not iterable, and for a str, bytes, a mapping or a set.
    """
    if isinstance(values, Iterable) and not isinstance(values, (str, bytes, Mapping, set, frozenset)):
        return list(values)
    alone = "; write [it], even if it is the only one" if isinstance(kind, type) and isinstance(values, kind) else ""
    raise TypeError(f"{place}: want a list, each {made_by(kind)}; got {shown(values)}{alone}")


def shown(value: Any) -> str:
    """Returns the type and the text of a value for an error message, cut at 80 characters."""
    text = repr(value)
    return f"{type(value).__name__} {text if len(text) <= _SHOWN_MAX else text[:_SHOWN_MAX] + '…'}"


_SHOWN_MAX = 80

_MAKERS = {
    "Arm": "gradus.arm",
    "BatchConstraints": "gradus.constraints",
    "CompletionGroup": "Task.group",
    "Domain": "gradus.domain",
    "EvaluationArm": "gradus.evaluation_arm",
    "Policy": "gradus.mixture, gradus.bandit and the others of gradus.policies",
    "SignalRescale": "gradus.signal_rescale",
    "Stage": "gradus.stage",
    "TaskFilter": "gradus.task_filter",
    "TaskSpec": "gradus.task_spec",
}


def made_by(kind: Any) -> str:
    """Returns the name of a type for an error message, with the function that makes such values, e.g. `gradus.arm`."""
    name = getattr(kind, "__name__", str(kind))
    made = f", as {_MAKERS[name]} makes" if name in _MAKERS else ""
    return f"{'an' if name[0] in 'AEIO' else 'a'} {name}{made}"
