"""A NeMo Gym resources server, played by a script on loopback."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest

from gradus.serve import UnavailableError
from gradus.serve._catalogue import TargetError
from gradus.serve._level import Asked, words
from gradus.serve._link import Host, Terms
from gradus.serve.adapters import nemo_gym
from gradus.v1 import provider_pb2 as pb


def row(question: str, answer: str, **params: Any) -> dict[str, Any]:
    asked = [{"role": "developer", "content": "Be brief."}, {"role": "user", "content": question}]
    return {"responses_create_params": {"input": asked, **params}, "expected_answer": answer}


# Replies of resources servers, with only their marks of a failure, and the expected reward. None: no reward.
CONFIG = {"name": "swe_agents", "mask_sample": True}
RECORDED: dict[str, tuple[dict[str, Any], float | None]] = {
    # NeMo Gym 0.7.
    "masked": ({"reward": 0.0, "mask_sample": True}, None),
    "masked with a reward": ({"reward": 1.0, "mask_sample": True}, None),
    "masked, the config not": ({"reward": 0.0, "mask_sample": True, "instance_config": {"mask_sample": False}}, None),
    "not masked": ({"reward": 1.0, "mask_sample": False, "instance_config": {"mask_sample": False}}, 1.0),
    "not masked, and wrong": ({"reward": 0.0, "mask_sample": False, "failure_kind": "wrong_answer"}, 0.0),
    "mask of null": ({"reward": 1.0, "mask_sample": None, "instance_config": None}, 1.0),
    # NeMo Gym 0.6.
    "judge": (
        {"reward": 0.0, "_ng_failure_class": "judge_failed", "_ng_failure_judge_error": "ClientError: 401"},
        None,
    ),
    "another class": ({"reward": 0.0, "_ng_failure_class": "transient"}, None),
    "no class": ({"reward": 1.0, "_ng_failure_class": None}, 1.0),
    "config": ({"reward": 0.0, "instance_config": CONFIG}, None),
    # A reason does not mark a failure of the server: these rewards count.
    "no sql": ({"reward": 0.0, "failure_reason": "no_sql_extracted"}, 0.0),
    "bad sql": ({"reward": 0.0, "failure_reason": "execution_error", "failure_kind": "error"}, 0.0),
    "right": ({"reward": 1.0, "failure_reason": "none", "failure_kind": ""}, 1.0),
    # A reward that is not a number.
    "null": ({"reward": None}, None),
    "missing": ({"verdict": "right"}, None),
    "text": ({"reward": "1.0"}, None),
    "nan": ({"reward": float("nan")}, None),
    "infinite": ({"reward": float("inf")}, None),
    "beyond": ({"reward": 7.0}, None),
}


class Script(BaseHTTPRequestHandler):
    """Rewards the expected answer in a box with 2, and others with 0. Requires its session."""

    paths: ClassVar[list[str]] = []

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.paths.append(self.path)
        if self.path == "/seed_session":
            return self.reply(200, {}, "session=s1")
        if self.headers.get("cookie") != "session=s1":
            return self.reply(400, {"detail": "no session"})
        text = body["response"]["output"][0]["content"][0]["text"]
        if "down" in text:
            return self.reply(503, {})
        if text == "slow":
            time.sleep(1)
        if text in RECORDED:
            return self.reply(200, {**body, **RECORDED[text][0]})
        return self.reply(200, {**body, "reward": 2.0 if text == f"\\boxed{{{body['expected_answer']}}}" else 0.0})

    def reply(self, status: int, body: Any, cookie: str = "") -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-length", str(len(data)))
        if cookie:
            self.send_header("set-cookie", cookie)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def address() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Script)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()
    thread.join()


def test_rows_are_verified_by_the_server_over_the_network(address: str, tmp_path: Path) -> None:
    rows = [row("1 + 1?", "2"), row("2 + 2?", "4"), row("Look it up.", "5", tools=[{"type": "function"}])]
    file = tmp_path / "train.jsonl"
    file.write_text("\n".join(json.dumps(each) for each in rows))

    async def play() -> tuple[pb.DescribeResponse, list[str]]:
        terms = Terms(workers=1, memory_mib=512)
        host = await Host.start(f"nemo-gym:{address},rows={file},name=sums,wrap=boxed,high=2", terms)
        try:
            described = host.ready.described
            asked = Asked(described.environments[0], described.environments[0].levels[0])
            (made,) = await asked.make(host, [1])
            assert [each.role for each in made.made.prompt] == ["system", "user"]
            found = await asked.verify(host, made.made.instance, ["4", "2", "down"])
            return described, [words(each) for each in found]
        finally:
            await host.close()

    described, found = asyncio.run(play())
    assert described.environments[0].id == "nemo-gym/sums"
    assert described.environments[0].levels[0].rows == 2
    assert "gives tools, so that its episode has several turns" in described.left_out[0].reason
    assert found[:2] == ["graded, score 1", "graded, score 0"]
    assert found[2].startswith("unavailable, /verify answered 503")


@pytest.mark.parametrize("name", RECORDED)
def test_a_reply_that_is_marked_as_a_failure_has_no_reward(address: str, tmp_path: Path, name: str) -> None:
    file = tmp_path / "train.jsonl"
    file.write_text(json.dumps(row("1 + 1?", "2")))
    (environment,) = nemo_gym.offer(f"{address},rows={file}").environments
    reply, reward = RECORDED[name]
    if reward is not None:
        assert environment.verify(row("1 + 1?", "2"), name) == reward
        return
    is_marked = set(reply) - {"reward", "verdict"}
    with pytest.raises(UnavailableError if is_marked else ValueError) as raised:
        environment.verify(row("1 + 1?", "2"), name)
    if "_ng_failure_judge_error" in reply:
        assert str(raised.value).endswith("(_ng_failure_class judge_failed: ClientError: 401)")


def test_a_server_that_is_slow_or_gone_is_unavailable_before_a_worker_is_ended(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "train.jsonl"
    file.write_text(json.dumps(row("1 + 1?", "2")))
    monkeypatch.setattr(nemo_gym, "SECONDS_MAX", 0.5)
    (slow,) = nemo_gym.offer(f"{address},rows={file}").environments
    (gone,) = nemo_gym.offer(f"http://127.0.0.1:9,rows={file}").environments
    for environment in (slow, gone):
        with pytest.raises(UnavailableError, match="is not reached"):
            environment.verify(row("1 + 1?", "2"), "slow")


@pytest.mark.parametrize(
    ("rest", "message"),
    [
        ("http://127.0.0.1:9", "a server's address, and the rows"),
        ("http://127.0.0.1:9,rows=gone.jsonl", "no file gone"),
        ("http://127.0.0.1:9,file=x", "there is no option 'file'"),
        ("http://127.0.0.1:9,rows=x,wrap=odd", "there are plain, boxed"),
    ],
)
def test_a_target_that_cannot_be_is_refused(rest: str, message: str) -> None:
    with pytest.raises((TargetError, ValueError), match=message):
        nemo_gym.offer(rest)


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"expected_answer": "2"}, "no responses_create_params.input"),
        ({"responses_create_params": {"input": [{"role": "user", "content": [{"type": "input_image"}]}]}}, "a picture"),
        ({"responses_create_params": {"input": [{"type": "function_call"}]}}, "a tool's call"),
    ],
)
def test_rows_of_more_than_text_are_refused(given: dict[str, Any], reason: str) -> None:
    assert reason in (nemo_gym.refusal_of(given) or "")
