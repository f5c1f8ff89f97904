"""One core for two worlds: code that waits, and asyncio.

What a client does is written once, as generators ("operations") that do no I/O of their own: they ask an `Io` for it
and yield what it gives. The blocking Io does the work at once and gives the result; asyncio's gives an awaitable. The
runners here send results back into the operation, which so cannot tell the two apart. docs/decisions/0018 has the why.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Generator, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

from gradus._arguments import check_options, option_names

if TYPE_CHECKING:
    from typing import Concatenate

    from typing_extensions import ParamSpec

    P = ParamSpec("P")

T = TypeVar("T")
C = TypeVar("C")
C_co = TypeVar("C_co", covariant=True)
X = TypeVar("X")
R = TypeVar("R")

Op: TypeAlias = Generator[Any, Any, T]
"""An operation that comes to a T. What it yields is sent back to it, awaited where it has to be."""


@dataclass(slots=True)
class Item(Generic[T]):
    """What an operation yields to its caller, rather than to be waited for."""

    value: T


Each: TypeAlias = Generator[Item[T], Any, None]
"""An operation that gives T after T."""


class Handle(Generic[C_co]):
    """What users hold: an object whose methods are operations of its core, each run in its own way."""

    _core: C_co

    def __init__(self, core: C_co) -> None:
        self._core = core


def run(op: Op[T]) -> T:
    """Carries an operation of a blocking Io out."""
    sent: Any = None
    try:
        while True:
            sent = op.send(sent)
    except StopIteration as done:
        result: T = done.value
        return result


def run_each(op: Each[T]) -> Generator[T, None, None]:
    """Gives what an operation of a blocking Io gives."""
    sent: Any = None
    try:
        while True:
            try:
                step = op.send(sent)
            except StopIteration:
                return
            sent = None
            if isinstance(step, Item):
                yield step.value
            else:
                sent = step
    finally:
        op.close()


async def arun(op: Op[T]) -> T:
    """Carries an operation of asyncio's Io out."""
    try:
        step = op.send(None)
        while True:
            try:
                value = await step
            except BaseException as error:  # The operation decides what a failure, or being cancelled, means.
                step = op.throw(error)
            else:
                step = op.send(value)
    except StopIteration as done:
        result: T = done.value
        return result


async def arun_each(op: Each[T]) -> AsyncGenerator[T, None]:
    """Gives what an operation of asyncio's Io gives."""
    sent: Any = None
    failure: BaseException | None = None
    try:
        while True:
            try:
                step = op.send(sent) if failure is None else op.throw(failure)
            except StopIteration:
                return
            sent = failure = None
            if isinstance(step, Item):
                yield step.value
                continue
            try:
                sent = await step
            except BaseException as error:
                failure = error
    finally:
        op.close()


def blocking(method: Callable[Concatenate[C, P], Op[T]]) -> Callable[Concatenate[Handle[C], P], T]:
    """A method that waits for the operation's result."""
    return _method(method, run, "{}")


def awaiting(
    method: Callable[Concatenate[C, P], Op[T]],
) -> Callable[Concatenate[Handle[C], P], Coroutine[Any, Any, T]]:
    """A method that gives a coroutine of the operation's result."""
    return _method(method, arun, "Coroutine[Any, Any, {}]")


def blocking_each(method: Callable[Concatenate[C, P], Each[T]]) -> Callable[Concatenate[Handle[C], P], Iterator[T]]:
    """A method that gives an iterator over what the operation gives."""
    return _method(method, run_each, "Iterator[{}]")


def awaiting_each(
    method: Callable[Concatenate[C, P], Each[T]],
) -> Callable[Concatenate[Handle[C], P], AsyncIterator[T]]:
    """A method that gives an asynchronous iterator over what the operation gives."""
    return _method(method, arun_each, "AsyncIterator[{}]")


def _method(
    method: Callable[Concatenate[C, P], X], runner: Callable[[X], R], returns: str
) -> Callable[Concatenate[Handle[C], P], R]:
    names = option_names(method)
    name = method.__name__

    @functools.wraps(method)
    def call(self: Handle[C], /, *arguments: P.args, **options: P.kwargs) -> R:
        if not options.keys() <= names:
            check_options(name, options, names)
        return runner(method(self._core, *arguments, **options))

    # What help() and notebooks show: what this gives, not the operation.
    signature = inspect.signature(method)
    given = str(signature.return_annotation).removeprefix("Op[").removeprefix("Each[").removesuffix("]")
    call.__dict__["__signature__"] = signature.replace(return_annotation=returns.format(given))
    return call
