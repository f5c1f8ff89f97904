"""Credentials of a client: TLS and the token."""

from __future__ import annotations

import re
import ssl
from dataclasses import dataclass
from pathlib import Path

import grpc

_TOKEN = re.compile(r"[\x21-\x7e]+")
"""Matches the characters that a header accepts in a token."""


@dataclass(frozen=True)
class Tls:
    """Paths of PEM files.

    `ca`: certificates of trusted authorities; None: those of the system. `cert` and `key`: the client's own.
    """

    ca: str | Path | None = None
    cert: str | Path | None = None
    key: str | Path | None = None

    def credentials(self) -> grpc.ChannelCredentials:
        """Returns the credentials for gRPC; reads the files."""
        self.context()
        return grpc.ssl_channel_credentials(_read(self.ca), _read(self.key), _read(self.cert))

    def context(self) -> ssl.SSLContext:
        """Returns the context for Python's TLS; raises TypeError, OSError or ValueError for an unusable file."""
        if (self.cert is None) != (self.key is None):
            raise ValueError("mutual TLS takes both cert and key")
        for name in ("ca", "cert", "key"):
            _check_file(getattr(self, name), f"Tls.{name}")
        context = ssl.create_default_context()
        try:
            if self.ca is not None:
                context.load_verify_locations(self.ca)
        except ssl.SSLError:
            raise ValueError(f"Tls.ca: '{self.ca}' holds no certificate in PEM") from None
        try:
            if self.cert is not None:
                context.load_cert_chain(self.cert, self.key, password="")
        except ssl.SSLError as error:
            if error.reason == "KEY_VALUES_MISMATCH":
                why = f"Tls.key: '{self.key}' is not the key of the certificate '{self.cert}' (Tls.cert)"
            else:
                wanted = "want a certificate and its key in PEM, the key without a password"
                why = f"Tls.cert, Tls.key: {wanted}; got '{self.cert}' and '{self.key}' ({error.reason})"
            raise ValueError(why) from None
        return context


def _check_file(path: str | Path | None, place: str) -> None:
    """Raises the error of a file that cannot be read, with the name of its option.

    Python's TLS names neither the file nor the option.
    """
    if path is None:
        return
    if not isinstance(path, (str, Path)):
        raise TypeError(f"{place}: want the path of a file in PEM, as str or Path; got {type(path).__name__}")
    if "-----BEGIN" in str(path):
        raise ValueError(f"{place}: want the path of a file in PEM; got its contents: write them to a file")
    try:
        Path(path).open("rb").close()
    except OSError as error:
        raise type(error)(error.errno, f"{place}: {error.strerror}", str(path)) from None


def _read(path: str | Path | None) -> bytes | None:
    return None if path is None else Path(path).read_bytes()


def check_tls(tls: Tls | None) -> None:
    """Raises TypeError unless the value is a Tls or None."""
    if tls is not None and not isinstance(tls, Tls):
        raise TypeError(f"tls: want gradus.Tls(), or Tls(ca=…), or None for none; got {type(tls).__name__} {tls!r}")


def token_of(token: str | None) -> str | None:
    """Returns the token without surrounding white space, which token files have. No error shows the token.

    Raises
    ------
    TypeError, ValueError
        If the token is not a str, is empty, or has characters that no header can have.

    """
    if token is None:
        return None
    if not isinstance(token, str):
        raise TypeError(f"token: want it as str; got {type(token).__name__}")
    stripped = token.strip()
    if not stripped:
        raise ValueError("token: it is empty; give None for no token")
    if not _TOKEN.fullmatch(stripped):
        at = next(at for at, each in enumerate(stripped) if not _TOKEN.fullmatch(each))
        raise ValueError(
            f"token: want visible ASCII characters without blanks; character {at + 1} of {len(stripped)} is "
            f"U+{ord(stripped[at]):04X}"
        )
    return stripped
