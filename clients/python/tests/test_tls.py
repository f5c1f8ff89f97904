from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
import trustme
from conftest import Server, StartServer, launch
from real_server import WITHOUT_SANDBOX

import gradus
from gradus import Client, Tls, aio


@dataclass(frozen=True)
class Serving:
    address: str
    warned: str
    """The server's warning about its certificates at its start."""


Serve = Callable[[str, str | None], Serving]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """ca.pem, and certificates with keys: server.pem and server.key, client.pem and client.key."""
    tmp_path = tmp_path_factory.mktemp("files")
    authority = trustme.CA()
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    issue(authority, tmp_path, "server", "localhost")
    issue(authority, tmp_path, "client", "trainer@example.org")
    issue(trustme.CA(), tmp_path, "stranger", "trainer@example.org")
    now = datetime.now(timezone.utc)
    issue(authority, tmp_path, "old", "localhost", not_before=now - timedelta(9), not_after=now - timedelta(2))
    issue(authority, tmp_path, "young", "localhost", not_before=now + timedelta(2), not_after=now + timedelta(9))
    issue(authority, tmp_path, "elsewhere", "gradus.example")
    (tmp_path / "empty.pem").write_text("no certificate\n")
    return tmp_path


def issue(authority: trustme.CA, folder: Path, name: str, identity: str, **times: Any) -> None:
    certificate = authority.issue_cert(identity, **times)
    certificate.private_key_pem.write_to_path(folder / f"{name}.key")
    for blob in certificate.cert_chain_pems:
        blob.write_to_path(folder / f"{name}.pem", append=True)


def flags(files: Path, cert: str = "server", key: str | None = None, client_ca: str | None = None) -> Sequence[str]:
    given = ["--tls-cert", f"{files}/{cert}.pem", "--tls-key", f"{files}/{key or cert}.key"]
    return given if client_ca is None else [*given, "--tls-client-ca", f"{files}/{client_ca}.pem"]


@pytest.fixture(scope="module")
def serve(files: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serve]:
    """Starts the server with a certificate and a client CA, at the first use."""
    started: dict[tuple[str, str | None], Serving] = {}
    servers: list[Server] = []

    def serving(cert: str, client_ca: str | None) -> Serving:
        if (cert, client_ca) not in started:
            folder = tmp_path_factory.mktemp(cert)
            servers.append(launch(folder, *WITHOUT_SANDBOX, *flags(files, cert, client_ca=client_ca)))
            (log,) = folder.glob("server-*.log")
            lines = log.read_text().splitlines()
            warned = "\n".join(line for line in lines if "--tls-" in line and '"level":40' in line)
            started[cert, client_ca] = Serving(servers[-1].address, warned)
        return started[cert, client_ca]

    yield serving
    for server in servers:
        server.stop()


async def ask(address: str, tls: Tls) -> int:
    async with aio.Client(address, tls=tls) as client:
        return len(await client.list_environments())


def test_tls(serve: Serve, files: Path) -> None:
    address = serve("server", None).address
    tls = Tls(ca=files / "ca.pem")
    assert len(Client(address, tls=tls).list_environments()) == asyncio.run(ask(address, tls))
    for other in (None, Tls()):
        with pytest.raises(gradus.UnavailableError, match=address):
            Client(address, tls=other).list_environments()


def test_mutual_tls(serve: Serve, files: Path) -> None:
    address = serve("server", "ca").address
    tls = Tls(ca=files / "ca.pem", cert=files / "client.pem", key=files / "client.key")
    assert Client(address, tls=tls).list_environments()
    with pytest.raises(gradus.UnavailableError):
        Client(address, tls=Tls(ca=files / "ca.pem")).list_environments()
    with pytest.raises(ValueError, match="both"):
        Client(address, tls=Tls(cert=files / "client.pem")).list_environments()


def test_a_refused_certificate_is_told_whose_it_is(serve: Serve, files: Path) -> None:
    ca = files / "ca.pem"
    mutual, elsewhere, old = (serve(*each).address for each in (("server", "ca"), ("elsewhere", None), ("old", None)))
    cases = [
        (mutual, Tls(ca), "the server asks for a client's certificate: give Tls.cert and Tls.key"),
        (
            mutual,
            Tls(ca, files / "stranger.pem", files / "stranger.key"),
            f"the server refuses this client's certificate, '{files}/stranger.pem' \\(Tls.cert\\)",
        ),
        (mutual, Tls(ca, files / "old.pem", files / "old.key"), "the server refuses this client's certificate"),
        (elsewhere, Tls(ca), "the server's certificate is not accepted .*localhost"),
        (old, Tls(ca), "the server's certificate is not accepted .*expired"),
        (mutual, Tls(files / "stranger.pem"), "the server's certificate is not accepted"),
    ]
    for address, tls, words in cases:
        with pytest.raises(gradus.UnavailableError, match=words) as caught:
            Client(address, tls=tls).list_environments()
        assert caught.value.mistake == "certificate"
        with pytest.raises(gradus.UnavailableError, match=words):
            asyncio.run(ask(address, tls))


@pytest.mark.parametrize(
    ("tls", "words"),
    [
        ({"cert": "client.pem"}, "mutual TLS takes both"),
        ({"cert": "client.pem", "key": "server.key"}, r"server\.key' is not the key of the certificate .*client\.pem"),
        ({"cert": "client.key", "key": "client.key"}, "want a certificate and its key in PEM"),
        ({"ca": "empty.pem"}, r"Tls\.ca: .*empty\.pem' holds no certificate"),
    ],
)
def test_files_that_are_of_no_use_are_told_by_name(files: Path, tls: dict[str, str], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Client("localhost:1", tls=Tls(**{name: files / file for name, file in tls.items()})).list_environments()


@pytest.mark.parametrize("tls", [True, "ca.pem", {"ca": "ca.pem"}])
def test_what_says_nothing_of_tls_is_refused(tls: Any) -> None:
    for make in (Client, aio.Client):
        with pytest.raises(TypeError, match=r"tls: want gradus\.Tls"):
            make("localhost:1", tls=tls)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"key": "client"}, "client.key' is the key of another certificate than --tls-cert"),
        ({"cert": "empty", "key": "server"}, "empty.pem' holds none that can be read"),
        ({"client_ca": "empty"}, "--tls-client-ca must be a file of certificates"),
    ],
)
def test_the_server_refuses_files_that_no_connection_could_use(
    start_server: StartServer, files: Path, given: dict[str, str], words: str
) -> None:
    with pytest.raises(AssertionError, match=words):
        start_server(*flags(files, **given))


@pytest.mark.parametrize(
    ("cert", "client_ca", "words"),
    [
        ("old", None, r"old\.pem' expired on .*: clients will refuse it"),
        ("young", "old", r"young\.pem' is not valid before"),
        ("elsewhere", None, r"elsewhere\.pem' is for DNS:gradus\.example, and not for 127\.0\.0\.1 or localhost"),
        ("young", "old", r"old\.pem' expired on .*: every client's certificate will be refused"),
        ("server", "ca", None),
    ],
)
def test_the_server_warns_of_certificates_that_will_be_refused(
    serve: Serve, cert: str, client_ca: str | None, words: str | None
) -> None:
    warned = serve(cert, client_ca).warned
    if words is None:
        assert warned == ""
    else:
        assert re.search(words, warned)
