from __future__ import annotations

import asyncio
import warnings
from typing import Any

import pytest
from conftest import Mortal, Server, solution, wrong

import gradus
from gradus import Client, GroupAdvantages, Run, Task, aio
from gradus.runs import Annotation

ARMS = [gradus.arm("countdown", "T0"), gradus.arm("countdown", "T1", arm_id="real", source="real", hard=True)]


@pytest.fixture
def run(client: Client, run_id: str) -> Run:
    run = client.run(run_id)
    run.create(ARMS, gradus.bandit(), num_generations=2, prompts_per_update=4, length=12, seed=7)
    return run


def score(run: Run, client: Client, tasks: tuple[Task, ...]) -> None:
    for result in client.stream_steps(task.group(wrong(2)) for task in tasks):
        assert [each.feedback for each in result.result().outcomes] == ["recorded"] * 2


def test_a_run_goes_on_batch_by_batch_to_its_end(client: Client, run: Run) -> None:
    cursors: list[int] = []
    for batch in run.batches():
        cursors += [task.cursor for task in batch.tasks]
        assert {task.run_id for task in batch.tasks} == {run.run_id}
        assert {task.arm_id for task in batch.tasks} <= {"countdown/T0", "real"}
        score(run, client, batch.tasks)
    assert cursors == list(range(12))
    state = run.get().state
    assert (state.done, state.batches_closed, state.samples_recorded) == (True, 3, 24)


def test_without_a_source_an_arm_has_what_its_environment_can_give(client: Client, run_id: str) -> None:
    run = client.run(run_id)
    run.create([gradus.arm("qa"), gradus.arm("countdown")], gradus.mixture(), num_generations=1, prompts_per_update=32)
    sources = {task.arm_id: task.source for task in run.next_batch().tasks}
    assert sources == {"qa": "real", "countdown": "synthetic"}


def test_a_trainer_that_died_goes_on_at_the_first_batch_that_is_not_closed(client: Client, run: Run) -> None:
    batches = run.batches()
    score(run, client, next(batches).tasks)
    next(batches)
    assert next(client.run(run.run_id).batches()).tasks[0].cursor == 4


def test_creating_it_again_gives_it_as_it_is(client: Client, run: Run) -> None:
    run.next_batch(0)
    again = run.create(ARMS, gradus.bandit(), num_generations=2, prompts_per_update=4, length=12, seed=7)
    assert again.state.cursor == 4
    with pytest.raises(gradus.AlreadyExistsError, match="seed"):
        run.create(ARMS, gradus.bandit(), num_generations=2, prompts_per_update=4, length=12, seed=8)
    assert run.run_id in {each.run_id for each in client.list_runs()}


def test_the_configuration_arrives_as_it_was_written(client: Client, run_id: str) -> None:
    constraints = gradus.constraints(real_share_min=0.3, synthetic_share_max=0.7, hard_share_min=0.1)
    config = (
        client.run(run_id)
        .create(
            ARMS,
            gradus.bandit(alpha=0.5, tau=1, epsilon=0, constraints=constraints),
            num_generations=2,
            prompts_per_update=4,
            feedback_lag=0,
            feedback_source="reported",
            answer_format="boxed",
            reward_scheme="graded",
            group_timeout=90,
            time_to_live=86400,
        )
        .config
    )
    assert [arm.hard for arm in config.arms] == [False, True]
    assert config.policy == gradus.bandit(alpha=0.5, tau=1, epsilon=0, constraints=constraints)
    assert config.feedback_lag == 0
    assert (config.feedback_source, config.answer_format) == ("reported", "boxed")
    assert config.reward_scheme == gradus.RewardScheme("graded", {})
    assert (config.group_timeout, config.time_to_live) == (90, 86400)


def test_a_family_of_arms_is_spelled_out_before_anything_is_created(client: Client, run_id: str) -> None:
    family = gradus.RunConfig((gradus.arm("np/t*"),), gradus.mixture(), num_generations=2, prompts_per_update=2)
    created = client.check_run(family).created
    assert created is not None
    assert {arm.spec.environment for arm in created.arms} == {"np/tsp"}
    assert "np/tsp/easy" in {arm.arm_id for arm in created.arms}
    with pytest.raises(gradus.NotFoundError):
        client.run(run_id).get()


