"""Test that errors name wrong addresses and options and the remedy, with small real servers."""

from __future__ import annotations

import asyncio
import http.server
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import grpc
import pytest
from conftest import ROOT, Mortal, Server, launch

import gradus
from gradus import Client, Task, Tls, UnavailableError, aio

CERTIFICATES = ROOT / "test/server/transport/tls"
OURS = Tls(ca=CERTIFICATES / "ca.crt")
SYSTEM = Tls()


class NotFound(http.server.BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        self.send_error(404)

    def log_message(self, *_: object) -> None:
        """Logs nothing."""


@contextmanager
def web(certified: bool) -> Iterator[str]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), NotFound) as server:
        if certified:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(CERTIFICATES / "server.crt", CERTIFICATES / "server.key")
            server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"localhost:{server.server_port}"
        server.shutdown()


@contextmanager
def raw(greet: Callable[[socket.socket], object]) -> Iterator[str]:
    """A server that handles each connection by a function, and keeps it open unless that closes it."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        kept: list[socket.socket] = []

        def serve() -> None:
            while True:
                try:
                    connection, _ = listening.accept()
                    kept.append(connection)
                    greet(connection)
                except OSError:
                    return

        threading.Thread(target=serve, daemon=True).start()
        yield f"localhost:{listening.getsockname()[1]}"
        listening.shutdown(socket.SHUT_RDWR)
        for connection in kept:
            connection.close()


@contextmanager
def other_grpc(lists: bool = False) -> Iterator[str]:
    """`lists`: it answers ListEnvironments, as every Gradus server does, and nothing else."""
    server = grpc.server(ThreadPoolExecutor(1))
    if lists:
        handler: grpc.RpcMethodHandler[bytes, bytes] = grpc.unary_unary_rpc_method_handler(
            lambda _request, _context: b""
        )
        service = grpc.method_handlers_generic_handler("gradus.v1.EnvironmentService", {"ListEnvironments": handler})
        server.add_generic_rpc_handlers((service,))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    yield f"localhost:{port}"
    server.stop(None)


def failure(target: str, tls: Tls | None, timeout: float = 20) -> gradus.GradusError:
    with Client(target, tls=tls, timeout=timeout) as client, pytest.raises(gradus.GradusError) as caught:
        client.list_environments()
    return caught.value


@pytest.fixture(scope="module")
def secure(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    files = ["--tls-cert", str(CERTIFICATES / "server.crt"), "--tls-key", str(CERTIFICATES / "server.key")]
    server = launch(tmp_path_factory.mktemp("secure"), *files)
    yield server
    server.stop()


def test_each_port_of_gradus_is_told_from_the_other(server: Server, secure: Server) -> None:
    cases: list[tuple[str, Tls | None, str, str]] = [
        (server.http, None, "http_port", "is the HTTP port of a Gradus server: give the server's gRPC port, 50051"),
        (server.http, SYSTEM, "http_port", "is the HTTP port of a Gradus server"),
        (secure.http, SYSTEM, "http_port", "is the HTTP port of a Gradus server"),
        (secure.address, None, "needs_tls", "speaks TLS: give tls=Tls(), or Tls(ca=…)"),
        (server.address, SYSTEM, "no_tls", "speaks no TLS: leave tls out"),
        (secure.address, SYSTEM, "certificate", "the server's certificate is not accepted ("),
    ]
    for target, tls, mistake, words in cases:
        error = failure(target, tls)
        assert error.mistake == mistake, (target, tls)
        assert target in error.message
        assert words in error.message
    with Client(secure.address, tls=OURS) as client:
        assert client.list_environments()


@pytest.mark.parametrize(
    ("listen", "tls", "words"),
    [
        (lambda: web(False), None, "answers HTTP/1.1, as web servers do, and is no Gradus server's gRPC port"),
        (lambda: web(False), SYSTEM, "answers HTTP/1.1"),
        (lambda: web(True), OURS, "answers HTTP/1.1"),
        (lambda: raw(lambda peer: peer.sendall(b"220 mail.example ESMTP\r\n")), None, "speaks neither HTTP/2 nor TLS"),
        (other_grpc, None, "speaks gRPC without gradus.v1 (it says: Method not found!)"),
    ],
)
def test_what_is_no_gradus_server_is_told_so(listen: Callable[[], object], tls: Tls | None, words: str) -> None:
    with listen() as target:  # type: ignore[attr-defined]
        error = failure(target, tls)
    assert error.mistake == "not_gradus"
    assert words in error.message
    assert "give the server's gRPC port, 50051 by default" in error.message


@pytest.mark.parametrize("greet", [lambda peer: peer.close(), lambda peer: None], ids=["closing", "silent"])
def test_a_port_that_says_nothing_may_be_a_proxys(greet: Callable[[socket.socket], object]) -> None:
    with raw(greet) as target:
        error = failure(target, None, timeout=3)
    assert error.mistake is None
    assert "takes connections and says nothing" in error.message


def test_streams_watches_runs_and_asyncio_say_it_too(server: Server, task: Task) -> None:
    with Client(server.http) as client:
        for call in (
            lambda: list(client.stream_steps([task.group(["?"])])),
            lambda: next(client.run("r").watch()),
            # It would wait for feedback until the timeout, but an address error is raised at once.
            lambda: client.run("r").next_batch(),
        ):
            with pytest.raises(gradus.UnavailableError, match="is the HTTP port of a Gradus server") as caught:
                call()
            assert caught.value.mistake == "http_port"

    async def ask() -> None:
        async with aio.Client(server.http) as client:
            with pytest.raises(gradus.UnavailableError, match="is the HTTP port"):
                await client.list_environments()
            with pytest.raises(gradus.UnavailableError, match="is the HTTP port"):
                await anext(client.run("r").watch())
            with pytest.raises(gradus.UnavailableError, match="is the HTTP port"):
                async for _ in client.stream_steps([task.group(["?"])]):
                    pass

    asyncio.run(ask())


@pytest.mark.parametrize("host", ["my..host", "x" * 64])
def test_what_is_no_name_of_a_host_is_a_server_that_is_not_there(host: str) -> None:
    with Client(f"{host}:50051", timeout=60, retries=0) as client, pytest.raises(UnavailableError, match=host):
        client.list_environments()


def test_a_call_that_a_gradus_server_lacks_is_no_mistake_of_the_address() -> None:
    with other_grpc(lists=True) as address:
        with Client(address) as client, pytest.raises(gradus.UnimplementedError) as caught:
            client.run("r").get()
        assert caught.value.mistake is None


def test_a_server_that_answered_once_is_the_right_one(mortal: Mortal) -> None:
    with Client(mortal.server.address, timeout=3) as client:
        assert client.list_environments()
        mortal.server.kill()
        with web(False), pytest.raises(gradus.UnavailableError) as caught:
            client.list_environments()
    assert caught.value.mistake is None


@pytest.mark.parametrize("make", [Client, aio.Client])
@pytest.mark.parametrize(
    ("target", "remedy"),
    [
        ("http://localhost:50051", "it has a scheme: write 'localhost:50051'"),
        ("https://gradus.example:443", "it has a scheme: write 'gradus.example:443', and ask for TLS by tls=Tls()"),
        ("grpc://localhost:1/x?y", "it has a scheme and a path: write 'localhost:1'"),
        ("localhost:50051/", "it has a path: write 'localhost:50051'"),
        ("localhost", "it has no port: write 'localhost:50051', or the port that the server was given"),
        ("localhost:0", "it is not one host and one port from 1 to 65535"),
        ("localhost:65536", "it is not one host and one port from 1 to 65535"),
        ("::1:50051", "it is not one host and one port"),
        ("", "it is not one host and one port"),
    ],
)
def test_what_is_no_target_is_refused_before_any_call(
    make: type[Client] | type[aio.Client], target: str, remedy: str
) -> None:
    with pytest.raises(ValueError, match="want host:port of the server's gRPC port") as caught:
        make(target)
    assert f"got '{target}': {remedy}" in str(caught.value)


@pytest.mark.parametrize("target", ["a:1", "127.0.0.1:1", "[::1]:1", "dns:///a:1", "dns:a:1", "dns:1", "unix:/tmp/a"])
def test_what_grpc_takes_is_a_target(target: str) -> None:
    Client(target).close()


@pytest.mark.parametrize(
    ("made", "words"),
    [
        ({"ca": "/no/such.pem"}, r"Tls\.ca: No such file or directory: '/no/such\.pem'"),
        ({"cert": "/no/such.pem", "key": "/no/such.key"}, r"Tls\.cert: No such file"),
        ({"ca": "/"}, r"Tls\.ca: Is a directory"),
        ({"ca": "-----BEGIN CERTIFICATE-----\nMIIB"}, r"Tls\.ca: want the path of a file in PEM; got its contents"),
        ({"ca": b"-----BEGIN"}, r"Tls\.ca: want the path of a file in PEM, as str or Path; got bytes"),
        ({"cert": "a.pem", "key": 5}, r"Tls\.cert: No such file|Tls\.key: want the path"),
    ],
)
def test_a_file_of_tls_that_cannot_be_read_is_named(made: dict[str, Any], words: str) -> None:
    with pytest.raises((OSError, TypeError, ValueError), match=words):
        Client("localhost:1", tls=Tls(**made), timeout=5).list_environments()
