"""Frames between a server and a host: four bytes of length, and a message (ProviderFrame in the contract)."""

from __future__ import annotations

import os
import struct
from collections.abc import Callable

from gradus.v1 import provider_pb2

LENGTH = struct.Struct(">I")
FRAME_BYTES_MAX = 64 * 1024**2


class FrameError(Exception):
    """The received data are no frame."""


def to_bytes(frame: provider_pb2.ProviderFrame) -> bytes:
    """Returns a frame as bytes to send."""
    data = frame.SerializeToString()
    return LENGTH.pack(len(data)) + data


def read_frame(read: Callable[[int], bytes]) -> provider_pb2.ProviderFrame | None:
    """Returns the next frame; None: the stream has ended. `read(n)` must return at most n bytes."""
    head = _read_exactly(read, LENGTH.size)
    if head is None:
        return None
    (length,) = LENGTH.unpack(head)
    if length > FRAME_BYTES_MAX:
        raise FrameError(f"a frame of {length:,} bytes; the limit is {FRAME_BYTES_MAX:,}")
    data = _read_exactly(read, length)
    return None if data is None else provider_pb2.ProviderFrame.FromString(data)


def write_all(descriptor: int, data: bytes) -> None:
    """Writes all of the data."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def _read_exactly(read: Callable[[int], bytes], length: int) -> bytes | None:
    parts = read(length) if length else b""
    if length and not parts:
        return None
    while len(parts) < length:
        part = read(length - len(parts))
        if not part:
            return None
        parts += part
    return parts