def test_an_unbounded_run_never_waits(client: Client, run_id: str) -> None:
    run = client.run(run_id)
    run.create(ARMS, gradus.mixture(), num_generations=2, prompts_per_update=2, feedback_lag="unbounded")
    assert run.get().config.feedback_lag == "unbounded"
    cursor = 0
    for _ in range(5):
        cursor = run.next_batch(cursor).next_cursor
    assert cursor == 10


def test_the_next_batch_is_waited_for_until_its_feedback_is_in(client: Client, run: Run) -> None:
    first, second = run.next_batch(0), run.next_batch(4)
    for wait in (0.1, 30):
        with pytest.raises(gradus.StalledError, match="waits for feedback of update batch 0, of which 4 groups are"):
            run.next_batch(8, wait=wait, timeout=3)
    score(run, client, first.tasks)
    assert len(run.next_batch(8).tasks) == 4
    assert run.next_batch(4).tasks == second.tasks


def test_a_group_in_one_call_comes_with_its_advantages(run: Run) -> None:
    task = next(each for each in run.next_batch().tasks if len(each.metadata["numbers"].split()) == 3)
    outcome = run.step_group(task, [solution(task), *wrong()])
    assert [each.grpo_advantage for each in outcome.outcomes] == pytest.approx([1, -1])
    with pytest.warns(gradus.FeedbackWarning, match="another completion of this sample was recorded before"):
        again = run.step_group(task, [solution(task), "something else"])
    assert [each.feedback for each in again.outcomes] == ["duplicate", "conflicting_completion"]


def test_groups_are_given_when_their_wait_is_over_though_the_time_was_no_longer(server: Server, run: Run) -> None:
    run.next_batch()
    with Client(server.address, timeout=1) as client:
        for timeout in (None, 1.0):
            found = list(client.run(run.run_id).groups(0, wait=1, timeout=timeout))
            assert found
            assert not any(each.closed for each in found)


def test_groups_can_be_closed(run: Run) -> None:
    tasks = run.next_batch().tasks
    by_id = run.close_groups([tasks[0].group_id, *tasks[1:]], reason="too long")
    assert by_id == {task.group_id: "recorded" for task in tasks}
    assert run.get().state.batches_closed == 1


def test_advantages_can_be_reported(client: Client, run_id: str) -> None:
    run = client.run(run_id)
    run.create(ARMS, gradus.bandit(), num_generations=2, prompts_per_update=1, feedback_source="reported")
    (task,) = run.next_batch().tasks
    report = [GroupAdvantages(task.group_id, [0.5, -0.5], reward_mean=0.5)]
    assert run.report_advantages(report) == {task.group_id: "recorded"}
    assert run.report_advantages(report) == {task.group_id: "duplicate"}
    # Batch 2 is the first whose draw uses the feedback of batch 0.
    run.next_batch(2)
    assert [arm.arm_id for arm in run.get().state.arms if arm.value > 0] == [task.arm_id]


def test_control_is_kept_in_the_history(client: Client, run: Run) -> None:
    score(run, client, run.next_batch(0).tasks)
    with pytest.warns(gradus.NoEffectWarning, match="a weight only says whether it may draw an arm"):
        assert run.set_weights({"real": 3}) == 4
    assert run.update_policy(gradus.mixture()) == 4
    assert run.pause() == 4
    with pytest.raises(gradus.PausedError):
        run.next_batch(4, on_pause="raise", wait=0.1)
    assert run.resume() == 4
    assert len(run.next_batch(4).tasks) == 4
    records = list(run.history())
    kinds = [record.control.kind for record in records if record.control is not None]
    assert kinds == ["weights", "policy", "pause", "resume"]
    batches = [record.batch for record in records if record.batch is not None]
    assert [list(each.probabilities) for each in batches] == [[0.5, 0.5], [0.25, 0.75]]
    assert batches[0].closed
    assert batches[0].reward_mean == pytest.approx(0.1)


