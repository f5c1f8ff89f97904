"""Test runs under a trainer: read in portions, saved in checkpoints, and refused if they would wait for ever."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import wrong
from training_run import create

import gradus
from gradus import Client, Run, Task
from gradus.training import (
    RunCheckpoint,
    TaskReader,
    check_batches,
    check_generations,
    check_length,
    check_prompts,
    check_scored_by_step,
    check_whole_groups,
    checkpoint_of,
    read_checkpoint,
    restore,
    state_from_text,
    state_to_text,
    write_checkpoint,
)


@pytest.fixture
def run(client: Client, run_id: str) -> Run:
    return create(client.run(run_id))


def test_a_state_goes_through_json() -> None:
    state = bytes(range(256)) * 3
    assert state_from_text(state_to_text(state)) == state


def test_a_reader_gives_portions_of_any_size_and_tasks_in_flight_again(client: Client, run: Run, run_id: str) -> None:
    reader = TaskReader(run)
    tasks = [each for count in (1, 3, 4) for each in reader.take(count)]
    assert [each.cursor for each in tasks] == [*range(8)]
    run.step_group(tasks[0], wrong(8))
    again = TaskReader(client.run(run_id))
    again.run.cursor = 4
    assert again.repeat_open_groups() == 3
    assert [each.cursor for each in again.take(5)] == [1, 2, 3, 4, 5]


def test_a_run_that_moved_on_goes_back_to_its_checkpoint(run: Run, tmp_path: Path) -> None:
    first = run.next_batch().tasks
    saved = checkpoint_of(run)
    assert restore(run, saved) is False
    for task in first:
        run.step_group(task, wrong(8))
    run.next_batch()
    write_checkpoint(tmp_path / "checkpoint" / "run.json", saved)
    read: RunCheckpoint = read_checkpoint(tmp_path / "checkpoint" / "run.json")
    assert read == saved
    assert restore(run, read) is True
    assert (run.cursor, run.get().state.samples_recorded) == (4, 0)
    run.delete()
    assert restore(run, read) is True
    with pytest.raises(ValueError, match="the checkpoint is of run"):
        restore(run, {**read, "run_id": "another"})


@pytest.mark.parametrize(
    ("shape", "closed", "cursor"),
    [
        ({"num_generations": 2}, 4, 8),
        ({"prompts_per_update": 2}, 4, 8),
        ({"length": 40}, 0, 4),
    ],
)
def test_groups_of_a_shape_that_is_no_more_are_left_after_a_resume(
    run: Run, shape: dict[str, int], closed: int, cursor: int, caplog: pytest.LogCaptureFixture
) -> None:
    """The checkpoint has a batch that was issued ahead and is not scored."""
    for task in run.next_batch().tasks:
        run.step_group(task, wrong(8))
    run.next_batch()
    run.cursor = 4
    saved = checkpoint_of(run)
    run.update_shape(**shape)  # type: ignore[arg-type]
    assert restore(run, saved) is True
    assert (run.cursor, len(list(run.groups("open")))) == (cursor, 4 - closed)
    assert any("with sizes that it no longer has" in each.getMessage() for each in caplog.records) is bool(closed)
    size = shape.get("num_generations", 8)
    for task in TaskReader(run).take(shape.get("prompts_per_update", 4)):
        run.step_group(task, wrong(size))
    assert not list(run.groups("open"))


def test_a_change_of_the_shape_is_noticed_at_the_next_portion(run: Run) -> None:
    reader = TaskReader(run, lambda now: check_generations(now, 8, "--n"))
    assert len(reader.take(4)) == 4
    run.update_shape(num_generations=2)
    words = "--n is 8 and the run's num_generations 2: .*Set --n=2, or the run's by .*num_generations=8"
    with pytest.raises(ValueError, match=words):
        reader.take(4)
    assert run.cursor == 4
    run.update_shape(num_generations=8)
    assert len(reader.take(4)) == 4


@pytest.mark.parametrize(
    ("at_once", "lag", "fits"),
    [
        (4, 0, True),
        (2, 0, True),
        (8, 0, False),
        (8, 1, True),
        (6, 1, True),
        (6, 0, False),
        (12, 1, False),
        (12, 2, True),
    ],
)
def test_batches_that_would_wait_for_themselves_are_refused(
    client: Client, run_id: str, at_once: int, lag: int, fits: bool
) -> None:
    """Checks the refusals with a trainer that takes n prompts, scores them, and takes the next."""
    run = create(client.run(run_id), generations=2, feedback_lag=lag)
    config = run.get().config
    reader = TaskReader(run)

    def train() -> None:
        for _ in range(4):
            tasks: list[Task] = []
            for _ in range(at_once):
                cursor = run.cursor
                try:
                    batch = run.next_batch(count=1, timeout=2)
                except gradus.StalledError:
                    run.cursor = cursor
                    raise
                tasks += batch.tasks
            for result in client.stream_steps(task.group(wrong(2)) for task in tasks):
                result.result()

    assert reader.run is run
    if fits:
        check_batches(config, at_once, "prompts")
        train()
    else:
        with pytest.raises(ValueError, match=f"prompts={at_once} would wait for ever"):
            check_batches(config, at_once, "prompts")
        with pytest.raises(gradus.StalledError):
            train()


def test_what_else_does_not_fit_is_refused(client: Client, run: Run, run_id: str) -> None:
    config = run.get().config
    check_generations(config, 8, "--n")
    with pytest.raises(ValueError, match="Set --n=8"):
        check_generations(config, 4, "--n")
    check_prompts(config, 4, "--batch")
    words = (
        r"--batch is 8 and the run's prompts_per_update 4: .*Set --batch=4, or the run's by run\.update_shape\(prompts"
    )
    with pytest.raises(ValueError, match=words):
        check_prompts(config, 8, "--batch")
    with pytest.raises(ValueError, match="create it with group_timeout"):
        check_whole_groups(config, "rollouts are dropped")
    reported = create(client.run(f"{run_id}-2"), feedback_source="reported", length=8).get().config
    with pytest.raises(ValueError, match="create it without that option"):
        check_scored_by_step(reported)
    with pytest.raises(ValueError, match="asks for 9 prompts, and the run's length is 8"):
        check_length(reported, 9, "--steps")
    check_batches(create(client.run(f"{run_id}-3"), feedback_lag="unbounded").get().config, 1000, "prompts")
