"""NeMo Gym: rows whose answers a resources server verifies, by `/verify` over HTTP.

`nemo-gym:http://127.0.0.1:8000,rows=data/train.jsonl`. Each row is a task: its `responses_create_params.input` is the
prompt, and the whole row is sent to `/verify` with the answer as the assistant's message. A reply that is marked as a
failure, e.g. of the server's judge, gives no reward, whatever number comes with it. Start the server separately, e.g.
by NeMo Gym's own command; it has its own Python and packages.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gradus.serve._catalogue import Needs, Offer, TargetError
from gradus.serve._environment import Environment
from gradus.serve._facts import MisshapenError, UnavailableError
from gradus.serve._rows import read_rows
from gradus.serve.adapters._http import Asking, StatusError
from gradus.serve.adapters._target import Target, slug_of

SECONDS_MAX = 28
"""Maximum seconds to verify an answer. The Gradus server that mounts the rows ends a worker after 33 s."""
AWAY = (429, *range(500, 600))
"""HTTP status codes of a server that cannot answer now, so that the answer may be scored later."""
_ROLES = {"system": "system", "developer": "system", "user": "user", "assistant": "assistant"}


def needs(rest: str) -> Needs:
    """Returns the access that a target needs: the file of its rows, and the network."""
    rows = Target.parse(rest, ["rows", "name"]).options.get("rows")
    return Needs(read=[os.path.abspath(rows)] if rows else [], network=True)


def offer(rest: str) -> Offer:
    """Returns one environment. TargetError has the reason if its rows cannot be mounted."""
    target = Target.parse(rest, ["rows", "name"])
    if not target.name.startswith(("http://", "https://")) or "rows" not in target.options:
        raise TargetError(
            "write nemo-gym:http://host:port,rows=file.jsonl: a server's address, and the rows it verifies"
        )
    rows = read_rows(os.path.abspath(target.options["rows"]), Path())
    reasons = {index: reason for index, row in enumerate(rows) if (reason := refusal_of(row)) is not None}
    slug = "nemo-gym/" + slug_of(target.options.get("name") or Path(target.options["rows"]).resolve().parent.name)
    left_out = {}
    if reasons:
        first = next(iter(reasons))
        left_out[f"{slug}#rows"] = f"{len(reasons):,} of {len(rows):,} rows; row {first:,}: {reasons[first]}"
    kept = [row for index, row in enumerate(rows) if index not in reasons]
    if not kept:
        raise TargetError(
            f"no row of {target.options['rows']} can be mounted; row 0: {reasons.get(0, 'there is none')}"
        )
    return Offer([NemoGymServer(slug, target, kept)], left_out)


def refusal_of(row: Any) -> str | None:
    """Returns the reason for which a row cannot be a task of one turn; None: it can."""
    asked = row.get("responses_create_params") if isinstance(row, dict) else None
    if not isinstance(asked, dict) or not asked.get("input"):
        return "it has no responses_create_params.input"
    if asked.get("tools"):
        return "it gives tools, so that its episode has several turns"
    try:
        messages_of(asked["input"])
    except ValueError as error:
        return str(error)
    return None


def messages_of(given: Any) -> list[dict[str, str]]:
    """Converts input in the form of OpenAI's Responses to chat messages.

    Raises ValueError if it holds more than text.
    """
    if isinstance(given, str):
        return [{"role": "user", "content": given}]
    messages = []
    for each in given:
        content = each.get("content")
        if isinstance(content, list):
            if any(part.get("type") not in ("input_text", "output_text") for part in content):
                raise ValueError("its prompt has more than text, e.g. a picture")
            content = "".join(part["text"] for part in content)
        if each.get("role") not in _ROLES or not isinstance(content, str):
            raise ValueError("its prompt has more than messages, e.g. a tool's call")
        messages.append({"role": _ROLES[each["role"]], "content": content})
    return messages


def response_of(text: str) -> dict[str, Any]:
    """Returns an answer as a model's response."""
    content = [{"type": "output_text", "text": text, "annotations": []}]
    message = {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed", "content": content}
    head = {"id": "resp_1", "created_at": 0, "model": "gradus", "object": "response", "output": [message]}
    return head | {"parallel_tool_calls": False, "tool_choice": "none", "tools": []}


def failure_mark(reply: dict[str, Any]) -> str | None:
    """Returns the mark by which a reply says that its reward is no verdict on the answer; None: the reply has none.

    NeMo Gym 0.7 sets `mask_sample` at the top of the reply. Version 0.6 sets `_ng_failure_class`, e.g. judge_failed, or
    `mask_sample` in `instance_config`. A `failure_reason` or `failure_kind` is no mark: an answer that has no SQL in it
    has one too, and deserves its 0.
    """
    config = reply.get("instance_config")
    if reply.get("mask_sample") is True:
        return "mask_sample"
    if reply.get("_ng_failure_class"):
        why = reply.get("_ng_failure_judge_error")
        return f"_ng_failure_class {reply['_ng_failure_class']}" + (f": {why}" if why else "")
    if isinstance(config, dict) and config.get("mask_sample") is True:
        return "instance_config.mask_sample"
    return None


class NemoGymServer(Environment):
    """Rows that a NeMo Gym resources server verifies."""

    components = ("score",)

    def __init__(self, slug: str, target: Target, rows: Sequence[Any]) -> None:
        self.id = slug  # type: ignore[misc]
        self.rows = {"rows": rows}  # type: ignore[misc]
        self.remarks = (f"verified by {target.name}, which is asked over the network",)  # type: ignore[misc]
        self._target = target

    def prompt(self, instance: Any) -> list[dict[str, str]]:
        """Returns the row's input."""
        return messages_of(instance["responses_create_params"]["input"])

    def verify(self, instance: Any, answer: str) -> float:
        """Returns the reward of `/verify`, after `/seed_session` in the same session."""
        server = Asking(self._target.name, AWAY, SECONDS_MAX)
        try:
            server.ask("/seed_session", instance)
        except StatusError as error:
            if error.status not in (404, 405):
                raise
        reply = server.json("/verify", {**instance, "response": response_of(self._target.wrapped(answer))})
        if not isinstance(reply, dict):
            raise MisshapenError("/verify must answer with an object")
        mark = failure_mark(reply)
        if mark is not None:
            raise UnavailableError(f"/verify marks its reward as a failure of the server's ({mark})")
        reward = reply.get("reward")
        if not isinstance(reward, (int, float)):
            raise ValueError(f"/verify gave no reward, but {reward!r}")
        return self._target.share(float(reward))
