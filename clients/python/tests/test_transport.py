from __future__ import annotations

import contextlib
import socket
import threading

import pytest
from conftest import Server

from gradus import Client, GradusError, Task, task_spec

PREFACE_BYTES = 24
HEADER_BYTES = 9
INITIAL_WINDOW_SIZE = 4
MIB = 1024**2


def read(connection: socket.socket, size: int) -> bytes:
    received = b""
    while len(received) < size:
        received += connection.recv(size - len(received))
    return received


def test_the_window_is_megabytes() -> None:
    """At HTTP/2's default of 64 KiB a message of 1 MB takes many round trips; grpcio's default must not fall to it."""

    def call(port: int) -> None:
        with contextlib.suppress(GradusError):  # Nobody answers.
            Client(f"127.0.0.1:{port}", timeout=1).list_environments()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        caller = threading.Thread(target=call, args=(listener.getsockname()[1],))
        caller.start()
        with listener.accept()[0] as connection:
            read(connection, PREFACE_BYTES)
            length = int.from_bytes(read(connection, HEADER_BYTES)[:3], "big")
            frame = read(connection, length)
        caller.join()
    # RFC 9113, section 6.5.1: pairs of a 16-bit identifier and a 32-bit value.
    pairs = [(frame[i : i + 2], frame[i + 2 : i + 6]) for i in range(0, length, 6)]
    settings = {int.from_bytes(key, "big"): int.from_bytes(value, "big") for key, value in pairs}
    assert settings[INITIAL_WINDOW_SIZE] >= MIB


def test_messages_may_be_larger_than_grpcs_default_of_4_mib(client: Client, task: Task) -> None:
    # A prompt of 200 cities has about 35 KB.
    cities = {"cities_min": 200, "cities_max": 200}
    tasks = client.batch_reset(task_spec("np/tsp", parameters=cities), range(160))
    assert sum(len(each.task.prompt[0]["content"]) for each in tasks if each.task) > 4 * MIB
    (outcome,) = client.batch_step([task.group(["x" * 200_000] * 40)])
    assert outcome.rewards == [0.0] * 40


def test_a_proxy_is_not_asked_for_this_very_machine(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{taken.getsockname()[1]}")
        for host in ("localhost", "127.0.0.1", "dns:///localhost"):
            with Client(f"{host}:{server.address.rpartition(':')[2]}", timeout=10, retries=0) as client:
                assert client.get_server_info().version


def test_a_target_may_list_several_addresses_of_a_server_without_credentials(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    port = server.address.rpartition(":")[2]
    with socket.create_server(("127.0.0.1", 0)) as taken:
        monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{taken.getsockname()[1]}")
        for target in (f"ipv4:127.0.0.1:{port},127.0.0.1:{port}", f"ipv4:127.0.0.1:{port}", f"dns:///localhost:{port}"):
            with Client(target, timeout=10, retries=0) as client:
                assert client.get_server_info().version
