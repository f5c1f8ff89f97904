"""Channels: one for each process and event loop, opened at first use.

A channel that is shared with a forked child, or with a second `asyncio.run`, stops working. A client therefore holds a
`ChannelPool`, which survives a fork or a change of loop, and asks it for a channel at each call.
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
"""Maximum size of a reply in bytes; equal to the server's default for requests."""

_KEEPALIVE_MS = 20_000
_KEEPALIVE_PATIENCE_MS = 10_000
"""Milliseconds without an answer to a ping after which the connection counts as dead.

A connection that died without notice is found within 30 s, half of a call's default timeout, so the call can be
retried. There are pings only while there are calls. The server accepts any number of pings.
"""

# No option sets the flow-control window of HTTP/2: gRPC's own default has megabytes (test_transport.py).
_OPTIONS: list[tuple[str, Any]] = [
    ("grpc.max_receive_message_length", _REPLY_BYTES_MAX),
    # The server refuses a too large message by its length, before reading it, and names the limit and the remedy.
    ("grpc.max_send_message_length", -1),
    ("grpc.keepalive_time_ms", _KEEPALIVE_MS),
    ("grpc.keepalive_timeout_ms", _KEEPALIVE_PATIENCE_MS),
    # Without this option gRPC waits a minute for the answer to a ping, whatever the keepalive timeout is.
    ("grpc.http2.ping_timeout_ms", _KEEPALIVE_PATIENCE_MS),
    # By default gRPC stops after two pings, although a call may still wait for slow work.
    ("grpc.http2.max_pings_without_data", 0),
    # Otherwise the channels of a process share connections, even with channels that a fork left behind.
    ("grpc.use_local_subchannel_pool", 1),
    # This package retries calls itself (_retries.py): it knows which may be retried, and for how long.
    ("grpc.enable_retries", 0),
    # A server that has restarted is found soon. gRPC's own backoff waits for up to two minutes.
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 5000),
]

_ADDRESS = r"(localhost|127\.\d+\.\d+\.\d+|\[::1\]):\d+"
_LOOPBACK = re.compile(rf"((dns|ipv4|ipv6):(///)?)?{_ADDRESS}(,{_ADDRESS})*", re.IGNORECASE)


@dataclass
class Reached:
    """Records whether and when a Gradus server has answered.

    Until the first answer the address or the options may be wrong. `heard_at` is by a monotonic clock.
    """

    yes: bool = False
    heard_at: float = float("-inf")

    def note(self) -> None:
        """Records that a Gradus server has just answered a call."""
        self.yes = True
        self.heard_at = time.monotonic()


_OF_RUN = re.compile(r"([A-Za-z0-9_.-]{1,128})/")
"""Matches the beginning of a group's id if the group belongs to a run: the run's id and a slash."""


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
    """Address of a server, with the credentials and options to reach it."""

    target: str
    tls: Tls | None
    token: str | None = field(repr=False)
    options: tuple[tuple[str, Any], ...]
    reached: Reached = field(default_factory=Reached)

    @property
    def metadata(self) -> tuple[tuple[str, str], ...]:
        """Returns the metadata of a call that begins now: the token and the caller's active trace."""
        token = () if self.token is None else (("authorization", f"Bearer {self.token}"),)
        return (*token, *trace_context())

    def metadata_for(self, request: Any) -> tuple[tuple[str, str], ...]:
        """Returns the metadata of a call, with the run that the request is about.

        With this metadata, a load balancer in front of several servers can send the calls of a run to the server that
        has the run in memory. The metadata is only a hint: any server answers any call.
        """
        run = _run_of(request)
        return self.metadata if run is None else (*self.metadata, ("gradus-run", run))

    def is_silent_since(self, began: float, error: GradusError) -> bool:
        """Returns whether a call that began at `began` timed out while no server answered any call.

        The call's connection may then have died without notice, and the next call must use another connection.
        """
        return error.code is grpc.StatusCode.DEADLINE_EXCEEDED and self.reached.heard_at < began

    @property
    def _options(self) -> list[tuple[str, Any]]:
        # gRPC would use the proxy of http_proxy even for this machine; clients such as curl and Go do not.
        direct = {"grpc.enable_http_proxy": 0} if _LOOPBACK.fullmatch(self.target) else {}
        return list({**dict(_OPTIONS), **direct, **dict(self.options)}.items())

    def open(self) -> grpc.Channel:
        """Returns a new channel."""
        options = self._options
        if self.tls is None:
            return grpc.insecure_channel(self.target, options)
        return grpc.secure_channel(self.target, self.tls.credentials(), options)

    def open_aio(self) -> grpc.aio.Channel:
        """Returns a new channel of the running event loop."""
        options = self._options
        if self.tls is None:
            return grpc.aio.insecure_channel(self.target, options)
        return grpc.aio.secure_channel(self.target, self.tls.credentials(), options)


C = TypeVar("C")


_pools: weakref.WeakSet[ChannelPool[Any]] = weakref.WeakSet()


_uncollected = False
"""Whether asyncio channels were opened since garbage was last collected. If so, it is collected before a fork."""


def _before_fork() -> None:
    global _uncollected  # noqa: PLW0603
    busy = [pool for pool in list(_pools) if pool.drop_dead()]
    _fork.spoil("a gradus.aio.Client was open at the fork: close it before forks" if busy else "")
    if _uncollected and not busy:
        # An asyncio channel and its calls refer to each other, so only the garbage collector frees them. As long as a
        # channel exists, gRPC's asyncio thread runs, and gRPC does not work in a forked process.
        gc.collect()
        _uncollected = False


# Windows has no fork.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork)


_LEFT_MAX = 16
"""Maximum number of replaced asyncio channels that are kept for calls that may still use them."""


class ChannelPool(Generic[C]):
    """One channel for each pair of process and event loop. The loop is None for channels that need none.

    A forked child keeps references to channels of its parent, because freeing a channel would use it in the child.
    There is no lock, because a fork could leave it locked for ever. If threads race, the additional channel is dropped.
    """

    def __init__(self, open: Callable[[], C]) -> None:
        self._open = open
        self._channels: dict[tuple[int, asyncio.AbstractEventLoop | None], C] = {}
        self._left: list[tuple[tuple[int, asyncio.AbstractEventLoop | None], C]] = []
        _pools.add(self)

    def drop_dead(self) -> bool:
        """Drops channels of closed event loops.

        Returns whether this process has channels of event loops that are open.
        """
        looped = [key for key in [*self._channels, *(key for key, _ in self._left)] if key[1] is not None]
        dead = [(process, loop) for process, loop in looped if loop is not None and loop.is_closed()]
        for key in dead:
            self._channels.pop(key, None)
        self._left = [each for each in self._left if each[0] not in dead]
        return any(key[0] == os.getpid() for key in looped if key not in dead)

    def renew(self, channel: C | None, loop: asyncio.AbstractEventLoop | None = None) -> None:
        """Makes the next `get` open another channel, if `channel` is still the current one.

        Calls on `channel` go on.
        """
        key = (os.getpid(), loop)
        if channel is None or self._channels.get(key) is not channel:
            return
        del self._channels[key]
        if loop is not None:
            # An asyncio channel without a reference closes and ends its calls.
            self._left = [*self._left[1 - _LEFT_MAX :], (key, channel)]

    def get(self, loop: asyncio.AbstractEventLoop | None = None) -> C:
        """Returns the channel of this process and this loop, and opens it if there is none."""
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
        """Returns the channel for closing, if there is one. The next `get` opens another."""
        key = (os.getpid(), loop)
        self._left = [each for each in self._left if each[0] != key]
        return self._channels.pop(key, None)
