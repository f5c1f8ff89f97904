from __future__ import annotations

import asyncio

import pytest
from conftest import Server, solution, wrong

import gradus
from gradus import Client, Task, aio
from gradus.environments import ServerInfo


def test_environments_are_listed_and_described(client: Client) -> None:
    listed = client.list_environments()
    assert {"countdown", "np/tsp"} <= {each.environment_id for each in listed}
    assert client.list_environments("np") == [each for each in listed if each.category == "np"]
    countdown = client.get_environment("countdown")
    assert [level.name for level in countdown.levels] == ["T0", "T1", "T2", "T3", "OOD"]
    assert (countdown.deterministic, countdown.nondeterministic_tools) == (True, ("python",))
    assert not client.get_environment("code").deterministic


def test_a_task_is_a_function_of_the_request(client: Client) -> None:
    task = client.reset("countdown", level="T1", seed=2**64 - 1, split="eval", answer_format="boxed")
    assert task == client.reset("countdown", level="T1", seed=2**64 - 1, split="eval", answer_format="boxed")
    assert (task.environment, task.level, task.split, task.source) == ("countdown", "T1", "eval", "synthetic")
    assert (task.answer_format, task.thinking) == ("boxed", "required")
    assert task.prompt[-1]["role"] == "user"
    assert task.metadata["target"] in task.prompt[-1]["content"]
    assert (task.run_id, task.arm_id, task.cursor) == ("", "", 0)


def test_a_seed_that_is_left_out_is_0(client: Client) -> None:
    assert client.reset("countdown").prompt == client.reset("countdown", seed=0).prompt


def test_how_much_thinking_a_completion_holds_is_declared(client: Client) -> None:
    numbers = {"numbers_min": 2, "numbers_max": 2}
    verdicts = {}
    for thinking in ("required", "prefilled", "stripped"):
        task = client.reset("countdown", seed=0, parameters=numbers, thinking=thinking)
        assert task.thinking == thinking
        texts = ["<think>a</think><answer>1 + 1</answer>", "a</think><answer>1 + 1</answer>", "<answer>1 + 1</answer>"]
        verdicts[thinking] = [client.step(task, text).verdict == "malformed" for text in texts]
    assert verdicts == {
        "required": [False, True, True],
        "prefilled": [False, False, True],
        "stripped": [False, False, False],
    }
    with pytest.raises(ValueError, match="unknown thinking 'some'"):
        gradus.task_spec("countdown", thinking="some")  # type: ignore[arg-type]


def test_parameters_stand_in_for_a_level(client: Client) -> None:
    task = client.reset("countdown", seed=3, parameters={"numbers_min": 5, "numbers_max": 5})
    assert len(task.metadata["numbers"].split()) == 5
    with pytest.raises(ValueError, match="not both"):
        gradus.task_spec("countdown", level="T0", parameters={})


def test_real_tasks_come_from_the_pool(client: Client) -> None:
    task = client.reset("countdown", level="T2", seed=4, source="real")
    assert (task.source, task.level) == ("real", "T2")


def test_a_batch_of_tasks_is_in_the_order_of_seeds(client: Client) -> None:
    results = client.batch_reset(gradus.task_spec("countdown", level="T0"), [5, 6, 5])
    assert [each.seed for each in results] == [5, 6, 5]
    assert results[0].result() == results[2].result() == client.reset("countdown", level="T0", seed=5)


def test_outcomes_tell_right_wrong_and_malformed_apart(client: Client, task: Task) -> None:
    right = client.step(task, solution(task))
    assert (right.reward, right.verdict, right.solved) == (1.0, "feasible", True)
    infeasible = client.step(task, wrong()[0], sample_index=7)
    assert (infeasible.reward, infeasible.verdict, infeasible.sample_index) == (0.1, "infeasible", 7)
    assert "1" in infeasible.violation
    malformed = client.step(task, "no idea")
    assert (malformed.reward, malformed.verdict, malformed.solved) == (0.0, "malformed", False)
    assert malformed.feedback is None


def test_a_whole_group_gets_statistics_and_advantages(client: Client, task: Task) -> None:
    (group,) = client.batch_step(task.group([solution(task), *wrong(3)]))
    assert group.group_id == task.group_id
    assert group.rewards == [1.0, 0.1, 0.1, 0.1]
    assert group.mean == pytest.approx(0.325)
    assert group.outcomes[0].rloo_advantage == pytest.approx(0.9)
    assert sum(each.grpo_advantage or 0 for each in group.outcomes) == pytest.approx(0)


def test_half_a_group_gets_none(client: Client, task: Task) -> None:
    (half,) = client.batch_step([task.group(wrong(2), first_index=2, num_generations=4)])
    assert (half.mean, half.std) == (None, None)
    assert [(each.sample_index, each.grpo_advantage) for each in half.outcomes] == [(2, None), (3, None)]


def test_a_sample_without_a_reward_says_why_and_harms_no_other(client: Client, task: Task) -> None:
    (group,) = client.batch_step(task.group([*wrong(), "x" * 300_000]))
    assert group.rewards == [0.1, None]
    no_reward = group.outcomes[1].no_reward
    assert no_reward is not None
    assert (no_reward.reason, no_reward.retry_delay) == ("too_large", None)
    assert (group.outcomes[1].verdict, group.outcomes[1].solved) == (None, None)


def test_the_asynchronous_client_gives_the_same(server: Server, client: Client, task: Task) -> None:
    async def ask() -> None:
        async with aio.Client(server.address) as asynchronous:
            assert await asynchronous.list_environments() == client.list_environments()
            assert await asynchronous.get_environment("np/tsp") == client.get_environment("np/tsp")
            assert await asynchronous.reset("countdown", level="T0", seed=1) == task
            spec = gradus.task_spec("countdown", level="T3")
            assert await asynchronous.batch_reset(spec, range(4)) == client.batch_reset(spec, range(4))
            assert await asynchronous.step(task, "?") == client.step(task, "?")
            group = task.group([solution(task), *wrong()])
            assert await asynchronous.batch_step(group) == client.batch_step(group)

    asyncio.run(ask())


def test_a_server_says_which_it_is(server: Server, client: Client) -> None:
    info = client.get_server_info()
    assert (info.contract, info.environments) == ("gradus.v1", len(client.list_environments()))
    assert [port.name for port in info.ports] == ["judge", "sandbox", "teacher"]
    assert info.limits.groups == 1024

    async def ask() -> ServerInfo:
        async with aio.Client(server.address) as asynchronous:
            return await asynchronous.get_server_info()

    assert asyncio.run(ask()) == info
