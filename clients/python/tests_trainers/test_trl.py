"""Test gradus.trl with TRL's real trainers, on one rank."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import pytest
import tiny
from trl import GRPOConfig, GRPOTrainer
from trl_training import KINDS, run_config, settings, trainer_of

import gradus
from gradus import Client
from gradus.trl import GradusSpec, trainer_settings

EVALUATED = gradus.evaluation_arm("countdown", "T0", tasks=4, num_generations=2)
MANY_AT_ONCE = {"steps_per_generation": 1, "generation_batch_size": None, "gradient_accumulation_steps": 8}


@pytest.mark.parametrize("kind", KINDS)
def test_a_trainer_trains_on_a_run(kind: str, client: Client, run_id: str, policy: Path, tmp_path: Path) -> None:
    spec = GradusSpec(client, run_id, run_config())
    trainer = trainer_of(spec, policy, kind, **settings(tmp_path))
    trainer.train()

    assert trainer.args.generation_batch_size == 16
    assert trainer.args.gradient_accumulation_steps == 2
    state = client.run(run_id).get().state
    assert (state.batches_closed, state.samples_recorded) == (4, 4 * 16)
    assert client.run(run_id).feedback_counts.keys() == {"recorded"}
    groups = [group for batch in range(4) for group in client.run(run_id).groups(batch)]
    assert all({sample.sample_index for sample in group.samples} == {0, 1, 2, 3} for group in groups)

    logs = [each for each in trainer.state.log_history if "reward" in each]
    assert len(logs) == 4
    for step, log in enumerate(logs):
        assert log["gradus/wait_ms"] == pytest.approx(log["gradus/wait_tasks_ms"] + log["gradus/wait_scores_ms"])
        of_step = [group for group in groups if group.update_batch == step]
        rewards = [sample.reward or 0 for group in of_step for sample in group.samples]
        assert log["reward"] == pytest.approx(sum(rewards) / len(rewards), abs=1e-6)
        for arm in {group.arm_id for group in of_step}:
            mine = [sample.reward for group in of_step if group.arm_id == arm for sample in group.samples]
            assert log[f"gradus/{arm}/reward"] == pytest.approx(sum(mine) / len(mine), abs=1e-6)
    probabilities = [value for name, value in logs[-1].items() if name.endswith("/probability")]
    assert len(probabilities) == 3
    assert math.fsum(probabilities) == pytest.approx(1)
    assert len({group.mean for group in groups}) > 1


@pytest.mark.parametrize(
    ("run", "changes", "reason"),
    [
        ({}, {"shuffle_dataset": True}, "shuffle_dataset is True and must be False"),
        ({}, {"ignore_data_skip": False}, "ignore_data_skip is False and must be True"),
        ({}, {"remove_unused_columns": True}, "rewards need the tasks' columns"),
        ({}, {"restore_callback_states_from_checkpoint": True}, "callbacks would be replaced"),
        (
            {},
            {"num_generations": 2},
            "num_generations is 2, and the run's is 4: set num_generations=4, or the run's by ",
        ),
        (
            {"prompts_per_update": 8},
            {"generation_batch_size": 16, "gradient_accumulation_steps": 2},
            "a generation batch has 4 prompts and an optimizer step 4, and the run's prompts_per_update is 8: set "
            "generation_batch_size=32",
        ),
        ({"feedback_lag": 0}, {}, "feedback_lag is 0, and must be 1 at least"),
        ({"prompts_per_update": 2}, MANY_AT_ONCE, "feedback_lag is 1, and must be 8 at least"),
        ({"length": 15}, {}, "the run's length of 15 tasks is too short"),
        ({"feedback_source": "reported"}, {}, 'create it with "step"'),
        ({"dynamic_sampling": gradus.DynamicSampling(2.0)}, {}, "the run has dynamic_sampling"),
        ({}, {"gradient_accumulation_steps": 1, "save_strategy": "steps", "save_steps": 1}, "falls within a"),
        ({"evaluation_arms": [EVALUATED]}, {"eval_strategy": "steps", "eval_steps": 2}, "num_generations_eval is 4"),
    ],
)
def test_what_cannot_be_is_refused_with_its_reason(
    run: dict[str, Any], changes: dict[str, Any], reason: str, client: Client, run_id: str, policy: Path, tmp_path: Path
) -> None:
    spec = GradusSpec(client, run_id, run_config(**run))
    with pytest.raises(ValueError, match=re.escape(reason)):
        # A user may set these arguments by hand, without `config`.
        GRPOTrainer(
            str(policy),
            reward_funcs=spec.reward_funcs,
            args=GRPOConfig(**{**spec.config(**settings(tmp_path)), **changes}),
            train_dataset=spec.train_dataset,
            eval_dataset=spec.eval_dataset,
            callbacks=spec.callbacks,
        )


def test_with_the_lag_that_is_asked_for_nothing_stalls(
    client: Client, run_id: str, policy: Path, tmp_path: Path
) -> None:
    spec = GradusSpec(client, run_id, run_config(prompts_per_update=2, feedback_lag=8), patience=60)
    trainer = trainer_of(spec, policy, **settings(tmp_path, max_steps=2, **MANY_AT_ONCE))
    trainer.train()
    assert client.run(run_id).get().state.samples_recorded == 2 * 8 * 8


def test_config_refuses_what_the_run_cannot_be_trained_with(client: Client, run_id: str) -> None:
    spec = GradusSpec(client, run_id, run_config(length=40))
    with pytest.raises(ValueError, match="shuffle_dataset=True: a run of Gradus requires False"):
        spec.config(shuffle_dataset=True)
    with pytest.raises(ValueError, match="num_generations=8: a run of Gradus requires 4"):
        spec.config(num_generations=8)
    assert spec.config(per_device_train_batch_size=4)["max_steps"] == 10
    assert spec.config(per_device_train_batch_size=4)["gradient_accumulation_steps"] == 4


def test_without_the_callbacks_nothing_is_pulled(client: Client, run_id: str, policy: Path, tmp_path: Path) -> None:
    spec = GradusSpec(client, run_id, run_config())
    trainer = GRPOTrainer(
        str(policy), spec.reward_funcs, GRPOConfig(**spec.config(**settings(tmp_path))), spec.train_dataset
    )
    with pytest.raises(ValueError, match="no callbacks"):
        trainer.train()
    assert client.run(run_id).get().state.cursor == 0


def test_a_run_that_was_trained_on_is_not_begun_anew_unasked(
    client: Client, run_id: str, policy: Path, tmp_path: Path
) -> None:
    trainer_of(GradusSpec(client, run_id, run_config()), policy, **settings(tmp_path, max_steps=1)).train()
    hashes = [group.task and group.task.instance_hash for group in client.run(run_id).groups(0, tasks=True)]
    again = trainer_of(GradusSpec(client, run_id, run_config()), policy, **settings(tmp_path, max_steps=1))
    with pytest.raises(ValueError, match="has been trained on"):
        again.train()
    spec = GradusSpec(client, run_id, run_config(), restart=True)
    trainer_of(spec, policy, **settings(tmp_path, max_steps=1)).train()
    assert hashes == [group.task and group.task.instance_hash for group in client.run(run_id).groups(0, tasks=True)]


def test_a_checkpoint_that_is_cut_short_is_passed_over(
    client: Client, run_id: str, policy: Path, tmp_path: Path
) -> None:
    spec = GradusSpec(client, run_id, run_config())
    assert spec.last_checkpoint(str(tmp_path)) is None
    saving = settings(tmp_path, max_steps=2, save_strategy="steps", save_steps=1)
    trainer_of(spec, policy, **saving).train()
    newest = tmp_path / "checkpoint-2" / "trainer_state.json"
    assert spec.last_checkpoint(str(tmp_path)) == str(newest.parent)
    newest.write_text(newest.read_text()[:100])
    assert spec.last_checkpoint(str(tmp_path)) == str(tmp_path / "checkpoint-1")


def test_a_script_that_is_done_trains_nothing_when_it_is_started_again(
    client: Client, run_id: str, policy: Path, tmp_path: Path
) -> None:
    """transformers itself would take one more step at each start, and write a checkpoint."""

    def script(max_steps: int) -> Any:
        spec = GradusSpec(client, run_id, run_config(), restart=True)
        saving = settings(tmp_path, max_steps=max_steps, save_strategy="steps", save_steps=1)
        trainer = trainer_of(spec, policy, **saving)
        trainer.train(resume_from_checkpoint=spec.last_checkpoint(str(tmp_path)))
        return trainer

    script(2)
    before = client.run(run_id).get().state
    checkpoints = sorted(tmp_path.glob("checkpoint-*"))
    for _ in range(2):
        with pytest.warns(UserWarning, match=r"complete: .* step 2, and max_steps is 2\. Nothing is trained"):
            again = script(2)
        assert again.state.global_step == 2
        assert sorted(tmp_path.glob("checkpoint-*")) == checkpoints
        after = client.run(run_id).get().state
        assert (after.epoch, after.cursor, after.samples_recorded) == (
            before.epoch,
            before.cursor,
            before.samples_recorded,
        )
    assert script(3).state.global_step == 3
    assert client.run(run_id).get().state.samples_recorded == before.samples_recorded * 3 // 2


def test_the_data_set_can_be_looked_at_and_the_run_gives_nothing(
    client: Client, run_id: str, policy: Path, tmp_path: Path
) -> None:
    template = gradus.PromptTemplate("Be brief.", "Here it is: {prompt} Go.")
    spec = GradusSpec(client, run_id, run_config(prompt_template=template, answer_format="boxed"))
    tasks = spec.train_dataset
    columns = ["prompt", "arm_id", "gradus_task"]
    assert tasks.column_names == columns
    assert list(tasks.features) == columns
    assert str(columns) in repr(tasks)
    first = next(iter(tasks))
    assert tasks[0] == first
    assert list(first) == columns
    assert [each["role"] for each in first["prompt"]] == ["system", "user"]
    assert re.fullmatch(r"Here it is: Using the numbers .*boxed.* Go\.", first["prompt"][1]["content"], re.DOTALL)
    assert [each["arm_id"] for each in tasks[:4]] == [f"countdown/T{tier}" for tier in (0, 1, 2, 0)]
    assert next(iter(tasks["arm_id"])) == "countdown/T0"
    with pytest.raises(TypeError, match="has no end"):
        len(tasks)
    for key in (-1, "prmopt", slice(None)):
        with pytest.raises(IndexError, match="want the number of a sample"):
            tasks[key]
    with pytest.raises(ValueError, match=re.escape("spec.train_dataset[0]")):
        next(iter(tasks.take(1)))
    trainer = trainer_of(spec, policy, **settings(tmp_path, max_steps=1))
    assert tasks[0] == first
    assert client.run(run_id).get().state.cursor == 0
    trainer.train()
    taken = client.run(run_id).get().state.cursor
    assert tasks[0] == first
    assert client.run(run_id).get().state.cursor == taken > 0


def test_evaluations_are_rounds_of_the_run(client: Client, run_id: str, policy: Path, tmp_path: Path) -> None:
    spec = GradusSpec(client, run_id, run_config(evaluation_arms=[EVALUATED]))
    assert len(spec.eval_dataset) == 4
    evaluating = {"eval_strategy": "steps", "eval_steps": 2, "num_generations_eval": 2, "per_device_eval_batch_size": 4}
    trainer = trainer_of(spec, policy, **settings(tmp_path, **evaluating))
    trainer.train()
    records = [each.evaluation for each in client.run(run_id).history() if each.evaluation is not None]
    assert [(each.evaluation_round, each.samples, each.closed) for each in records if each.samples] == [
        (2, 8, True),
        (4, 8, True),
    ]
    logged = [each for each in trainer.state.log_history if "eval_reward" in each]
    assert [each["eval_reward"] for each in logged] == [
        pytest.approx(each.reward_mean, abs=1e-6) for each in records if each.samples
    ]
    assert "eval_gradus/eval/countdown/T0/reward" in logged[0]
    assert client.run(run_id).get().state.samples_recorded == 4 * 16


def test_what_is_submitted_in_an_environment_is_what_is_scored(client: Client, run_id: str, tmp_path: Path) -> None:
    policy = tiny.save(tmp_path / "policy", calls=True)
    spec = GradusSpec(client, run_id, run_config(answer_format="answer_tag"))
    vocabulary = tiny.tokenizer()
    vocabulary.chat_template = tiny.qwen3_template()
    calling = {"max_tool_calling_iterations": 1, "max_completion_length": 300}
    trainer = GRPOTrainer(
        str(policy),
        reward_funcs=spec.reward_funcs,
        args=GRPOConfig(**spec.config(**settings(tmp_path / "out", max_steps=2, **calling))),
        train_dataset=spec.train_dataset,
        processing_class=vocabulary,
        environment_factory=spec.environment_factory,
        callbacks=spec.callbacks,
    )
    trainer.train()
    logs = [each for each in trainer.state.log_history if "reward" in each]
    # The policy begins with one or two calls. Its submission has the right form.
    assert [each["reward"] for each in logs] == [pytest.approx(0.1)] * 2
    assert client.run(run_id).get().state.samples_recorded == 2 * 16


BLOCK = gradus.TrainerSettings(
    algorithm="grpo",
    model="Qwen/Qwen2.5-0.5B",
    optimizer="adamw",
    schedule="constant",
    learning_rate=1e-5,
    batch_size=4,
    micro_batch_size=8,
    gradient_clip=0.5,
    checkpoint_every=25,
    kl_coefficient=0.001,
    clip=0.3,
    importance_level="sequence",
    entropy_coefficient=0.002,
    temperature=0.7,
    top_p=0.9,
    top_k=20,
    prompt_length_max=512,
    completion_length_max=6,
    judge_temperature=0.1,
)


@pytest.mark.parametrize("kind", KINDS)
def test_a_trainer_takes_the_settings_of_the_run_file(
    kind: str, client: Client, run_id: str, policy: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    _, config = KINDS[kind]
    spec = GradusSpec(client, run_id, run_config(trainer=BLOCK))
    with caplog.at_level("WARNING", "gradus"):
        args = config(**spec.config(config, output_dir=str(tmp_path), max_steps=1, use_cpu=True, temperature=1.5))
    assert (args.learning_rate, args.beta, args.epsilon, args.top_p, args.top_k) == (1e-5, 0.001, 0.3, 0.9, 20)
    assert (args.max_completion_length, args.max_grad_norm, args.save_steps) == (6, 0.5, 25)
    assert (args.optim, args.lr_scheduler_type) == ("adamw_torch", "constant")
    assert (args.per_device_train_batch_size, args.generation_batch_size) == (8, 16)
    # An argument of the caller wins over the run file.
    assert args.temperature == 1.5
    (said,) = [each.getMessage() for each in caplog.records]
    assert "model (the trainer's argument `model`), batch_size (the run's prompts_per_update)" in said
    assert "prompt_length_max (TRL has none), judge_temperature (the server's --judge-temperature)" in said
    if kind == "grpo":
        assert (args.importance_sampling_level, args.entropy_coef) == ("sequence", 0.002)
    else:
        assert "importance_level (TRL has none), entropy_coefficient (TRL has none)" in said
    taken, left = trainer_settings(BLOCK)
    assert "entropy_coef" not in taken
    assert left["entropy_coefficient"] == "spec.config(GRPOConfig, ...)"
    trainer_of(spec, policy, kind, **{**settings(tmp_path, max_steps=1), "logging_steps": 1}).train()
    assert client.run(run_id).get().state.samples_recorded == 16
