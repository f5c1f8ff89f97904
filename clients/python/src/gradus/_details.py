"""Reads the reason of a failed call from its trailing metadata: google.rpc.ErrorInfo.

google.rpc.Status and ErrorInfo are parsed by hand. Their generated code belongs to another package
(googleapis-common-protos), and a copy of it would clash with that package if both are installed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

_DOMAIN = b"gradus"

_STATUS_DETAILS, _ANY_TYPE, _ANY_VALUE = 3, 1, 2
_INFO_REASON, _INFO_DOMAIN, _INFO_METADATA = 1, 2, 3
"""Field numbers of google.rpc.Status, google.protobuf.Any and google.rpc.ErrorInfo."""

_VARINT, _FIXED64, _LENGTH, _FIXED32 = 0, 1, 2, 5
"""Wire types of protobuf."""


def reason_of(metadata: Iterable[tuple[str, str | bytes]]) -> tuple[str, dict[str, str]]:
    """Returns the server's reason for a failure, e.g. "PAUSED", and facts about it; "" and {} if there is none.

    Parameters
    ----------
    metadata
        The call's trailing metadata.

    """
    found = dict(metadata)
    status, plain = found.get("grpc-status-details-bin", b""), found.get("wait-reason", "")
    try:
        return _in_status(status) if isinstance(status, bytes) and status else (str(plain), {})
    except (ValueError, IndexError):
        # A proxy may have cut the details off. The server also sends the reason as plain text, without the facts.
        return str(plain), {}


def _in_status(status: bytes) -> tuple[str, dict[str, str]]:
    for number, detail in _fields(status):
        if number != _STATUS_DETAILS:
            continue
        packed = dict(_fields(detail))
        if not packed.get(_ANY_TYPE, b"").endswith(b"/google.rpc.ErrorInfo"):
            continue
        info = list(_fields(packed.get(_ANY_VALUE, b"")))
        if (_INFO_DOMAIN, _DOMAIN) in info:
            pairs = [dict(_fields(entry)) for number, entry in info if number == _INFO_METADATA]
            facts = {pair.get(1, b"").decode(): pair.get(2, b"").decode() for pair in pairs}
            return dict(info).get(_INFO_REASON, b"").decode(), facts
    return "", {}


def _fields(message: bytes) -> Iterator[tuple[int, bytes]]:
    """Yields the fields of a message that hold bytes, text or a message, with their numbers.

    Raises ValueError if the message is cut off.
    """
    at = 0
    while at < len(message):
        tag, at = _varint(message, at)
        kind = tag & 7
        if kind == _LENGTH:
            length, at = _varint(message, at)
            if at + length > len(message):
                raise ValueError("the message is cut off")
            yield tag >> 3, message[at : at + length]
            at += length
        elif kind == _VARINT:
            _, at = _varint(message, at)
        elif kind in (_FIXED64, _FIXED32):
            at += 8 if kind == _FIXED64 else 4
        else:
            raise ValueError(f"the message has a field of wire type {kind}")


def _varint(message: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = message[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:  # noqa: PLR2004
            return value, at
