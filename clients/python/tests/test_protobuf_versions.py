"""Test the generated code with protobuf releases that trainers have installed, each in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT, Server

# Oldest and newest of each allowed major version. vLLM and others pin versions of 5 and 6.
VERSIONS = ["5.29.5", "6.30.2", "6.33.2", "7.36.2"]

PROGRAM = """
import sys
import google.protobuf
assert google.protobuf.__version__ == sys.argv[1], google.protobuf.__version__

from gradus.v1 import curriculum_pb2, environment_pb2, evaluation_pb2, outcome_pb2, task_pb2

for module in (curriculum_pb2, environment_pb2, evaluation_pb2, outcome_pb2, task_pb2):
    for name, descriptor in module.DESCRIPTOR.message_types_by_name.items():
        message = getattr(module, name)()
        for field in descriptor.fields:
            if field.type == field.TYPE_STRING and not hasattr(getattr(message, field.name), "append"):
                setattr(message, field.name, field.name)
        assert type(message).FromString(message.SerializeToString()) == message

weights = curriculum_pb2.SetWeightsRequest(run_id="r", weights={"a": 1.5})
assert weights.FromString(weights.SerializeToString()).weights["a"] == 1.5

from gradus import Client, arm, bandit
task = Client(sys.argv[2]).reset("countdown", seed=1, split="eval", parameters={"number_max": 20})
(result,) = Client(sys.argv[2]).stream_steps([task.group(["<think>a</think><answer>1</answer>"] * 2)])
assert result.result().rewards == [0.1, 0.1]
assert bandit(alpha=0.5).bandit.ema_softmax.alpha == 0.5 and arm("countdown").weight is None
print("fine")
"""


@pytest.fixture(scope="session")
def installed(request: pytest.FixtureRequest) -> Path:
    """Returns a folder with this protobuf, kept between tests because its download takes seconds."""
    version: str = request.param
    folder = ROOT / ".cache" / "protobuf" / f"{sys.version_info.major}.{sys.version_info.minor}" / version
    if not (folder / "google").exists():
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
        subprocess.run([*pip, "--target", str(folder), f"protobuf=={version}"], check=True)
    return folder


@pytest.mark.parametrize("installed", VERSIONS, indirect=True)
@pytest.mark.parametrize("implementation", ["upb", "python"])
def test_messages_survive(installed: Path, implementation: str, server: Server) -> None:
    environment = os.environ | {
        "PYTHONPATH": str(installed),
        "PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION": implementation,
        "PYTHONWARNINGS": "error",
    }
    command = [sys.executable, "-c", PROGRAM, installed.name, server.address]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert "fine" in done.stdout


def test_the_stubs_carry_no_version_guard() -> None:
    stubs = list((ROOT / "clients/python/src/gradus/v1").glob("*_pb2*.py"))
    assert stubs
    for stub in stubs:
        assert "ValidateProtobufRuntimeVersion" not in stub.read_text()
        assert "GRPC_GENERATED_VERSION" not in stub.read_text()
