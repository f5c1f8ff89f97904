"""Test the client's defaults against the table that the TypeScript client's tests read too.

One run is created with all values of the table, and one with required values only. To the server they must be equal.
"""

from __future__ import annotations

import inspect
import json
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, Server

import gradus
from gradus import Client, _retries, _run_core, aio

TABLE: dict[str, Any] = json.loads((Path(ROOT) / "test/clients/defaults.json").read_text())

STAGE = gradus.stage()
BOTH = {"easy": 1.0, "hard": 1.0}
CHOICES: dict[str, dict[str, Any]] = {
    "minimal": {},
    "evaluated": {"evaluation_arms": [gradus.evaluation_arm("countdown", arm_id="held-out", tasks=8)]},
    "sampled": {"dynamic_sampling": gradus.DynamicSampling(oversample_max=2)},
    "staged": {"policy": gradus.staged(gradus.stage(ranks=(0, 1)))},
    "replay": {"policy": gradus.replay(STAGE, cycle_tasks=8)},
    "competence": {"policy": gradus.competence({"easy": 1.0}, BOTH)},
    "bandit": {"policy": gradus.bandit()},
    "forgetting": {
        "policy": gradus.forgetting(gradus.domain("one", {"easy": 1.0}), gradus.domain("two", {"hard": 1.0}))
    },
    "frontier": {"policy": gradus.frontier()},
    "recommended": {"policy": gradus.recommended()},
}


@pytest.mark.parametrize("client", [Client, aio.Client])
def test_calls_and_streams(client: Any) -> None:
    made = inspect.signature(client).parameters
    assert {
        "timeoutSeconds": made["timeout"].default,
        "nextBatchTimeoutSeconds": _run_core._BATCH_SECONDS,
        "window": inspect.signature(client.stream_steps).parameters["window"].default,
        "retriesUnreached": _retries._RETRIES_UNREACHED,
        "firstDelaySeconds": _retries._FIRST_DELAY,
        "greatestDelaySeconds": _retries._DELAY_MAX,
        "onFeedback": made["on_feedback"].default,
    } == TABLE["client"]


@pytest.mark.parametrize("name", TABLE["runs"])
def test_a_run(server: Server, client: Client, name: str) -> None:
    run_id = f"defaults-{name}"
    body = json.dumps({"runId": run_id, "config": TABLE["run"] | TABLE["runs"][name]}).encode()
    url = f"http://{server.http}/gradus.v1.CurriculumService/CreateRun"
    request = urllib.request.Request(url, body, {"content-type": "application/json"})
    with urllib.request.urlopen(request) as reply:
        assert json.load(reply)["run"]["runId"] == run_id
    arms = [gradus.arm("countdown", arm_id="easy"), gradus.arm("countdown", "T1", arm_id="hard")]
    choices: dict[str, Any] = {"policy": gradus.mixture(), "length": 64} | CHOICES[name]
    client.run(run_id).create(arms=arms, num_generations=2, prompts_per_update=4, **choices)
