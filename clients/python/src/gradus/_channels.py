"""Channels, made when they are first used, one for each process and event loop.

A channel that is shared with a forked child, or with a second `asyncio.run`, dies. Clients therefore hold one of
these objects, which may be carried across a fork or between loops, and ask it for a channel at each call.
"""

from __future__ import annotations

import asyncio
import gc
import os
import re
import time
import weakref
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import grpc

from gradus import _fork
from gradus._credentials import Tls
from gradus._tracing import trace_context
from gradus.errors import GradusError

_REPLY_BYTES_MAX = 64 * 1024**2
"""Largest reply, as the server's default for requests."""

_KEEPALIVE_MS = 20_000
_KEEPALIVE_PATIENCE_MS = 10_000
"""A connection that died without a word is found within 30 s, half of a call's time, so that the call can be made
again. Only while there are calls: a client that asks nothing pings nobody. The server takes any number of pings."""

# HTTP/2's window, megabytes on the server's side, is megabytes here by gRPC's own default (test_transport.py).
_OPTIONS: list[tuple[str, Any]] = [
    ("grpc.max_receive_message_length", _REPLY_BYTES_MAX),
    # The server refuses what is too large by its length, before it reads it, and names its limit and the remedy.
    ("grpc.max_send_message_length", -1),
    ("grpc.keepalive_time_ms", _KEEPALIVE_MS),
    ("grpc.keepalive_timeout_ms", _KEEPALIVE_PATIENCE_MS),
    # Without it gRPC's core waits a minute for the answer to a ping, whatever the time-out of keepalive is.
    ("grpc.http2.ping_timeout_ms", _KEEPALIVE_PATIENCE_MS),
    # gRPC would stop after two, while a call waits for what takes long.
    ("grpc.http2.max_pings_without_data", 0),
    # Connections are otherwise shared between the channels of a process, also with those that a fork left behind.
    ("grpc.use_local_subchannel_pool", 1),
    # Calls are made again by this package (_retries.py), which knows which may be, and for how long.
    ("grpc.enable_retries", 0),
    # A server that comes back is found soon: gRPC itself would wait for up to two minutes.
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 5000),
]

_ADDRESS = r"(localhost|127\.\d+\.\d+\.\d+|\[::1\]):\d+"
_LOOPBACK = re.compile(rf"((dns|ipv4|ipv6):(///)?)?{_ADDRESS}(,{_ADDRESS})*", re.IGNORECASE)


@dataclass
class Reached:
    """Whether a server of ours has answered (until then the address or the options may be wrong), and when last.

    `heard_at` is by a monotonic clock.
    """

    yes: bool = False
    heard_at: float = float("-inf")

    def note(self) -> None:
        """A server of ours answers."""
        self.yes = True
        self.heard_at = time.monotonic()


_OF_RUN = re.compile(r"([A-Za-z0-9_.-]{1,128})/")
"""How the id of a group of a run begins; that of a task outside a run has no such part."""


def _run_of(request: Any) -> str | None:
    run: str = getattr(request, "run_id", "")
    if run:
        return run if _OF_RUN.fullmatch(f"{run}/") else None
    groups = getattr(request, "groups", ())
    group: str = getattr(request, "group_id", "") or (getattr(groups[0], "group_id", "") if groups else "")
    found = _OF_RUN.match(group)
    return found and found[1]


