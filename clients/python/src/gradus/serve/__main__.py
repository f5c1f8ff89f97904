"""The program `python -m gradus.serve FILE`, which serves the environments of a file over gRPC.

`python -m gradus.serve new FILE` writes an example environment to a new file.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from gradus.serve import _new, _remote
from gradus.serve._link import HostError, Terms


def main(arguments: Sequence[str]) -> int:
    """Runs the program and returns its exit status."""
    if arguments and arguments[0] == "new":
        return _new.new(_parser_of_new().parse_args(arguments[1:]).file)
    asked = _parser_of_serve().parse_args(arguments)
    access = _remote.Access(
        asked.address, token_of(asked), asked.tls_cert, asked.tls_key, asked.tls_client_ca, asked.insecure
    )
    try:
        asyncio.run(_remote.serve(asked.target, terms_of(asked), access))
    except (HostError, _remote.OptionError, OSError) as error:
        print(f"gradus: {error}", file=sys.stderr)
        return 1
    return 0


def _parser_of_new() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("gradus env new", description="Write a first environment.")
    parser.add_argument("file", help="e.g. my_env.py")
    return parser


def _parser_of_serve() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m gradus.serve", description="Serve environments over gRPC.")
    _add_target(parser)
    parser.add_argument("--address", default="127.0.0.1:50061", help="host and port to listen on (127.0.0.1:50061)")
    parser.add_argument("--token-file", default="", help="file of the token that callers must send; or GRADUS_TOKEN")
    parser.add_argument("--tls-cert", default="", help="certificate in PEM")
    parser.add_argument("--tls-key", default="", help="the certificate's private key in PEM")
    parser.add_argument("--tls-client-ca", default="", help="accept only callers with a certificate of this authority")
    parser.add_argument(
        "--insecure", action="store_true", help="allow an address other than loopback without a client CA or a token"
    )
    return parser


def _add_target(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "target",
        help="a Python file, or rlve-gym[:names], reasoning-core[:names], reasoning-gym[:names], verifiers:name, "
        "nemo-gym:…, openenv:…, ors:…",
    )
    parser.add_argument("--workers", type=int, default=2, help="number of worker processes (2)")
    parser.add_argument(
        "--allow",
        action="append",
        default=[],
        metavar="read=PATH,net=HOST",
        help="files that the environments may read beside their folder and Python's packages; hosts to reach",
    )
    parser.add_argument("--memory-mib", type=int, default=1024, help="MiB of memory of each worker (1024)")
    parser.add_argument("--generate-seconds", type=float, default=30, help="maximum seconds to make an instance (30)")
    parser.add_argument("--verify-seconds", type=float, default=5, help="maximum seconds to verify an answer (5)")


def terms_of(asked: argparse.Namespace) -> Terms:
    """Returns the settings of the host, which runs the environments, from the command line options."""
    allowed: dict[str, list[str]] = {"read": [], "net": []}
    for part in [each for given in asked.allow for each in re.split(r",(?=(?:read|net)=)", given)]:
        kind, _, value = part.partition("=")
        if kind in allowed and value:
            allowed[kind].append(os.path.abspath(value) if kind == "read" else value)
        elif part:
            raise SystemExit(f"gradus: --allow '{part}' is neither read=PATH nor net=HOST")
    own = [getattr(asked, name, "") for name in ("token_file", "tls_cert", "tls_key", "tls_client_ca")]
    return Terms(
        hidden=[path for path in own if path],
        workers=asked.workers,
        read=allowed["read"],
        net=allowed["net"],
        memory_mib=asked.memory_mib,
        generate_ms=round(asked.generate_seconds * 1000),
        verify_ms=round(asked.verify_seconds * 1000),
    )


def token_of(asked: argparse.Namespace) -> str:
    """Returns the token from the file of --token-file, or from the environment variable GRADUS_TOKEN."""
    return Path(asked.token_file).read_text().strip() if asked.token_file else os.environ.get("GRADUS_TOKEN", "")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
