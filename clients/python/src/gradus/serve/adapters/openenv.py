"""OpenEnv: servers whose episodes have one step and follow from a seed.

`openenv:http://127.0.0.1:8000`. A task is the observation of `reset(seed)`, and an answer is one `step` with its
reward. A server has a state for each connection, so each answer gets a new one, in which the same seed is reset first
and must show the same observation. At mounting some answers to one seed are played several times each, and must earn
the same each time, because a server may ignore the seed.
"""

from __future__ import annotations

import asyncio
import json
import random
import socket
import time
import urllib.parse
import urllib.request
from typing import Any

from gradus.serve._catalogue import Needs, Offer, TargetError
from gradus.serve._environment import Environment
from gradus.serve._facts import UnavailableError
from gradus.serve.adapters._http import SECONDS_MAX
from gradus.serve.adapters._openenv_answers import Answers
from gradus.serve.adapters._target import Target, slug_of

MESSAGE_BYTES_MAX = 16 * 1024**2
SEED_BITS = 31
OPTIONS = ("name", "field", "prompt")
PLAYS = 12
"""Number of times that each answer to one seed is played when a server is mounted, to compare its rewards."""
CHECK_SECONDS = 10
"""Maximum seconds to test answers when a server is mounted. At least ANSWERS_MIN answers are tested in any case."""
ANSWERS_MIN = 4
# Error codes by which an OpenEnv server reports its own failure. The answer may be scored later.
_AWAY = ("CAPACITY_REACHED", "FACTORY_ERROR", "SESSION_ERROR", "UNAVAILABLE", "RESOURCE_EXHAUSTED")


class RefusedError(ValueError):
    """The server replies to a step with an error."""


def needs(_: str) -> Needs:
    """Returns the access that a target needs: the network."""
    return Needs(network=True)


def offer(rest: str) -> Offer:
    """Returns one environment. TargetError has the reason if a server cannot be mounted."""
    target = Target.parse(rest, OPTIONS)
    if not target.name.startswith(("http://", "https://")):
        raise TargetError("write openenv:http://host:port")
    try:
        import websockets.asyncio.client  # noqa: F401, PLC0415  # Not required by gradus-gym.
    except ImportError as error:
        raise TargetError('OpenEnv servers are asked over WebSockets: pip install "websockets>=15"') from error
    schema = schema_of(target.name)
    field = target.options.get("field") or field_of(schema)
    slug = "openenv/" + slug_of(target.options.get("name") or urllib.parse.urlsplit(target.name).netloc)
    environment = OpenEnvServer(slug, target, field)
    environment.check(schema)
    return Offer([environment])


def schema_of(address: str) -> dict[str, Any]:
    """Fetches the JSON Schema of an action from the OpenEnv server at an address."""
    try:
        with urllib.request.urlopen(address.rstrip("/") + "/schema", timeout=SECONDS_MAX) as reply:
            found = json.loads(reply.read(MESSAGE_BYTES_MAX))
    except (OSError, ValueError) as error:
        raise TargetError(f"{address} does not say what an action is: {error}") from error
    action = found.get("action", {})
    return action if isinstance(action, dict) else {}


def field_of(schema: dict[str, Any]) -> str:
    """Returns the text field that answers fill: the only required field, or the only text if none is required.

    "": an answer is the whole action, as JSON.
    """
    fields = {name: each for name, each in schema.get("properties", {}).items() if name != "metadata"}
    texts = [name for name, each in fields.items() if each.get("type") == "string"]
    needed = [name for name in schema.get("required", []) if name in fields]
    if len(texts) == 1 and needed in ([], texts):
        return str(texts[0])
    if needed in ([name] for name in texts):
        return str(needed[0])
    return ""