def test_a_note_and_tags_are_written_and_removed(run: Run) -> None:
    assert run.annotate("a note", add_tags=["two", "one"]) == Annotation("a note", ("one", "two"))
    with pytest.warns(gradus.NoEffectWarning, match='the run does not have the tag "three"'):
        assert run.annotate(remove_tags=["two", "three"]).tags == ("one",)
    state = run.get().state
    assert (state.note, state.tags) == ("a note", ("one",))
    assert run.annotate("").note == ""
    with pytest.raises(gradus.InvalidArgumentError, match=r"add_tags\[0\]: must have at most 32 bytes"):
        run.annotate(add_tags=["x" * 33])
    with pytest.raises(TypeError, match="add_tags: want a list"):
        run.annotate(add_tags="one")


@pytest.mark.filterwarnings("ignore::gradus.NoEffectWarning")
def test_an_import_leaves_control_unless_it_is_asked_for(client: Client, run: Run) -> None:
    run.set_weights({"real": 2})
    state = run.export_state()
    run.set_weights({"real": 5})
    run.pause()
    weights = {arm.arm_id: arm.weight for arm in run.import_state(state).run.state.arms}
    assert (weights["real"], run.get().state.paused) == (5, True)
    weights = {arm.arm_id: arm.weight for arm in run.import_state(state, restore_control=True).run.state.arms}
    assert weights["real"] == 2


def test_the_shape_is_told_as_it_is_now(client: Client, run: Run) -> None:
    score(run, client, run.next_batch(0).tasks)
    run.update_shape(num_generations=3, prompts_per_update=5)
    found = run.get()
    now = found.config_now
    assert (now.num_generations, now.prompts_per_update, now.length) == (3, 5, 12)
    assert (found.config.num_generations, found.config.prompts_per_update, found.config.seed) == (2, 4, now.seed)
    shapes = [record.control.shape for record in run.history() if record.control and record.control.kind == "shape"]
    assert shapes == [found.state.shape]


def test_a_state_can_be_put_back_and_copied(client: Client, run: Run, run_id: str) -> None:
    tasks = run.next_batch(0).tasks
    state = run.export_state()
    copy = client.run(f"{run_id}-copy").import_state(state)
    assert copy.run.run_id == f"{run_id}-copy"
    assert [task.instance_hash for task in copy.outstanding] == [task.instance_hash for task in tasks]
    later = run.next_batch(4).tasks
    back = run.import_state(state)
    assert back.run.state.epoch == 1
    assert [each.feedback for each in run.step_group(back.outstanding[0], wrong(2)).outcomes] == ["recorded"] * 2
    with pytest.warns(gradus.FeedbackWarning, match="stale_epoch: its task is from before an import"):
        assert [each.feedback for each in run.step_group(tasks[0], wrong(2)).outcomes] == ["stale_epoch"] * 2
    assert run.feedback_counts == {"recorded": 2, "stale_epoch": 2}
    assert [each.feedback for each in run.step_group(later[0], wrong(2)).outcomes] == ["stale_epoch"] * 2


def test_a_watcher_sees_changes_until_the_run_is_gone(client: Client, run: Run) -> None:
    watch = run.watch()
    assert next(watch).cursor == 0
    run.next_batch(0)
    assert next(state for state in watch if state.cursor == 4).groups_outstanding == 4
    run.delete()
    assert not any(state.cursor > 4 for state in watch)
    with pytest.raises(gradus.NotFoundError):
        run.get()


def test_a_watcher_says_how_often_it_is_told(run: Run) -> None:
    assert next(run.watch(interval=0.2)).cursor == 0
    for seconds in (0.01, 61):
        with pytest.raises(gradus.InvalidArgumentError, match="interval_ms"):
            next(run.watch(interval=seconds))
    with pytest.raises(TypeError, match="interval: want a number of seconds; got str 'often'"):
        next(run.watch(interval="often"))  # type: ignore[arg-type]


