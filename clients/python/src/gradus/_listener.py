"""Finds out which kind of program listens at an address. Called only after a failure, to explain it."""

from __future__ import annotations

import re
import socket
import ssl
from dataclasses import dataclass
from typing import Literal

_PATIENCE = 1.0
"""Maximum seconds for each exchange of bytes with the program at an address."""

_REPLY_BYTES_MAX = 4096
"""Number of bytes of a reply that are enough to recognize its protocol."""

_NONSENSE = b"?\r\n\r\n"
"""Text that web servers refuse at once, even if the program behind them is slow."""

_TLS_ALERT = b"\x15\x03"

_SETTINGS = 4
_FRAME_HEADER_BYTES = 9

Protocol = Literal["http1", "http2", "other", "silent"]


@dataclass(frozen=True)
class Listener:
    """Program that listens at a port, as far as a first exchange of bytes shows.

    `gradus`: it answers like the HTTP port of a Gradus server.
    """

    tls: bool
    protocol: Protocol
    gradus: bool = False


def listener_at(host: str, port: int) -> Listener | None:
    """Returns which kind of program listens at an address; None: nothing accepts connections."""
    try:
        reply, closed = _exchange(_connect(host, port), _question(host, port))
        if not reply and not closed:
            return _listener(_exchange(_connect(host, port), _NONSENSE)[0], tls=False)
    # Python's codec already refuses an invalid host name, e.g. one with an empty part.
    except (OSError, UnicodeError):
        return None
    # A TLS server answers plain text with an alert, or just closes the connection.
    if reply and not reply.startswith(_TLS_ALERT):
        return _listener(reply, tls=False)
    try:
        secret = _secret(host, port, ["h2", "http/1.1"])
    except OSError:
        return _listener(reply, tls=False)
    if secret.selected_alpn_protocol() != "h2":
        return _listener(_exchange(secret, _question(host, port))[0], tls=True)
    secret.close()
    # A Gradus server's HTTP port speaks both versions of HTTP; a gRPC port speaks only HTTP/2.
    try:
        older = _listener(_exchange(_secret(host, port, ["http/1.1"]), _question(host, port))[0], tls=True)
    except OSError:
        older = None
    return older if older is not None and older.gradus else Listener(tls=True, protocol="http2")


def certificate_problem(host: str, port: int, context: ssl.SSLContext, shown: str | None) -> str | None:
    """Returns the reason for which a TLS connection fails, with the remedy; None: no reason is visible.

    `shown` is the file of the client's certificate; None: the client has none.
    """
    context.set_alpn_protocols(["h2"])
    try:
        with context.wrap_socket(_connect(host, port), server_hostname=host) as secret:
            # A server that refuses the client's certificate may close the connection only after the handshake.
            secret.sendall(_PREFACE)
            refused = not secret.recv(_REPLY_BYTES_MAX)
    except ssl.SSLCertVerificationError as error:
        why = error.verify_message.rstrip(".")
        return f"the server's certificate is not accepted ({why}): check Tls.ca, and the address"
    except TimeoutError:
        return None
    except OSError:
        refused = True
    if not refused:
        return None
    if shown is None:
        return "the server asks for a client's certificate: give Tls.cert and Tls.key"
    wanted = "it wants a valid one of its --tls-client-ca"
    return f"the server refuses this client's certificate, '{shown}' (Tls.cert): {wanted}"


_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, _SETTINGS, 0, 0, 0, 0, 0])
"""First bytes of an HTTP/2 client, with an empty SETTINGS frame (RFC 9113, section 3.4)."""


def _secret(host: str, port: int, protocols: list[str]) -> ssl.SSLSocket:
    """Opens a TLS connection that offers these protocols (ALPN), and accepts any certificate of the server."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.set_alpn_protocols(protocols)
    return context.wrap_socket(_connect(host, port), server_hostname=host)


def _connect(host: str, port: int) -> socket.socket:
    return socket.create_connection((host, port), timeout=_PATIENCE)


def _question(host: str, port: int) -> bytes:
    """Returns a request for a Gradus HTTP port, in HTTP/1.1, which a gRPC port does not speak."""
    name = f"[{host}]" if ":" in host else host
    lines = [
        "POST /gradus.v1.EnvironmentService/ListEnvironments HTTP/1.1",
        f"Host: {name}:{port}",
        "Content-Type: application/json",
        "Content-Length: 2",
        "Connection: close",
        "",
        "{}",
    ]
    return "\r\n".join(lines).encode("ascii", "replace")


def _exchange(connection: socket.socket, text: bytes) -> tuple[bytes, bool]:
    """Sends a text. Returns the reply, and whether the other side closed the connection in time."""
    reply = b""
    with connection:
        try:
            connection.sendall(text)
            while len(reply) < _REPLY_BYTES_MAX:
                chunk = connection.recv(_REPLY_BYTES_MAX)
                if not chunk:
                    return reply, True
                reply += chunk
        except TimeoutError:
            return reply, False
        except OSError:
            return reply, True
    return reply, False


def _listener(reply: bytes, *, tls: bool) -> Listener:
    text = reply.decode("latin1")
    if text.startswith("HTTP/1."):
        # A Gradus server lists its environments, or reports an error in Connect's form.
        is_json = re.search(r"^content-type: application/json", text, re.IGNORECASE | re.MULTILINE) is not None
        listed = re.search(r'\{"(environments":\[|code":"[a-z_]+")', text) is not None
        return Listener(tls, "http1", is_json and listed)
    if not reply:
        return Listener(tls, "silent")
    # HTTP/2 always begins with a SETTINGS frame on stream 0.
    is_http2 = len(reply) >= _FRAME_HEADER_BYTES and reply[3] == _SETTINGS and not any(reply[5:9])
    return Listener(tls, "http2" if is_http2 else "other")
