"""Test a hurried user's mistakes: each is refused with a hint before anything is scored."""

from __future__ import annotations

import asyncio
import importlib.metadata
import pickle
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict, fields, replace
from typing import Any

import pytest
from conftest import TOKEN, Server, wrong

import gradus
from gradus import Client, Completion, Outcome, Task, aio
from gradus.training import RunAddress, SampleIndices, TaskReference, WrittenCompletion, score_all

NO_TEXTS: list[Any] = [None, b"<answer>1</answer>", 12, 1.5, ["a"], ("a",), {"text": "a"}, object()]


class Text(str):
    """A subclass of str, as numpy's str_ is."""

    __slots__ = ()


@pytest.mark.parametrize("text", NO_TEXTS, ids=lambda each: type(each).__name__)
def test_what_is_no_text_is_never_scored(client: Client, task: Task, text: Any) -> None:
    evaluation = client.evaluation("never-made")
    reference = TaskReference.of(task, RunAddress("localhost:1", ""), 1)
    calls: list[tuple[str, Callable[[], object]]] = [
        ("completion", lambda: client.step(task, text)),
        ("completion", lambda: client.step(task.task_id, text, group_id=task.group_id)),
        ("text of sample 1", lambda: task.group([*wrong(), text])),
        ("text of sample 3", lambda: Completion(3, text)),
        ("text of sample 0", lambda: client.run("r").step_group(task, [text])),
        ("text of sample 0", lambda: client.batch_step(task.group([each]) for each in (text,))),
        ("text of sample 0", lambda: list(client.stream_steps(task.group([each]) for each in (text,)))),
        ("completion of sample 2", lambda: evaluation.submit([(task, 2, text)])),
        ("text of sample 0", lambda: score_all(client, SampleIndices(), [WrittenCompletion(reference, text, 0)])),
    ]
    for place, call in calls:
        with pytest.raises(TypeError, match=f"{place}: want what the policy wrote, as str; got {type(text).__name__}"):
            call()

    async def ask() -> None:
        async with aio.Client("localhost:1") as asynchronous:
            with pytest.raises(TypeError, match="completion: want"):
                await asynchronous.step(task, text)

    asyncio.run(ask())


def test_texts_of_another_class_are_texts(client: Client, task: Task) -> None:
    text = wrong()[0]
    assert client.step(task, Text(text)).reward == 0.1
    assert client.step(task, "").reward == 0.0
    assert client.batch_step(task.group([Text(text), text]))[0].rewards == [0.1, 0.1]