class OpenEnvServer(Environment):
    """Episodes of one step of an OpenEnv server."""

    components = ("score",)

    def __init__(self, slug: str, target: Target, field: str) -> None:
        self.id = slug  # type: ignore[misc]
        self.remarks = (f"made and verified by {target.name}, which is asked over the network",)  # type: ignore[misc]
        self._target = target
        self._field = field

    def generate(self, rng: random.Random, **_: Any) -> Any:
        """Returns the observation of a reset."""
        seed = rng.getrandbits(SEED_BITS)
        (shown,) = self._talk([("reset", {"seed": seed})])
        return {"seed": seed, "observation": shown["observation"]}

    def prompt(self, instance: Any) -> str:
        """Returns the field that the option `prompt` names, else the observation's only text, else all as JSON."""
        observation = instance["observation"]
        name = self._target.options.get("prompt")
        if name:
            return str(observation[name])
        texts = [value for key, value in observation.items() if isinstance(value, str) and value and key != "metadata"]
        return texts[0] if len(texts) == 1 else json.dumps(observation, ensure_ascii=False)

    def verify(self, instance: Any, answer: str) -> float:
        """Returns the reward of the only step."""
        stepped = self._play(instance, self._action(answer))
        if not stepped.get("done"):
            raise ValueError("its episode goes on after a step: only episodes of one step can be mounted")
        reward = stepped.get("reward")
        if not isinstance(reward, (int, float)):
            raise ValueError(f"its step gave no reward, but {reward!r}")
        return self._target.share(float(reward))

    def parse(self, answer: str) -> str:
        """Returns the answer. If an action has several fields, the answer must be a JSON object."""
        if not self._field:
            try:
                read = json.loads(answer)
            except ValueError as error:
                raise ValueError(f"the answer must be an action, as a JSON object: {error}") from error
            if not isinstance(read, dict):
                raise ValueError("the answer must be an action, as a JSON object")
        return answer

    def check(self, schema: dict[str, Any]) -> None:
        """Raises TargetError if an episode is not over after one step, or does not follow from its seed."""
        began = time.monotonic()
        try:
            made = self.generate(random.Random(1))
            answers = Answers(schema, self._field, made["observation"])
            for number, answer in enumerate(answers):
                if number >= ANSWERS_MIN and time.monotonic() - began > CHECK_SECONDS:
                    return
                self._check_answer(made, answer, answers)
        except (UnavailableError, ValueError) as error:
            raise TargetError(f"{self._target.name}: {error}") from error

    def _check_answer(self, made: Any, answer: str, answers: Answers) -> None:
        """Plays one answer to one seed several times. Raises TargetError if it earned different rewards."""
        earned: set[str] = set()
        for _ in range(PLAYS):
            try:
                stepped = self._play(made, self._action(answer))
            except RefusedError:
                # The server refuses this answer as an action, so further plays of the answer would show nothing.
                if not earned:
                    return
                stepped = {"done": True, "reward": "an error"}
            if self._field and not stepped.get("done"):
                raise TargetError(
                    f"{self._target.name}: an episode goes on after a step. Only episodes of one step can be mounted, "
                    "because a task cannot hold the state that the server keeps in a connection"
                )
            answers.shown(stepped.get("observation"))
            earned.add(str(stepped.get("reward")))
        if len(earned) > 1:
            raise TargetError(
                f"{self._target.name}: one answer ({answer!r}) to one seed earned {' and '.join(sorted(earned))}, so "
                "that what is right does not follow from the seed: have its reset(seed) draw all chance from the seed"
            )

    def _action(self, answer: str) -> dict[str, Any]:
        action = {self._field: self._target.wrapped(answer)} if self._field else json.loads(answer)
        return dict(action)

    def _play(self, instance: Any, action: dict[str, Any]) -> dict[str, Any]:
        shown, stepped = self._talk([("reset", {"seed": instance["seed"]}), ("step", action)])
        if shown["observation"] != instance["observation"]:
            raise ValueError("two resets with one seed gave different tasks, so a seed does not name a task")
        return stepped

    def _talk(self, messages: list[tuple[str, dict[str, Any]]]) -> list[dict[str, Any]]:
        """Opens a new connection, sends the messages, and returns their replies.

        A worker may start no thread, so this event loop is the only one.
        """
        try:
            return asyncio.run(asyncio.wait_for(self._answers(messages), SECONDS_MAX))
        except asyncio.TimeoutError as error:
            raise UnavailableError(f"{self._target.name} does not answer within {SECONDS_MAX} s") from error

    async def _answers(self, messages: list[tuple[str, dict[str, Any]]]) -> list[dict[str, Any]]:
        from websockets.asyncio.client import connect  # noqa: PLC0415
        from websockets.exceptions import WebSocketException  # noqa: PLC0415

        url = urllib.parse.urlsplit(self._target.name)
        port = url.port or (443 if url.scheme == "https" else 80)
        address = "ws" + self._target.name.removeprefix("http").rstrip("/") + "/ws"
        answers = []
        try:
            # The socket is connected here, because asyncio would resolve the name in a thread.
            reached = socket.create_connection((url.hostname, port), SECONDS_MAX)
            reached.setblocking(False)
            async with connect(
                address, sock=reached, open_timeout=None, close_timeout=1, max_size=MESSAGE_BYTES_MAX
            ) as connection:
                for kind, data in messages:
                    await connection.send(json.dumps({"type": kind, "data": data}))
                    reply = json.loads(await connection.recv())
                    if reply.get("type") != "observation":
                        told = reply.get("data", {})
                        words = f"{kind} was refused: {told.get('message', told)}"
                        if told.get("code") in _AWAY or told.get("grpc_code") in _AWAY:
                            raise UnavailableError(words)
                        raise RefusedError(words) if kind == "step" else ValueError(words)
                    answers.append(reply["data"])
        except (OSError, WebSocketException) as error:
            raise UnavailableError(f"{self._target.name} does not answer: {error}") from error
        return answers
