"""Test gradus.gymnasium by gymnasium's own checks, and against its own vector environment."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from functools import partial
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.spaces.utils import flatten, unflatten
from gymnasium.utils.env_checker import (
    check_action_space,
    check_env,
    check_observation_space,
    check_reset_options,
    check_reset_return_type,
    check_reset_seed_determinism,
    data_equivalence,
    data_shares_objects,
)
from gymnasium.utils.passive_env_checker import env_reset_passive_checker
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv
from policies import create, recorded, written
from real_server import Server

from gradus import Client
from gradus.gymnasium import AnyText, TextEnv, TextVectorEnv, WrittenText
from gradus.training import RunAddress

ID = "gradus.gymnasium:Gradus/Text-v0"
RIGHT = "<think>97 - 44 is 53, and 82 - 53 is 29</think><answer>82 - (97 - 44)</answer>"


@pytest.fixture(autouse=True)
def no_warnings() -> Iterator[None]:
    """Turn the warnings of gymnasium's checks into errors."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        yield


@pytest.fixture
def address(server: Server) -> str:
    return f"gradus://{server.address}"


def test_one_environment_passes_check_env(address: str) -> None:
    env = gym.make(ID, environment="countdown", level="T0", address=address)
    check_env(env.unwrapped)


def test_an_episode_is_a_prompt_and_a_completion(client: Client, address: str) -> None:
    env = gym.make(ID, environment="countdown", level="T0", address=address, render_mode="ansi")
    prompt, info = env.reset(seed=7)
    task = client.reset("countdown", level="T0", seed=7)
    assert prompt == task.prompt[0]["content"]
    assert (info["instance_hash"], info["metadata"]) == (task.instance_hash, dict(task.metadata))
    assert env.render() == prompt
    assert prompt in env.observation_space
    after, reward, terminated, truncated, facts = env.step(RIGHT)
    assert (after, reward, terminated, truncated) == ("", 1.0, True, False)
    assert (facts["verdict"], facts["solved"]) == ("feasible", True)
    assert env.render() == RIGHT
    with pytest.raises(gym.error.ResetNeeded):
        env.unwrapped.step(RIGHT)
    env.close()


UNCLOSED = "<think>97 - 44 is 53</think><answer>82 - (97 - 44)"


@pytest.mark.parametrize(("reason", "given"), [(None, 1.0), ("stop", 1.0), ("length", 0.0)])
def test_a_completion_that_was_cut_says_so(address: str, reason: Any, given: float) -> None:
    action = WrittenText(UNCLOSED, reason)
    env = gym.make(ID, environment="countdown", level="T0", address=address)
    env.reset(seed=7)
    assert action in env.action_space
    assert env.step(action)[1] == given
    env.close()

    def one() -> TextEnv:
        return TextEnv("countdown", level="T0", address=address)

    own = TextVectorEnv("countdown", num_envs=2, level="T0", address=address)
    for envs in (own, SyncVectorEnv([one] * 2), AsyncVectorEnv([one] * 2)):
        envs.reset(seed=7)
        _, rewards, *_ = envs.step((action, "no answer"))
        assert list(rewards) == [given, 0.0]
        envs.close()


class Whole(gym.Env[Any, Any]):
    """Wraps a vector environment as a single one, with summed rewards, which ends when all tasks have ended."""

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012

    def __init__(self, envs: TextVectorEnv) -> None:
        self.envs = envs
        self.observation_space = envs.observation_space
        self.action_space = envs.action_space

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        return self.envs.reset(seed=seed, options=options)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        observations, rewards, terminated, truncated, infos = self.envs.step(action)
        return observations, float(rewards.sum()), bool(terminated.all()), bool(truncated.any()), infos


def test_the_vector_environment_passes_the_same_checks(address: str) -> None:
    """check_env takes no vector environment, so this runs the checks that accept one, and all on a view of it."""
    envs = TextVectorEnv("countdown", num_envs=3, level="T0", address=address)
    check_action_space(envs.action_space)
    check_observation_space(envs.observation_space)
    check_reset_return_type(envs)
    check_reset_seed_determinism(envs)
    check_reset_options(envs)
    env_reset_passive_checker(envs)
    with warnings.catch_warnings():
        # The environment is made here and has no spec, and gymnasium warns about it.
        warnings.filterwarnings("ignore", message=".*Not able to test alternative render modes")
        check_env(Whole(envs))


def test_the_vector_environment_is_as_gymnasiums_own(address: str) -> None:
    def one() -> TextEnv:
        return TextEnv("countdown", level="T0", address=address)

    theirs = SyncVectorEnv([one] * 3, autoreset_mode=AutoresetMode.SAME_STEP)
    ours = gym.make_vec(
        ID, num_envs=3, vectorization_mode="vector_entry_point", environment="countdown", level="T0", address=address
    )
    assert isinstance(ours, TextVectorEnv)
    assert ours.metadata["autoreset_mode"] is theirs.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    for space in ("observation_space", "action_space", "single_observation_space", "single_action_space"):
        assert getattr(ours, space) == getattr(theirs, space)
    assert data_equivalence(ours.reset(seed=7), theirs.reset(seed=7), exact=True)
    actions = (RIGHT, "<think></think><answer>1 + 1</answer>", "no answer")
    stepped, reference = ours.step(actions), theirs.step(actions)
    # Each of gymnasium's three environments draws its later tasks by itself.
    assert data_equivalence(stepped[1:4], reference[1:4], exact=True)
    for key in ("final_obs", "_final_obs", "final_info", "_final_info"):
        assert data_equivalence(stepped[4][key], reference[4][key], exact=True), key
    assert stepped[4].keys() == reference[4].keys()
    assert not data_shares_objects(stepped[4], ours.step(actions)[4])