def test_a_token_may_come_as_a_file_has_it(guarded: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    address = guarded.address
    for token in (f"{TOKEN}\n", f" {TOKEN}\r\n", f"\t{TOKEN}"):
        assert Client(address, token=token).list_environments()
    monkeypatch.setenv("GRADUS_TOKEN", f"{TOKEN}\n")
    assert RunAddress(address, "").client().list_environments()

    async def ask() -> None:
        async with aio.Client(address, token=f"{TOKEN}\n") as client:
            assert await client.list_environments()

    asyncio.run(ask())
    again = pickle.loads(pickle.dumps(Client(address, token=f"{TOKEN}\n")))
    assert again.list_environments()


@pytest.mark.parametrize("make", [Client, aio.Client])
@pytest.mark.parametrize(
    ("token", "words"),
    [
        ("se cret", "character 3 of 7 is U.0020"),
        ("sec\nret", "character 4 of 7 is U.000A"),
        ("secret\u2028é", "character 7 of 8 is U.2028"),
        ("sécret", "character 2 of 6 is U.00E9"),
        ("", "it is empty; give None for no token"),
        ("\n", "it is empty"),
        (b"secret", "want it as str; got bytes"),
    ],
)
def test_a_token_that_no_header_takes_is_refused_and_not_shown(make: type[Client], token: Any, words: str) -> None:
    with pytest.raises((TypeError, ValueError), match=f"token: .*{words}") as caught:
        make("localhost:1", token=token)
    assert "cret" not in str(caught.value)


def test_no_text_of_a_client_shows_its_token() -> None:
    client = Client("localhost:1", token=TOKEN)
    shown = [repr(client), repr(client._core.settings), repr(client._core.io.address), repr(client.run("r"))]
    assert not any(TOKEN in each for each in shown)


@pytest.mark.parametrize("target", [50051, None, ("localhost", 50051), b"localhost:50051"])
def test_a_target_is_a_text(target: Any) -> None:
    for make in (Client, aio.Client):
        with pytest.raises(TypeError, match="target: want host:port as str"):
            make(target)


@pytest.mark.parametrize("settings", [{"timeout": 0}, {"timeout": "60"}, {"retries": -1}, {"retries": "3"}])
def test_settings_are_checked_when_a_client_is_made(settings: dict[str, Any]) -> None:
    with pytest.raises((TypeError, ValueError), match=r"(timeout|retries): want"):
        Client("localhost:1", **settings)


def test_a_time_out_without_an_end_is_a_long_one(client: Client, task: Task) -> None:
    assert client.step(task, "", timeout=float("inf")).reward == 0.0
    assert len(list(client.stream_steps([task.group([""])], timeout=float("inf")))) == 1


def test_the_version_is_the_distributions() -> None:
    assert gradus.__version__ == importlib.metadata.version("gradus-gym")
    with pytest.raises(AttributeError, match="has no attribute 'Cleint'"):
        gradus.Cleint  # type: ignore[attr-defined]  # noqa: B018


def test_an_outcome_that_is_read_late_is_as_one_that_was_read(client: Client, task: Task) -> None:
    group = client.batch_step(task.group([*wrong(), "no answer"]))[0]
    first = group.outcomes[0]
    whole = Outcome(**{each.name: getattr(first, each.name) for each in fields(Outcome)})
    assert whole == first
    for other in (group, first):
        assert pickle.loads(pickle.dumps(other)) == other
        assert replace(other) == other
        assert asdict(other)
    assert group.rewards == [0.1, 0.0] == replace(group).rewards
    assert repr(whole) == repr(first)
    with pytest.raises(AttributeError, match="has no attribute 'rewrd'"):
        first.rewrd  # type: ignore[attr-defined]  # noqa: B018
    with pytest.raises(AttributeError, match="reward"):
        first.reward = 1.0  # type: ignore[misc]


def test_steps_may_be_sent_twice_and_a_client_used_after_its_close(client: Client, server: Server, task: Task) -> None:
    text = wrong()[0]
    assert client.step(task, text) == client.step(task, text)
    group = task.group([text])
    assert [each.result().rewards for each in client.stream_steps([group, group])] == [[0.1], [0.1]]
    other = Client(server.address)
    stream = other.stream_steps(task.group([text]) for _ in range(3))
    next(stream)
    other.close()
    assert other.list_environments()
    other.close()
    other.close()


INTERRUPTED = """
import signal, sys, threading, time
import gradus
# What starts the tests in the background has them ignore it, and with them what they start.
signal.signal(signal.SIGINT, signal.default_int_handler)
client = gradus.Client(sys.argv[1])
task = client.reset("countdown", seed=1)

def groups():
    while True:
        yield task.group(["?"])
        time.sleep(0.01)

try:
    for number, result in enumerate(client.stream_steps(groups())):
        if number == 3:
            print("streaming", flush=True)
except KeyboardInterrupt:
    assert client.list_environments()
    print("interrupted", flush=True)
"""


def test_control_c_ends_a_stream_and_leaves_the_client(server: Server) -> None:
    command = [sys.executable, "-c", INTERRUPTED, server.address]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "streaming\n"
        process.send_signal(signal.SIGINT)
        try:
            out, problems = process.communicate(timeout=60)
        finally:
            process.kill()
    assert (out, process.returncode) == ("interrupted\n", 0), problems
