"""Test episodes of gradus.verifiers in verifiers' own environment, with a scripted model that knows the game."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from mastermind import next_guess
from real_server import Server
from test_verifiers import Endpoint, Script, play

import gradus
import gradus_verifiers
from gradus import Client
from gradus.training import RunAddress


class Player(Script):
    """An OpenAI-compatible endpoint, whose model guesses codes that agree with the replies."""

    def written(self, request: Any) -> dict[str, Any]:
        assert [each["function"]["name"] for each in request["tools"]] == ["guess"]
        position: Any = type("Position", (), {"messages": request["messages"]})
        return next_guess(position)


@pytest.fixture
def player() -> Iterator[str]:
    server = Endpoint(("127.0.0.1", 0), Player)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    server.shutdown()
    server.server_close()


def test_a_run_is_played_to_its_end(server: Server, client: Client, run_id: str, player: str) -> None:
    run = client.run(run_id)
    arms = [gradus.arm("games/mastermind", "easy", tools=["guess"])]
    run.create(arms, gradus.mixture(), num_generations=4, prompts_per_update=2, length=2, group_timeout=600)
    env = gradus_verifiers.load_environment(str(RunAddress(server.address, run_id)))
    episodes = asyncio.run(play(env, list(env.taskset), player, 4))
    assert [each.ok for each in episodes] == [True] * 8
    traces = [trace for each in episodes for trace in each.traces]
    samples = [sample for group in run.groups(0) for sample in group.samples]
    assert sorted(trace.reward for trace in traces) == sorted(each.reward or 0 for each in samples)
    assert all(trace.reward > 0.5 and trace.num_turns == trace.metrics["calls"] for trace in traces)
    assert {trace.info["gradus"]["stop_reason"] for trace in traces} == {"goal"}
    assert run.get().state.done


def test_a_limit_of_verifiers_ends_the_episode(server: Server, player: str) -> None:
    env = gradus_verifiers.load_environment(
        f"gradus://{server.address}", environment="games/mastermind", level="easy", tools=["guess"]
    )
    env.config.agent.max_turns = 1
    task = next(iter(env.taskset))
    (episode,) = asyncio.run(play(env, [task], player, 1))
    (trace,) = episode.traces
    assert (trace.num_turns, trace.info["gradus"]["stop_reason"]) == (1, "ended")
    assert (trace.reward, trace.info["gradus"]["calls"]) == (0.0, 1)
