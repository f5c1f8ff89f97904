"""Verifies answers to an instance within a limit of processor time."""

from __future__ import annotations

import signal
from collections.abc import Callable

from gradus.serve._served import Served, failure_of
from gradus.v1 import provider_pb2 as pb

Find = Callable[[str], "pb.ProvidedFacts | pb.ProviderFailure"]


def verifier(served: Served, instance: bytes) -> Find:
    """Returns a function that verifies the text of an answer to the instance.

    That function returns failures of the environment as messages. It raises only MemoryError, which ends the worker's
    process (run_worker).
    """
    try:
        verify = served.verifier(instance)
    except BaseException as error:
        failure = failure_of(error)
        return lambda _: failure

    def find(text: str) -> pb.ProvidedFacts | pb.ProviderFailure:
        try:
            return verify(text)
        except BaseException as error:
            return failure_of(error)

    return find


class Limit:
    """A limit of processor time for the work inside of a `with` block.

    Work beyond the limit ends the process by SIGPROF, which nothing here handles.
    """

    def __init__(self, own_seconds: float, server_ms: int) -> None:
        limits = [seconds for seconds in (own_seconds, server_ms / 1000) if seconds > 0]
        self.seconds = min(limits, default=0.0)

    def begin(self, more_seconds: float = 0) -> None:
        """Restarts the limit, with `more_seconds` added."""
        signal.setitimer(signal.ITIMER_PROF, self.seconds and self.seconds + more_seconds)

    def __enter__(self) -> None:
        """Starts the limit."""
        self.begin()

    def __exit__(self, *_: object) -> None:
        """Removes the limit."""
        signal.setitimer(signal.ITIMER_PROF, 0)