@pytest.mark.parametrize("shared_memory", [True, False])
@pytest.mark.parametrize("context", ["fork", "spawn"])
def test_gymnasiums_own_processes_are_as_its_own_loop(address: str, shared_memory: bool, context: str) -> None:
    making = [partial(TextEnv, "countdown", level="T0", address=address) for _ in range(2)]
    theirs = SyncVectorEnv(making)
    ours = AsyncVectorEnv(making, shared_memory=shared_memory, context=context)
    try:
        assert ours.reset(seed=7)[0] == theirs.reset(seed=7)[0]
        actions = (RIGHT, "<think>é漢🙂</think><answer>1 + 1</answer>")
        stepped, reference = ours.step(actions), theirs.step(actions)
        assert data_equivalence(stepped[:4], reference[:4], exact=True)
        assert list(stepped[1]) == [1.0, 0.1]
    finally:
        ours.close()


@pytest.mark.parametrize("mode", ["sync", "async", "vector_entry_point"])
def test_make_vec_makes_each_kind(address: str, mode: str) -> None:
    envs = gym.make_vec(ID, num_envs=2, vectorization_mode=mode, environment="countdown", level="T0", address=address)
    try:
        prompts, _ = envs.reset(seed=7)
        assert len(prompts) == 2
        assert all(each.startswith("Using the numbers") for each in prompts)
    finally:
        envs.close()


@pytest.mark.parametrize("num_envs", [1, 4, 6])
def test_a_run_chooses_the_tasks_and_learns(client: Client, server: Server, run_id: str, num_envs: int) -> None:
    run = create(client.run(run_id), length=12)
    envs = TextVectorEnv(num_envs=num_envs, address=str(RunAddress(server.address, run_id)))
    prompts, infos = envs.reset()
    seen: list[str] = []
    while len(seen) < 48 - num_envs:
        seen += prompts
        assert set(infos["arm"]) <= {"easy", "hard"}
        prompts, rewards, terminated, _, infos = envs.step(
            tuple(written(each, (len(seen) - num_envs + place) % 4) for place, each in enumerate(prompts))
        )
        assert terminated.all()
        assert rewards.dtype == np.float64
    assert [len(set(seen[at : at + 4])) for at in range(0, len(seen) - 3, 4)] == [1] * (len(seen) // 4)
    assert run.get().state.samples_recorded == len(seen)
    assert recorded(run)[0] == [0.1 if "answer" in written(seen[0], index) else 0.0 for index in range(4)]


def test_a_run_does_not_wait_for_what_was_not_answered(client: Client, server: Server, run_id: str) -> None:
    run = create(client.run(run_id), generations=2, prompts=2, lag=0)
    env = TextEnv(address=str(RunAddress(server.address, run_id)))
    wrong: Any = None
    for answered in range(4):
        prompt, _ = env.reset()
        assert env.reset()[0] == prompt
        with pytest.raises(TypeError, match=r"actions\[0\]"):
            env.step(wrong)
        env.step(written(prompt, answered % 2))
        assert run.get().state.samples_recorded == answered + 1
    envs = TextVectorEnv(num_envs=2, address=str(RunAddress(server.address, run_id)))
    prompts = envs.reset()[0]
    assert envs.reset()[0] == prompts
    assert envs.step(tuple(written(each, place) for place, each in enumerate(prompts)))[0] != prompts
    assert run.get().state.samples_recorded == 6


def test_what_does_not_fit_is_refused(client: Client, server: Server, run_id: str, address: str) -> None:
    create(client.run(run_id), lag=0)
    run = str(RunAddress(server.address, run_id))
    with pytest.raises(ValueError, match=r"num_envs=24 would wait for ever.*Set num_envs to an update batch, 16"):
        TextVectorEnv(num_envs=24, address=run)
    with pytest.raises(ValueError, match="and not both"):
        TextEnv("countdown", address=run)
    with pytest.raises(ValueError, match="and not both"):
        TextEnv(address=address)
    with pytest.raises(TypeError, match="did you mean 'level'"):
        TextEnv("countdown", address=address, levl="T0")
    with pytest.raises(ValueError, match="max_prompt_length=10 is too small"):
        TextEnv("countdown", address=address, max_prompt_length=10).reset()


def test_any_text_is_a_text_of_any_characters() -> None:
    space = AnyText(5)
    assert all(each in space for each in ("", "é漢", "\n"))
    assert "123456" not in space
    assert space.sample() in space
    assert space == AnyText(5)
    assert space != AnyText(6)
    assert repr(space) == "AnyText(5)"
    for each in ("", "é漢", "\n🙂\0", "\udc80"):
        assert unflatten(space, flatten(space, each)) == each


@pytest.mark.parametrize(
    ("actions", "words"),
    [
        ("ab", "actions: want a list, each a str; got str 'ab'"),
        (None, "actions: want a list, each a str; got NoneType"),
        ({0: RIGHT, 1: RIGHT}, "actions: want a list"),
        ((RIGHT,), "actions: want one for each environment, 2; got 1"),
        ((RIGHT,) * 3, "actions: want one for each environment, 2; got 3"),
        ((RIGHT, None), r"actions\[1\]: want what the policy wrote, as str; got NoneType"),
        (np.array([[RIGHT, RIGHT]] * 2), r"actions\[0\]: want what the policy wrote, as str; got ndarray"),
    ],
)
def test_misshaped_actions_are_refused_and_the_episodes_go_on(address: str, actions: Any, words: str) -> None:
    env = TextVectorEnv("countdown", num_envs=2, level="T0", address=address)
    env.reset(seed=7)
    with pytest.raises((TypeError, ValueError), match=words):
        env.step(actions)
    assert env.step((RIGHT, "?"))[1].tolist() == [1.0, 0.0]
    env.close()
