"""A checkpoint that the first version of the adapter wrote (commit 61d8c31e), resumed by this one.

checkpoint-61d8c31e/ has its trainer_state.json, with the run, and the keys of the server that exported it, which are
used nowhere else. The run was paused at the checkpoint. The test makes weights and optimizer itself.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from conftest import ROOT, StartServer
from trl_training import run_config, settings, trainer_of

from gradus import Client
from gradus.trl import GradusSpec

RECORDED = ROOT / "clients/python/tests_trainers/checkpoint-61d8c31e"
RUN_ID = "old"


def test_a_checkpoint_of_the_first_version_is_resumed(start_server: StartServer, policy: Path, tmp_path: Path) -> None:
    server = start_server("--key-file", str(shutil.copy(RECORDED / "task-keys", tmp_path)))
    client = Client(server.address)
    saving = settings(tmp_path / "out", save_strategy="steps", save_steps=1, max_steps=2)
    trainer_of(GradusSpec(client, "another", run_config()), policy, **saving).train()
    checkpoint = tmp_path / "out" / "checkpoint-2"
    shutil.copy(RECORDED / "trainer_state.json", checkpoint)
    saved = json.loads((checkpoint / "trainer_state.json").read_text())["stateful_callbacks"]["GradusCallback"]

    # The run does not get the old pause, whether it was deleted or exists.
    for steps in (3, 4):
        spec = GradusSpec(client, RUN_ID, run_config())
        assert spec.last_checkpoint(str(tmp_path / "out")) is not None
        trainer = trainer_of(spec, policy, **settings(tmp_path / "resumed", max_steps=steps))
        trainer.train(resume_from_checkpoint=str(checkpoint))
        state = client.run(RUN_ID).get().state
        assert not state.paused
        assert state.batches_closed == steps
        assert state.samples_recorded == 16 * steps
        groups = [group for batch in range(steps) for group in client.run(RUN_ID).groups(batch)]
        assert [group.cursor for group in groups] == list(range(4 * steps))
        assert all(len(group.samples) == 4 for group in groups)
    assert saved["attributes"]["cursor"] == 8
