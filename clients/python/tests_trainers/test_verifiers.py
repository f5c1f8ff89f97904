"""Test gradus.verifiers in verifiers' own environment and harness, with a scripted model on loopback."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import verifiers.v1 as vf
from policies import create, recorded, written
from real_server import Server
from verifiers.v1.cli.eval.runner import run_eval
from verifiers.v1.configs.cli.eval import EvalConfig
from verifiers.v1.serve.server import EnvServer
from verifiers.v1.utils.loaders import environment_class, task_type, taskset_class

import gradus_verifiers
from gradus import Client, Run
from gradus.training import RunAddress


class Script(BaseHTTPRequestHandler):
    """An OpenAI-compatible endpoint, whose model counts how often it got a prompt."""

    asked: dict[str, int]
    lock: threading.Lock

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        choice = {"index": 0, "message": self.written(request), "finish_reason": "stop"}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        reply = {"id": "1", "object": "chat.completion", "created": 0, "model": "script", "choices": [choice]}
        body = json.dumps({**reply, "usage": usage}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def written(self, request: Any) -> dict[str, Any]:
        """Return the next message of the model."""
        prompt = request["messages"][-1]["content"]
        with self.lock:
            index = self.asked.get(prompt, 0)
            self.asked[prompt] = index + 1
        return {"role": "assistant", "content": written(prompt, index)}

    def log_message(self, *_: Any) -> None:
        pass


class Endpoint(ThreadingHTTPServer):
    request_queue_size = 128


@pytest.fixture
def endpoint() -> Iterator[str]:
    handler = type("OneScript", (Script,), {"asked": {}, "lock": threading.Lock()})
    server = Endpoint(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    server.shutdown()
    server.server_close()


@pytest.fixture
def run(client: Client, run_id: str) -> Run:
    return create(client.run(run_id), group_timeout=600)


@pytest.fixture
def address(server: Server, run: Run) -> str:
    return str(RunAddress(server.address, run.run_id))


def context(endpoint: str) -> vf.ModelContext:
    client = vf.EvalClientConfig(base_url=endpoint, api_key_var="NO_KEY")
    return vf.ModelContext(client=client, model="script", sampling=vf.SamplingConfig())


async def play(env: vf.Env, tasks: list[vf.Task], endpoint: str, group: int) -> list[vf.Episode]:
    """Plays groups of episodes concurrently, as evaluations and prime-rl's environment servers do."""
    slots = [slot for task in tasks for slot in env.slots(task, group)]
    async with env.serving():
        return await asyncio.gather(*(env.run_slot(slot, context(endpoint)) for slot in slots))


def test_the_id_is_found_with_all_that_belongs_to_it() -> None:
    assert taskset_class("gradus-verifiers") is gradus_verifiers.GradusTaskset
    assert environment_class("gradus-verifiers") is gradus_verifiers.GradusEnv
    assert task_type("gradus-verifiers").__name__ == "GradusTask"
    config = vf.resolve_env_config({"taskset": {"id": "gradus-verifiers", "address": "gradus://localhost:50051/a"}})
    assert isinstance(vf.load_environment(config), gradus_verifiers.GradusEnv)
    assert not gradus_verifiers.GradusTaskset(config.taskset).bounded


def test_a_run_is_played_to_its_end(run: Run, address: str, endpoint: str) -> None:
    env = gradus_verifiers.load_environment(address)
    tasks = iter(env.taskset)
    played = []
    for _ in range(8):
        now = [next(tasks) for _ in range(4)]
        episodes = asyncio.run(play(env, now, endpoint, 4))
        assert [each.ok for each in episodes] == [True] * 16
        assert {trace.reward for each in episodes for trace in each.traces} <= {0.0, 0.1}
        assert {trace.metrics["solved"] for each in episodes for trace in each.traces} == {0.0}
        played += now
    assert next(tasks, None) is None
    assert [each.data.idx for each in played] == list(range(32))
    assert [each.key for each in played] == [f"{run.run_id}/{cursor}" for cursor in range(32)]
    assert run.get().state.samples_recorded == 128
    assert [sorted(each) for each in recorded(run).values()] == [
        sorted(0.1 if "answer" in written(task.data.prompt[-1].content, index) else 0.0 for index in range(4))
        for task in played
    ]


def test_a_task_survives_the_wire_to_an_environment_server(address: str, endpoint: str) -> None:
    env = gradus_verifiers.load_environment(address)
    task = next(iter(env.taskset))
    server = EnvServer(env.config, "tcp://127.0.0.1:0")
    try:
        rebuilt = server._build_task(json.loads(task.data.model_dump_json()))
        assert (rebuilt.key, rebuilt.hash) == (task.key, task.hash)
        (episode,) = asyncio.run(play(server.env, [rebuilt], endpoint, 1))
        assert episode.ok
    finally:
        server.frontend.close()
        server.ctx.term()


def test_verifiers_evaluates_a_family(server: Server, endpoint: str, tmp_path: Path) -> None:
    env = {"id": "gradus-verifiers", "environment": "countdown", "level": "T0", "split": "eval"}
    config = EvalConfig(
        env={"taskset": {**env, "address": f"gradus://{server.address}"}},
        model="script",
        client=vf.EvalClientConfig(base_url=endpoint, api_key_var="NO_KEY"),
        select={"limit": 5},
        num_rollouts=2,
        push=False,
        rich=None,
        output_dir=tmp_path,
    )
    episodes = asyncio.run(run_eval(config))
    assert [each.ok for each in episodes] == [True] * 10
    assert len({each.task.key for each in episodes}) == 5


def test_a_completion_without_a_reward_is_an_error_and_no_zero(address: str, endpoint: str) -> None:
    env = gradus_verifiers.load_environment(address)
    task = next(iter(env.taskset))
    broken = task.with_data(reference={**task.data.reference, "task_id": "AAAA"})
    (episode,) = asyncio.run(play(env, [broken], endpoint, 1))
    assert not episode.ok
    assert "invalid_task_id" in episode.traces[0].errors[0].message
    assert episode.traces[0].rewards == {"reward": None}


def test_begins_again_where_the_run_stands_or_where_it_is_told(run: Run, address: str, endpoint: str) -> None:
    env = gradus_verifiers.load_environment(address)
    tasks = iter(env.taskset)
    asyncio.run(play(env, [next(tasks) for _ in range(4)], endpoint, 4))
    fifth = next(tasks)
    assert next(iter(gradus_verifiers.load_environment(address).taskset)).key == fifth.key
    first = next(iter(gradus_verifiers.load_environment(address, cursor=0).taskset))
    assert first.key == f"{run.run_id}/0"


def test_runs_that_would_wait_for_a_lost_rollout_are_refused(client: Client, server: Server, run_id: str) -> None:
    create(client.run(run_id))
    env = gradus_verifiers.load_environment(str(RunAddress(server.address, run_id)))
    with pytest.raises(ValueError, match="create it with group_timeout"):
        next(iter(env.taskset))
    with pytest.raises(ValueError, match=r"set --env\.taskset\.address or"):
        next(iter(gradus_verifiers.load_environment().taskset))