@dataclass(frozen=True)
class Address:
    """Where a server is and how to reach it."""

    target: str
    tls: Tls | None
    token: str | None = field(repr=False)
    options: tuple[tuple[str, Any], ...]
    reached: Reached = field(default_factory=Reached)

    @property
    def metadata(self) -> tuple[tuple[str, str], ...]:
        """What a call that begins now carries: the token, and the trace that its caller has going on."""
        token = () if self.token is None else (("authorization", f"Bearer {self.token}"),)
        return (*token, *trace_context())

    def metadata_for(self, request: Any) -> tuple[tuple[str, str], ...]:
        """What a call carries, with the run that it is about.

        A load balancer in front of several servers may send the calls of a run to one of them, which then has it in
        memory. A hint and no more: any server answers any call.
        """
        run = _run_of(request)
        return self.metadata if run is None else (*self.metadata, ("gradus-run", run))

    def is_silent_since(self, began: float, error: GradusError) -> bool:
        """Whether a call that began then ran out of time and no server has said a word meanwhile.

        Its connection may have died without one, and the next call is to have another.
        """
        return error.code is grpc.StatusCode.DEADLINE_EXCEEDED and self.reached.heard_at < began

    @property
    def _options(self) -> list[tuple[str, Any]]:
        # As curl's and Go's clients do not, gRPC would ask the proxy of http_proxy for this very machine.
        direct = {"grpc.enable_http_proxy": 0} if _LOOPBACK.fullmatch(self.target) else {}
        return list({**dict(_OPTIONS), **direct, **dict(self.options)}.items())

    def open(self) -> grpc.Channel:
        """A new channel."""
        options = self._options
        if self.tls is None:
            return grpc.insecure_channel(self.target, options)
        return grpc.secure_channel(self.target, self.tls.credentials(), options)

    def open_aio(self) -> grpc.aio.Channel:
        """A new channel of the running event loop."""
        options = self._options
        if self.tls is None:
            return grpc.aio.insecure_channel(self.target, options)
        return grpc.aio.secure_channel(self.target, self.tls.credentials(), options)


C = TypeVar("C")


_pools: weakref.WeakSet[ChannelPool[Any]] = weakref.WeakSet()


_uncollected = False
"""Whether asyncio channels were made since garbage was last collected before a fork."""


def _before_fork() -> None:
    global _uncollected  # noqa: PLW0603
    busy = [pool for pool in list(_pools) if pool.drop_dead()]
    _fork.spoil("a gradus.aio.Client was open when it forked: close it before" if busy else "")
    if _uncollected and not busy:
        # Channels lie in cycles with their calls, and as long as one lives, gRPC's asyncio thread spoils the fork.
        gc.collect()
        _uncollected = False


# Windows has no fork.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork)


_LEFT_MAX = 16
"""Channels of asyncio that are kept, at most, for calls that may still be on them."""


class ChannelPool(Generic[C]):
    """One channel for each (process, event loop); the loop is None for channels that need none.

    Channels of a parent process stay referenced: to close them here would be to use them here. There is no lock, for a
    fork could leave it locked for ever; threads that race make a channel too many, and it is dropped.
    """

    def __init__(self, open: Callable[[], C]) -> None:
        self._open = open
        self._channels: dict[tuple[int, asyncio.AbstractEventLoop | None], C] = {}
        self._left: list[tuple[tuple[int, asyncio.AbstractEventLoop | None], C]] = []
        _pools.add(self)

    def drop_dead(self) -> bool:
        """Drops channels whose loop is closed. Whether this process has others that belong to a loop."""
        looped = [key for key in [*self._channels, *(key for key, _ in self._left)] if key[1] is not None]
        dead = [(process, loop) for process, loop in looped if loop is not None and loop.is_closed()]
        for key in dead:
            self._channels.pop(key, None)
        self._left = [each for each in self._left if each[0] not in dead]
        return any(key[0] == os.getpid() for key in looped if key not in dead)

    def renew(self, channel: C | None, loop: asyncio.AbstractEventLoop | None = None) -> None:
        """Has the next `get` make another channel, where this one is still in use; calls on it go on."""
        key = (os.getpid(), loop)
        if channel is None or self._channels.get(key) is not channel:
            return
        del self._channels[key]
        if loop is not None:
            # An asyncio channel that nobody refers to closes, and ends its calls.
            self._left = [*self._left[1 - _LEFT_MAX :], (key, channel)]

    def get(self, loop: asyncio.AbstractEventLoop | None = None) -> C:
        """The channel of this process and this loop."""
        global _uncollected  # noqa: PLW0603
        key = (os.getpid(), loop)
        channel = self._channels.get(key)
        if channel is None:
            _fork.enter(key[0])
            self.drop_dead()
            _uncollected = _uncollected or loop is not None
            channel = self._channels.setdefault(key, self._open())
        return channel

    def take(self, loop: asyncio.AbstractEventLoop | None = None) -> C | None:
        """Hands out the channel to be closed, if there is one; the next `get` makes another."""
        key = (os.getpid(), loop)
        self._left = [each for each in self._left if each[0] != key]
        return self._channels.pop(key, None)
