"""Why a call failed, as the server says it beside the status: google.rpc.ErrorInfo in a call's trailing metadata.

The two messages are read by hand: their generated code is another package's (googleapis-common-protos), and a copy of
it here would clash with that package wherever both are installed.
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
    """The server's reason for a failure, e.g. "PAUSED", with its facts; "" and none where the server gives no reason.

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
        # A proxy may have cut it; the reason in plain text is enough to wait by.
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
    """The fields of a message that hold bytes, text or a message, by number; raises ValueError for what is cut off."""
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
