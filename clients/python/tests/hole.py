"""A proxy whose connections can fall silent: they stay open, but pass nothing on."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Hole:
    """`address` is where to connect; `made` counts connections."""

    def __init__(self, listening: socket.socket, target: str) -> None:
        host, _, port = target.rpartition(":")
        self.address = f"localhost:{listening.getsockname()[1]}"
        self.made = 0
        self._target = (host, int(port))
        self._silent: set[socket.socket] = set()
        self._open: list[socket.socket] = []

    def fall_silent(self) -> None:
        """Drops all bytes on the connections that are open now. New connections work."""
        self._silent.update(self._open)

    def serve(self, listening: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while True:
                near, _ = listening.accept()
                far = socket.create_connection(self._target)
                self.made += 1
                self._open += [near, far]
                for source, sink in ((near, far), (far, near)):
                    threading.Thread(target=self._carry, args=(source, sink), daemon=True).start()

    def close(self) -> None:
        for each in self._open:
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()

    def _carry(self, source: socket.socket, sink: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                if source not in self._silent:
                    sink.sendall(data)
            if source not in self._silent:
                sink.shutdown(socket.SHUT_WR)


@contextmanager
def hole(target: str) -> Iterator[Hole]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        proxy = Hole(listening, target)
        threading.Thread(target=proxy.serve, args=(listening,), daemon=True).start()
        yield proxy
        listening.shutdown(socket.SHUT_RDWR)
        proxy.close()