def test_a_history_is_told_in_fewer_records_and_by_kinds_of_arms(client: Client, run: Run) -> None:
    for cursor in (0, 4):
        score(run, client, run.next_batch(cursor).tasks)

    def batches(**how: Any) -> list[Any]:
        return [record.batch for record in run.history(**how) if record.batch is not None]

    first, second = batches()
    (merged,) = batches(merge_batches=2)
    assert (merged.merged, merged.counts) == (2, tuple(map(sum, zip(first.counts, second.counts, strict=True))))
    joined = batches(arm_groups=[0, 0])[0]
    assert joined.counts == (sum(first.counts),)
    assert joined.probabilities == pytest.approx((1,))
    brief = batches(without_arms=True)[0]
    assert (brief.counts, brief.probabilities, brief.values) == ((), (), ())
    assert brief.reward_mean == first.reward_mean
    with pytest.raises(gradus.InvalidArgumentError, match=r"arm_groups\[1\]"):
        batches(arm_groups=[0, 2])
    with pytest.raises(TypeError, match=r"history\(\) has no option 'arm_group'; did you mean 'arm_groups'"):
        batches(arm_group=[0, 0])


def test_a_run_is_evaluated_beside_training(client: Client, run_id: str) -> None:
    run = client.run(run_id)
    held_out = gradus.evaluation_arm("countdown", "T0", tasks=3)
    bench = gradus.evaluation_arm("countdown", "T0", tasks=3, arm_id="b", split="bench", num_generations=4)
    run.create(
        ARMS, gradus.bandit(), num_generations=2, prompts_per_update=4, seed=7, evaluation_arms=[held_out, bench]
    )
    assert held_out.arm_id == "eval/countdown/T0"
    batch = run.next_evaluation(held_out.arm_id, 10)
    assert (batch.next_cursor, batch.done, batch.epoch) == (3, True, 0)
    assert [(task.cursor, task.split, task.evaluation_round) for task in batch.tasks] == [
        (cursor, "eval", 10) for cursor in range(3)
    ]
    score(run, client, batch.tasks)
    assert [task.cursor for task in run.next_evaluation("b", 10, cursor=1, count=1).tasks] == [1]
    state = run.get().state
    assert (state.cursor, state.samples_recorded) == (0, 0)
    assert [(each.arm_id, each.evaluation_round, each.samples, each.closed) for each in state.evaluations] == [
        (held_out.arm_id, 10, 6, True),
        ("b", 10, 0, False),
    ]
    record = next(run.history())
    assert record.evaluation is not None
    assert record.evaluation.reward_mean
    assert run.next_batch(0).tasks[0].evaluation_round is None
    with pytest.raises(gradus.OutOfRangeError, match="round numbers must increase"):
        run.next_evaluation(held_out.arm_id, 9)


def test_the_same_for_asyncio(server: Server, run_id: str) -> None:
    async def ask() -> None:
        async with aio.Client(server.address) as client:
            run = client.run(run_id)
            await run.create(ARMS, gradus.bandit(), num_generations=2, prompts_per_update=4, length=12, seed=7)
            watch = run.watch()
            assert (await watch.__anext__()).cursor == 0
            cursors = []
            async for batch in run.batches():
                cursors += [task.cursor for task in batch.tasks]
                async for result in client.stream_steps(task.group(wrong(2)) for task in batch.tasks[1:]):
                    result.result()
                assert (await run.step_group(batch.tasks[0], wrong(2))).outcomes[0].feedback == "recorded"
                assert await run.close_groups(batch.tasks[:1]) == {batch.tasks[0].group_id: "duplicate"}
            assert cursors == list(range(12))
            assert [each.batch.closed async for each in run.history() if each.batch is not None] == [True] * 3
            async for state_seen in watch:
                if state_seen.done:
                    break
            state = await run.export_state()
            assert (await run.import_state(state)).run.state.epoch == 1
            assert await run.pause() == await run.resume() == 12
            with pytest.warns(gradus.NoEffectWarning, match="has issued all of its 12 tasks"):
                assert await run.set_weights({"real": 2}) == 12
                assert await run.update_policy(gradus.mixture()) == 12
            with pytest.raises(gradus.InvalidArgumentError, match="it has none"):
                await run.next_evaluation("held-out", 0)
            assert run_id in {each.run_id for each in await client.list_runs()}
            await run.delete()
            with pytest.raises(gradus.NotFoundError):
                await run.get()

    asyncio.run(ask())


