from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
import trustme
from conftest import StartServer

import gradus
from gradus import Client, Tls, aio


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """ca.pem, and certificates with keys: server.pem and server.key, client.pem and client.key."""
    authority = trustme.CA()
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    for name, identity in (("server", "localhost"), ("client", "trainer@example.org")):
        certificate = authority.issue_cert(identity)
        certificate.private_key_pem.write_to_path(tmp_path / f"{name}.key")
        for blob in certificate.cert_chain_pems:
            blob.write_to_path(tmp_path / f"{name}.pem", append=True)
    return tmp_path


async def ask(address: str, tls: Tls) -> int:
    async with aio.Client(address, tls=tls) as client:
        return len(await client.list_environments())


def test_tls(start_server: StartServer, files: Path) -> None:
    address = start_server("--tls-cert", f"{files}/server.pem", "--tls-key", f"{files}/server.key").address
    tls = Tls(ca=files / "ca.pem")
    assert len(Client(address, tls=tls).list_environments()) == asyncio.run(ask(address, tls))
    for other in (None, Tls()):
        with pytest.raises(gradus.UnavailableError, match=address):
            Client(address, tls=other).list_environments()


def test_mutual_tls(start_server: StartServer, files: Path) -> None:
    flags = ["--tls-cert", "server.pem", "--tls-key", "server.key", "--tls-client-ca", "ca.pem"]
    address = start_server(*(str(files / each) if "." in each else each for each in flags)).address
    tls = Tls(ca=files / "ca.pem", cert=files / "client.pem", key=files / "client.key")
    assert Client(address, tls=tls).list_environments()
    with pytest.raises(gradus.UnavailableError):
        Client(address, tls=Tls(ca=files / "ca.pem")).list_environments()
    with pytest.raises(ValueError, match="both"):
        Client(address, tls=Tls(cert=files / "client.pem")).list_environments()
