"""Sessions of ORS servers (Open Reward Standard), with the same requests as the client of the package openreward."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from gradus.serve._facts import MisshapenError, UnavailableError
from gradus.serve.adapters._http import Asking, StatusError, json_of

AWAY = (429, 502, 503, 504)
"""HTTP status codes after which OpenReward's own client tries again."""
GONE = (404, 410)
"""HTTP status codes of requests for a session that the server does not have."""
CLOSE_SECONDS_MAX = 2
SID_LENGTH_MAX = 256
REPLY_BYTES_MAX = 60 * 1024
"""Maximum bytes of a call's text for the policy. The rest is cut."""
WORDS_MAX = 500


class GoneError(UnavailableError):
    """The server no longer has the session, e.g. after a restart. Another session of the same task can replace it."""


@dataclass(frozen=True)
class Output:
    """Result of a call."""

    text: str
    reward: float | None
    finished: bool
    refused: bool = False
    """Whether the arguments were invalid, so that nothing was carried out. `text` has the reason."""


class Session:
    """A session of one task. The server keeps its state."""

    def __init__(self, address: str, environment: str, spec: Any) -> None:
        self._server = Asking(address, AWAY)
        self._path = "/" + quote(environment, safe="")
        events = dict(_events(self._server.ask("/create_session", {})))
        sid = events.get("task_id", b"").decode(errors="replace")
        if not (0 < len(sid) <= SID_LENGTH_MAX and sid.isascii() and sid.isprintable()):
            raise MisshapenError("/create_session gave no session id")
        self._headers = {"x-session-id": sid}
        self._server.ask("/create", {"env_name": environment, "task_spec": spec}, self._headers)

    def tools(self) -> Any:
        """Returns the tools of the task, in the form of the server."""
        return json_of(self._ask("task_tools"), "task_tools")

    def messages(self) -> list[dict[str, str]]:
        """Returns the prompt as chat messages. Raises MisshapenError if it has more than text."""
        try:
            found = json_of(self._ask("messages"), "messages")
        except GoneError:
            # Servers before openreward 0.1.157 have only a prompt.
            found = [{"role": "user", "blocks": json_of(self._ask("prompt"), "prompt")}]
        if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
            raise MisshapenError("its messages must be a list of objects")
        return [{"role": str(each.get("role")), "content": text_of(each.get("blocks"), "its prompt")} for each in found]

    def call(self, name: str, arguments: Mapping[str, Any]) -> Output:
        """Calls a tool. Raises MisshapenError if the tool fails."""
        return output_of(name, _result_of(name, self._ask("call", {"name": name, "input": arguments})))

    def _ask(self, name: str, body: Any = None) -> bytes:
        try:
            return self._server.ask(f"{self._path}/{name}", body, self._headers)
        except StatusError as error:
            if error.status in GONE:
                raise GoneError(f"its session has ended: {error}") from error
            raise

    def restart(self) -> None:
        """Gives the following requests the full time again."""
        self._server.restart()

    def close(self) -> None:
        """Ends the session. If this request fails, the server ends the session by itself after some minutes."""
        with contextlib.suppress(UnavailableError, MisshapenError, ValueError):
            self._server.restart(CLOSE_SECONDS_MAX)
            for path in ("/delete", "/delete_session"):
                self._server.ask(path, {}, self._headers)


def output_of(name: str, result: Any) -> Output:
    """Returns the output of a call. Raises MisshapenError if it has a wrong form, and names the field."""
    if not isinstance(result, dict):
        raise MisshapenError(f"tool {name!r}: the result must be an object")
    if result.get("ok") is False:
        words = str(result.get("error"))
        # Servers of older versions give no reason.
        if result.get("reason") == "input_validation" or words.startswith("Tool input validation error"):
            return Output(cut(words), None, finished=False, refused=True)
        raise MisshapenError(f"tool {name!r} was refused ({result.get('reason')}): {words[:WORDS_MAX]}")
    output = result.get("output")
    if not isinstance(output, dict):
        raise MisshapenError(f"tool {name!r}: the result has no output")
    reward, finished = output.get("reward"), output.get("finished")
    is_number = isinstance(reward, (int, float)) and not isinstance(reward, bool) and math.isfinite(reward)
    if reward is not None and not is_number:
        raise MisshapenError(f"tool {name!r}: output.reward must be a finite number or null, not {reward!r:.100}")
    if not isinstance(finished, bool):
        raise MisshapenError(f"tool {name!r}: output.finished must be true or false, not {finished!r:.100}")
    return Output(cut(text_of(output.get("blocks"), f"tool {name!r}: output.blocks")), reward, finished)


def text_of(blocks: Any, what: str) -> str:
    """Returns the text of blocks. Raises MisshapenError, with `what` before it, if they have more than text."""
    if not isinstance(blocks, list) or not all(isinstance(block, dict) for block in blocks):
        raise MisshapenError(f"{what} must be a list of blocks")
    for block in blocks:
        if block.get("type", "text") != "text" or not isinstance(block.get("text"), str):
            raise MisshapenError(f"{what} has a block of type {block.get('type')!r:.100}: only text can be shown")
    return "\n\n".join(block["text"] for block in blocks)


def cut(text: str) -> str:
    """Returns a text, cut if it is long."""
    data = text.encode("utf-8", "backslashreplace")
    if len(data) <= REPLY_BYTES_MAX:
        return text
    return f"{data[:REPLY_BYTES_MAX].decode(errors='ignore')}\n… ({len(data):,} bytes, of which the rest is cut)"


def _events(stream: bytes) -> Iterator[tuple[str, bytes]]:
    """Yields the names and data of whole server-sent events."""
    for event in stream.replace(b"\r\n", b"\n").split(b"\n\n")[:-1]:
        fields = [
            (name, value.removeprefix(b" ")) for name, _, value in (f.partition(b":") for f in event.split(b"\n"))
        ]
        kind = b"".join(value for name, value in fields if name == b"event")
        yield kind.decode(errors="replace"), b"\n".join(value for name, value in fields if name == b"data")


def _result_of(name: str, stream: bytes) -> Any:
    """Returns the result in a call's stream, which comes in pieces."""
    pieces = []
    for kind, data in _events(stream):
        if kind == "error":
            raise MisshapenError(f"tool {name!r} failed: {data[:WORDS_MAX].decode(errors='replace')}")
        if kind in ("chunk", "end"):
            pieces.append(data)
        if kind == "end":
            return json_of(b"".join(pieces), f"tool {name!r}")
    raise UnavailableError(f"the result of tool {name!r} ended too early")