def test_a_run_outlives_the_server(mortal: Mortal, run_id: str) -> None:
    client = Client(mortal.server.address)
    run = client.run(run_id)
    run.create(ARMS, gradus.bandit(), num_generations=2, prompts_per_update=4, seed=7)
    tasks = run.next_batch(0).tasks
    watch = run.watch()
    assert next(watch).cursor == 4
    mortal.server.kill()
    mortal.again()
    assert next(watch).cursor == 4
    assert run.next_batch(0).tasks == tasks
    score(run, client, tasks)


def test_stages_change_what_is_drawn_and_advance_ends_one(client: Client, run_id: str) -> None:
    run = client.run(run_id)
    arms = [gradus.arm("countdown", level, arm_id=level) for level in ("T0", "T1", "T2")]
    policy = gradus.staged(
        gradus.stage({"T0": 1}, share=0.25), gradus.stage({"T1": 1}), gradus.stage({"T1": 1, "T2": 1})
    )
    run.create(arms, policy, num_generations=1, prompts_per_update=4, length=16, seed=7)

    def drawn(cursor: int) -> set[str]:
        return {task.arm_id for task in run.next_batch(cursor).tasks}

    assert (drawn(0), drawn(4), drawn(8)) == ({"T0"}, {"T1"}, {"T1"})
    assert run.advance() == 12
    assert drawn(12) == {"T1", "T2"}
    with pytest.raises(gradus.FailedPreconditionError, match="last of its 3 stages"):
        run.advance()
    with pytest.raises(ValueError, match="not both"):
        gradus.stage(share=0.5, tasks=3)


def test_a_change_without_effect_is_warned_of(client: Client, run_id: str) -> None:
    run = client.run(run_id)
    run.create([gradus.arm("countdown", "T0", arm_id="a")], gradus.bandit(), num_generations=2, prompts_per_update=1)
    with pytest.warns(gradus.NoEffectWarning, match="the policy bandit chooses arms by what it has learnt"):
        run.set_weights({"a": 2})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run.pause()


def test_a_run_keeps_the_settings_of_its_trainer(client: Client, run_id: str) -> None:
    settings = gradus.TrainerSettings(learning_rate=4e-7, model="some/model", top_k=0, algorithm="grpo")
    run = client.run(run_id)
    config = run.create(ARMS, gradus.mixture(), num_generations=2, prompts_per_update=4, trainer=settings).config
    assert config.trainer == settings
    assert run.get().config.trainer == settings
    assert config.trainer.clip is None
    file = "arms: [{ id: a, spec: { environment: countdown } }]\npolicy: { mixture: {} }\ntrainer: { top_p: 0.9 }\n"
    read = client.check_run(file=file).config
    assert read is not None
    assert read.trainer == gradus.TrainerSettings(top_p=0.9)


def test_an_arm_grows(client: Client, run_id: str) -> None:
    run = client.run(run_id)
    arm = gradus.arm("countdown", arm_id="c", grow=gradus.grow("numbers", start=2, cap=4))
    run.create([arm], gradus.frontier(), num_generations=2, prompts_per_update=4)
    run.advance("c")
    run.update_shape(grow_arms={"c": gradus.grow("numbers", start=2, cap=5)})
    growth = run.get().state.arms[0].growth
    assert growth is not None
    assert (growth.axis, growth.frontier, growth.cap) == ("numbers", 3, 5)
    assert [level.value for level in growth.levels] == [2, 3]
    run.next_batch()
    records = [record.batch for record in run.history() if record.batch is not None]
    assert records[0].frontiers == (3,)
    assert gradus.arm("countdown", grow="numbers").grow == gradus.grow("numbers")
    axes = client.get_environment("countdown").axes
    assert [(axis.name, axis.first, axis.last) for axis in axes] == [("numbers", 2, 6)]
