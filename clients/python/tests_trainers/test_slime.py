"""Test gradus.slime by slime's calls. slime itself needs GPUs and is on no package index."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
import slime_interface
from grpc import StatusCode
from policies import create, recorded, written
from real_server import Server
from slime_interface import arguments, load_function, rollout

from gradus import Client, Run, UnavailableError
from gradus.training import RunAddress, UnscoredError

slime_interface.install()


def write(sample: Any, place: int) -> str:
    return written(sample.prompt, place)


def prompts(groups: list[list[Any]]) -> list[str]:
    return [group[0].prompt for group in groups]


def source_of(args: Namespace) -> Any:
    return load_function(args.data_source_path)(args)


@pytest.fixture
def run(client: Client, run_id: str) -> Run:
    return create(client.run(run_id))


@pytest.fixture
def args(server: Server, run: Run, tmp_path: Path) -> Namespace:
    return arguments(str(RunAddress(server.address, run.run_id)), str(tmp_path))


def test_a_run_is_sampled_to_its_end(run: Run, args: Namespace) -> None:
    source = source_of(args)
    assert len(source) == 32
    groups = [group for _ in range(8) for group in rollout(args, source, write)]
    assert [sample.index for group in groups for sample in group] == list(range(128))
    assert [sample.group_index for group in groups for sample in group[:1]] == list(range(32))
    assert len(set(prompts(groups))) == 32
    assert recorded(run) == {group[0].group_index: [sample.reward for sample in group] for group in groups}
    assert run.get().state.done
    with pytest.raises(ValueError, match="has ended"):
        source.get_samples(1)


def test_samples_are_scored_one_by_one_too(run: Run, args: Namespace) -> None:
    args.group_rm = False
    groups = rollout(args, source_of(args), write)
    assert [sample.reward for sample in groups[0]] == recorded(run)[0]


@pytest.mark.parametrize("stopped", [1, 4])
def test_after_a_resume_the_tasks_are_those_of_the_undisturbed_run(
    client: Client, server: Server, run_id: str, tmp_path: Path, stopped: int
) -> None:
    runs = [create(client.run(f"{run_id}-{which}")) for which in ("whole", "broken")]
    whole_args, args = (
        arguments(str(RunAddress(server.address, each.run_id)), str(tmp_path / each.run_id)) for each in runs
    )
    source = source_of(whole_args)
    whole = [prompts(rollout(whole_args, source, write)) for _ in range(8)]

    source = source_of(args)
    begun = [prompts(rollout(args, source, write)) for _ in range(stopped)]
    source.save(stopped - 1)
    for _ in range(2):
        rollout(args, source, write)

    resumed = source_of(args)
    resumed.load(stopped - 1)
    assert begun + [prompts(rollout(args, resumed, write)) for _ in range(8 - stopped)] == whole
    assert recorded(runs[0]) == recorded(runs[1])


def test_groups_in_flight_at_a_checkpoint_come_again(args: Namespace) -> None:
    source = source_of(args)
    rollout(args, source, write)
    in_flight = prompts(source.get_samples(2))
    source.save(0)
    resumed = source_of(args)
    resumed.load(0)
    assert prompts(rollout(args, resumed, write))[:2] == in_flight


def test_groups_that_slime_gives_back_come_first(args: Namespace) -> None:
    source = source_of(args)
    first, second = source.get_samples(2)
    source.add_samples([second])
    assert source.get_samples(2)[0] is second
    assert first[0].group_index == 0


def test_groups_that_slime_gives_back_outlive_a_call_that_fails(
    args: Namespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = source_of(args)
    first, second = source.get_samples(2)
    source.add_samples([second])
    with monkeypatch.context() as away, pytest.raises(UnavailableError):
        away.setattr("gradus.Run.next_batch", Mock(side_effect=UnavailableError(StatusCode.UNAVAILABLE, "away")))
        source.get_samples(2)
    assert source.get_samples(2)[0] is second
    assert first[0].group_index == 0


def test_a_sample_without_a_reward_leaves_the_loss_and_moves_no_mean(args: Namespace) -> None:
    source = source_of(args)

    def break_two(sample: Any, place: int) -> str:
        if place > 1:
            reference = sample.metadata["gradus"]
            sample.metadata["gradus"] = {**reference, "task_id": reference["task_id"][:-4] + "AAAA"}
        return "<think></think><answer>1 + 1</answer>" if place else "none"

    group = rollout(args, source, break_two)[0]
    assert [sample.reward for sample in group] == pytest.approx([0.0, 0.1, 0.05, 0.05])
    assert [sample.remove_sample for sample in group] == [False, False, True, True]

    def break_all(sample: Any, place: int) -> str:
        sample.metadata["gradus"] = {**sample.metadata["gradus"], "task_id": "AAAA"}
        return ""

    with pytest.raises(UnscoredError, match="invalid_task_id"):
        rollout(args, source, break_all)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"n_samples_per_prompt": 8}, "Set --n-samples-per-prompt=4"),
        ({"apply_chat_template": False}, "set --apply-chat-template"),
        ({"over_sampling_batch_size": 12}, "Set --over-sampling-batch-size to an update batch, 4"),
        ({"num_rollout": 9}, "asks for 36 prompts, and the run's length is 32"),
        ({"dynamic_sampling_filter_path": "a.b"}, "create it with group_timeout"),
        ({"prompt_data": None}, "not the address of a run"),
    ],
)
def test_what_would_wait_for_ever_or_go_wrong_is_refused(args: Namespace, wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        source_of(Namespace(**{**vars(args), **wrong}))
