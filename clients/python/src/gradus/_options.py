"""Options of calls, and what is said of those that are misspelled."""

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
    """What every call takes, in place of its client's own.

    `timeout`: seconds that the call may take in all, every try included. `retries`: how often it is made again at
    most; None: as often as its time allows, and four times where no server has ever answered.
    """

    timeout: float | None
    retries: int | None


_SECONDS_MAX = 366 * 24 * 3600.0
"""What a call may take at most; gRPC and threads take no time-out without an end."""


def limits_of(timeout: float, retries: int | None) -> tuple[float, int | None]:
    """The time-out and the retries of a call; raises TypeError or ValueError for what is none."""
    check_seconds(timeout, "timeout")
    if not timeout > 0:
        raise ValueError(f"timeout: want seconds above 0; got {timeout!r}")
    if retries is not None and not is_whole(retries):
        raise TypeError(f"retries: want a whole number, or None; got {type(retries).__name__} {retries!r}")
    if retries is not None and retries < 0:
        raise ValueError(f"retries: want 0 or more, or None; got {retries}")
    return min(float(timeout), _SECONDS_MAX), retries


def check_seconds(seconds: float, place: str) -> None:
    """Raises TypeError for what is no number."""
    if isinstance(seconds, bool) or not isinstance(seconds, Real):
        raise TypeError(f"{place}: want a number of seconds; got {type(seconds).__name__} {seconds!r}")


def is_whole(value: Any) -> bool:
    """Whether it is a whole number, numpy's too; True and False are none."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def call_options(given: Mapping[str, Any]) -> CallOptions:
    """Those of the options that every call takes."""
    options: CallOptions = {}
    if "timeout" in given:
        options["timeout"] = given["timeout"]
    if "retries" in given:
        options["retries"] = given["retries"]
    return options


def suggestion(name: str, known: Iterable[str]) -> str:
    """What to say of a name that is not known: the nearest that is, or all there are."""
    names = sorted(known)
    near = get_close_matches(name, names, n=1) or [each for each in names if name in each.split("_")]
    return f"; did you mean {near[0]!r}?" if near else f"; there are {', '.join(names)}"


def option_names(function: Callable[..., Any]) -> frozenset[str]:
    """The keywords that a function takes, those of an unpacked TypedDict included."""
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
    """Raises TypeError for the first option that is not known: it is a mistake, and not to be passed over."""
    for name in given:
        if name not in known:
            raise TypeError(f"{function}() has no option {name!r}{suggestion(name, known)}")


def suggesting(function: Callable[P, T]) -> Callable[P, T]:
    """The function, with a TypeError that suggests the nearest name where an option is misspelled."""
    names = option_names(function)

    @functools.wraps(function)
    def call(*arguments: P.args, **options: P.kwargs) -> T:
        if not options.keys() <= names:
            check_options(function.__name__.replace("__init__", "Client"), options, names)
        return function(*arguments, **options)

    return call
