"""Runners of operations: one core for blocking code and for asyncio.

An operation is a generator without I/O of its own: it asks an `Io`, and yields what the Io returns. The blocking Io
returns a result, and asyncio's an awaitable. The runners here send results back into the operation, so the operation is
the same in both cases. docs/decisions/0018 has the reasons.
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
"""An operation with a result of type T. The runner awaits each yielded value if necessary, and sends it back."""


@dataclass(slots=True)
class Item(Generic[T]):
    """A value that an operation yields for its caller. The runner passes it on, and does not await it."""

    value: T


Each: TypeAlias = Generator[Item[T], Any, None]
"""An operation that yields values of type T."""


class Handle(Generic[C_co]):
    """Base class of `Client`, `Run` and `Evaluation`.

    Their methods run operations of `core`, blocking or in asyncio.
    """

    _core: C_co

    def __init__(self, core: C_co) -> None:
        self._core = core


def run(op: Op[T]) -> T:
    """Runs an operation of a blocking Io and returns its result."""
    sent: Any = None
    try:
        while True:
            sent = op.send(sent)
    except StopIteration as done:
        result: T = done.value
        return result


def run_each(op: Each[T]) -> Generator[T, None, None]:
    """Yields the values of an operation of a blocking Io."""
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
    """Runs an operation of asyncio's Io and returns its result."""
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
    """Yields the values of an operation of asyncio's Io."""
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
    """Returns a method that waits for the operation's result."""
    return _method(method, run, "{}")


def awaiting(
    method: Callable[Concatenate[C, P], Op[T]],
) -> Callable[Concatenate[Handle[C], P], Coroutine[Any, Any, T]]:
    """Returns a method that returns a coroutine of the operation's result."""
    return _method(method, arun, "Coroutine[Any, Any, {}]")


def blocking_each(method: Callable[Concatenate[C, P], Each[T]]) -> Callable[Concatenate[Handle[C], P], Iterator[T]]:
    """Returns a method that returns an iterator over the operation's values."""
    return _method(method, run_each, "Iterator[{}]")


def awaiting_each(
    method: Callable[Concatenate[C, P], Each[T]],
) -> Callable[Concatenate[Handle[C], P], AsyncIterator[T]]:
    """Returns a method that returns an asynchronous iterator over the operation's values."""
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

    # Make help() and notebooks show the type that the method returns, in place of the operation's generator type.
    signature = inspect.signature(method)
    given = str(signature.return_annotation).removeprefix("Op[").removeprefix("Each[").removesuffix("]")
    call.__dict__["__signature__"] = signature.replace(return_annotation=returns.format(given))
    return call
