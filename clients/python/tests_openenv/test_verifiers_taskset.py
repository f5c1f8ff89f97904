"""verifiers' own taskset of OpenEnv servers, with a scripted model, against a server that asks for a token."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
import verifiers.v1 as vf
from real_server import TOKEN, Server

from gradus import Client

TASKS = 100


def reply(text: str) -> str:
    """Returns a tour, or text without an answer, as the prompt decides."""
    prompt = json.loads(text)["observation"]["prompt"]
    return "I do not know." if len(prompt) % 3 == 0 else "<think>so</think><answer>[0, 1, 2, 3, 4, 5, 6, 7]</answer>"


class Model(BaseHTTPRequestHandler):
    """An OpenAI-compatible endpoint. It keeps what it was shown."""

    shown: list[str]

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        content = request["messages"][-1]["content"]
        text = content if isinstance(content, str) else content[0]["text"]
        self.shown.append(text)
        message = {"role": "assistant", "content": self.written(text)}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        answer = {"id": "1", "object": "chat.completion", "created": 0, "model": "script", "choices": [choice]}
        body = json.dumps({**answer, "usage": usage}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def written(self, text: str) -> str:
        return reply(text)

    def log_message(self, *_: Any) -> None:
        pass


class TooLong(Model):
    """Writes more than the server scores."""

    def written(self, text: str) -> str:
        return "x" * 300 * 1024


@pytest.fixture
def play() -> Iterator[Any]:
    """Yields a function that plays the tasks of resets, and returns the episodes with what the model was shown."""
    servers: list[ThreadingHTTPServer] = []

    def start(address: str, resets: list[dict[str, Any]], model: type[Model] = Model) -> Any:
        handler: Any = type("One", (model,), {"shown": []})
        servers.append(ThreadingHTTPServer(("127.0.0.1", 0), handler))
        threading.Thread(target=servers[-1].serve_forever, daemon=True).start()
        taskset = {"id": "openenv", "base_url": address, "resets": resets}
        env: Any = vf.load_environment(vf.resolve_env_config({"taskset": taskset}))
        client = vf.EvalClientConfig(base_url=f"http://127.0.0.1:{servers[-1].server_address[1]}/v1", api_key_var="NO")
        context = vf.ModelContext(client=client, model="script", sampling=vf.SamplingConfig())

        async def all_tasks() -> list[Any]:
            slots = [slot for task in env.taskset for slot in env.slots(task, 1)]
            async with env.serving():
                return await asyncio.gather(*(env.run_slot(slot, context) for slot in slots))

        return asyncio.run(all_tasks()), handler.shown

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def test_verifiers_plays_tasks_for_the_rewards_of_steps(guarded: Server, play: Any) -> None:
    resets = [{"level": "easy", "seed": seed} for seed in range(TASKS)]
    episodes, shown = play(f"http://any:{TOKEN}@{guarded.http}/np/tsp", resets)
    assert [each.ok for each in episodes] == [True] * TASKS
    with Client(guarded.address, token=TOKEN) as client:
        expected = []
        for reset in resets:
            task = client.reset("np/tsp", **reset)
            text = reply(json.dumps({"observation": {"prompt": task.prompt[0]["content"]}}))
            expected.append(client.step(task, text).reward)
    assert [trace.reward for each in episodes for trace in each.traces] == expected
    assert len(set(expected)) > 1
    # The model is shown the prompt and the schema, and no id.
    assert [set(json.loads(text)["observation"]) for text in shown] == [{"prompt"}] * TASKS


def test_a_completion_without_a_reward_fails_the_rollout(guarded: Server, play: Any) -> None:
    (episode,), _ = play(f"http://any:{TOKEN}@{guarded.http}/np/tsp", [{"level": "easy", "seed": 1}], TooLong)
    assert not episode.ok
    assert "there is no reward (too_large)" in str(episode.traces[0].errors or episode.errors)
    assert episode.traces[0].rewards.get("openenv_reward") is None


def test_an_overload_fails_the_rollout(start_server: Any, tmp_path: Any, play: Any) -> None:
    tokens = tmp_path / "tokens.json"
    tokens.write_text(json.dumps([{"name": "slow", "role": "trainer", "token": TOKEN, "max_calls_per_second": 0.01}]))
    tokens.chmod(0o600)
    server = start_server("--tokens-file", str(tokens))
    (episode,), _ = play(f"http://any:{TOKEN}@{server.http}/np/tsp", [{"level": "easy", "seed": 1}])
    assert not episode.ok
