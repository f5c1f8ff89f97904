"""ORS (Open Reward Standard): environments of a server that the package openreward, or another one, runs.

`ors:127.0.0.1:8080`. A task is one of the server's own tasks, given by its task_spec. If the model gets no tools, the
task takes one answer, which is sent to the environment's terminal tool. With tools, a task has several calls. Its state
is the list of calls so far; a worker without the task's session begins another one and repeats these calls.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import quote

from gradus.serve._catalogue import Needs, Offer, TargetError
from gradus.serve._environment import Environment, Level
from gradus.serve._episodes import CALLS_MAX, ROOM_BYTES
from gradus.serve._facts import ONLY_COMPONENT, Facts, MisshapenError, UnavailableError
from gradus.serve._turns import Action, Tool, Turn
from gradus.serve.adapters._http import Asking
from gradus.serve.adapters._ors_session import AWAY, GoneError, Output, Session
from gradus.serve.adapters._target import Target, slug_of

T = TypeVar("T")
TASKS_MAX = 100_000
"""Maximum number of tasks that are taken from a split."""
PAGE = 1000
ENVIRONMENTS_MAX = 1024
SPLITS_MAX = 64
WORDS_MAX = 4000
CALLS = 64
"""Default maximum of calls of an episode."""
ACTION_BYTES = 16 * 1024
LIVE_MAX = 64
"""Maximum number of sessions that a process keeps open for an environment."""
LOG_BYTES_MAX = ROOM_BYTES - 1
"""Maximum bytes of a log (the calls so far). A state has one byte before its log."""
NO_ROOM = "The episode ends here, because its calls are too long together."
_HEAD_BYTES = 3


def needs(_: str) -> Needs:
    """Returns the access that a target needs: the network."""
    return Needs(network=True)


def offer(rest: str) -> Offer:
    """Returns the environments of a server. TargetError has the reason if it cannot be mounted."""
    target = Target.parse(rest, ["name"])
    address = target.name if "://" in target.name else f"http://{target.name}"
    if not re.fullmatch(r"https?://[^/\s]+(/.*)?", address):
        raise TargetError("write ors=host:port, or ors:https://host:port")
    prefix = f"ors/{slug_of(target.options['name'])}/" if "name" in target.options else "ors/"
    server = Asking(address, AWAY)
    environments: list[Environment] = []
    left_out = {}
    try:
        for name in listed(server, "/list_environments", ENVIRONMENTS_MAX):
            slug = prefix + slug_of(str(name))
            try:
                environments.append(environment_of(server, Place(address, str(name), target), slug))
            except (MisshapenError, ValueError) as error:
                left_out[slug] = str(error)
    except (UnavailableError, MisshapenError, ValueError) as error:
        raise TargetError(f"{address}: {error}") from error
    return Offer(environments, left_out)


def environment_of(server: Asking, place: Place, slug: str) -> Environment:
    """Returns an environment with all of its tasks. Raises MisshapenError with the reason if it cannot be mounted."""
    path = "/" + quote(place.name, safe="")
    tools, terminal = read_tools(asked(server, f"{path}/tools"))
    if not tools and terminal is None:
        raise MisshapenError("it has no tool")
    rows = {}
    levels = {}
    remarks = [f"made and verified by {place.address}, which is asked over the network"]
    for split in listed(server, f"{path}/splits", SPLITS_MAX):
        name = split.get("name") if isinstance(split, dict) else None
        if not isinstance(name, str):
            raise MisshapenError(f"{path}/splits must be a list of objects with a name")
        count = field_in(asked(server, f"{path}/num_tasks", {"split": name}), "num_tasks", int)
        if count > TASKS_MAX:
            remarks.append(f"split {name} has {count:,} tasks: the first {TASKS_MAX:,} are served")
        tasks = tasks_of(server, path, name, min(count, TASKS_MAX))
        if tasks:
            rows[name] = tasks
            parameters = {"split": name, "tools": digest_of(tools, terminal)}
            levels[name] = Level(parameters, evaluation_only=split.get("type") != "train")
    if not rows:
        raise MisshapenError("it has no task")
    return (Game if tools else Question)(slug, place, tools, terminal, rows, levels, remarks)


def tasks_of(server: Asking, path: str, split: str, count: int) -> list[Any]:
    """Returns the first `count` tasks of a split."""
    tasks: list[Any] = []
    while len(tasks) < count:
        stop = min(len(tasks) + PAGE, count)
        body = {"split": split, "start": len(tasks), "stop": stop}
        page = field_in(asked(server, f"{path}/task_range", body), "tasks", list)
        if len(page) != stop - len(tasks) or not all(isinstance(task, dict) for task in page):
            raise MisshapenError(f"task_range of split {split} must give {stop - len(tasks):,} objects")
        tasks += page
    return tasks


def listed(server: Asking, path: str, most: int) -> list[Any]:
    """Returns a list that the server has at a path."""
    found = asked(server, path)
    if not isinstance(found, list) or len(found) > most:
        raise MisshapenError(f"{path} must be a list of at most {most:,}")
    return found


def asked(server: Asking, path: str, body: Any = None) -> Any:
    """Returns the reply to one of many requests, each of which has the full time."""
    server.restart()
    return server.json(path, body)


def field_in(found: Any, name: str, kind: type[T]) -> T:
    """Returns a field of an object. Raises MisshapenError if it has another type."""
    value = found.get(name) if isinstance(found, dict) else None
    if not isinstance(value, kind) or isinstance(value, bool):
        raise MisshapenError(f"{name} must be of the type {kind.__name__}, not {value!r:.100}")
    return value


@dataclass(frozen=True)
class Terminal:
    """Tool to which a message of the policy is sent, and which ends the episode. The policy does not see the tool."""

    name: str
    field: str | None
    """Name of the tool's only argument; None: the tool has no argument, and the message's text is not sent."""


@dataclass(frozen=True)
class Place:
    """Where an environment comes from: the server's address, its name there, and the target with its options."""

    address: str
    name: str
    target: Target


def read_tools(found: Any) -> tuple[list[Tool], Terminal | None]:
    """Reads a list of tools. Raises MisshapenError if it has a wrong form."""
    tools = []
    for each in field_in(found, "tools", list):
        schema = each.get("input_schema") if isinstance(each, dict) else None
        description = str(each.get("description") or "")[:WORDS_MAX] if isinstance(each, dict) else ""
        if schema is not None and not isinstance(schema, dict):
            raise MisshapenError(f"input_schema of a tool must be an object, not {schema!r:.100}")
        tools.append(Tool(field_in(each, "name", str), description, schema or {"type": "object", "properties": {}}))
    last = found.get("terminal_tool")
    if last is None:
        return tools, None
    name = field_in(last, "name", str)
    return tools, Terminal(name, None if last.get("arg") is None else field_in(last, "arg", str))


def digest_of(tools: Sequence[Tool], terminal: Terminal | None) -> str:
    """Returns a short digest of tools, a parameter of each level.

    States refer to tools by number, so a level with other tools must be another level.
    """
    told = [[tool.name, tool.description, tool.parameters] for tool in tools]
    return hashlib.sha256(json.dumps([told, repr(terminal)], sort_keys=True).encode()).hexdigest()[:16]


class _Environment(Environment):
    """Common base class of `Question` and `Game`: tasks of one environment of an ORS server."""

    components = (ONLY_COMPONENT,)

    def __init__(
        self,
        slug: str,
        place: Place,
        tools: Sequence[Tool],
        terminal: Terminal | None,
        rows: Mapping[str, Sequence[Any]],
        levels: Mapping[str, Level],
        remarks: Sequence[str],
    ) -> None:
        self.id = slug  # type: ignore[misc]
        self.rows = rows  # type: ignore[misc]
        self.levels = levels  # type: ignore[misc]
        self.remarks = remarks  # type: ignore[misc]
        self.tools = tools  # type: ignore[misc]
        self._place = place
        self._terminal = terminal
        self._live: OrderedDict[str, _Playing] = OrderedDict()

    def prompt(self, instance: Any) -> list[dict[str, str]]:
        """Returns the task's messages. Raises MisshapenError if the task has tools of its own."""
        with self._session(instance) as session:
            tools, terminal = read_tools(session.tools())
            if digest_of(tools, terminal) != digest_of(self.tools, self._terminal):
                own = ", ".join(tool.name for tool in tools)
                raise MisshapenError(f"the task has tools of its own ({own:.200}), which a mount cannot offer")
            return session.messages()

    @contextmanager
    def _session(self, instance: Any) -> Iterator[Session]:
        session = self._open(instance)
        try:
            yield session
        finally:
            session.close()

    def _open(self, instance: Any) -> Session:
        return Session(self._place.address, self._place.name, instance)

    def _message(self, text: str) -> dict[str, str]:
        """Returns the arguments of the terminal tool for a message."""
        field = self._terminal and self._terminal.field
        return {field: self._place.target.wrapped(text)} if field else {}

    def _facts(self, reward: float) -> Facts:
        share = self._place.target.share(reward)
        return Facts("graded", components={ONLY_COMPONENT: share}, solved=share == 1, info={"reward": repr(reward)})


class Question(_Environment):
    """Tasks of an ORS server that take one answer."""

    def verify(self, instance: Any, answer: str) -> Facts:
        """Returns the reward of the terminal tool, in a session of its own."""
        assert self._terminal is not None
        with self._session(instance) as session:
            output = session.call(self._terminal.name, self._message(answer))
        if output.refused:
            return Facts.malformed(output.text)
        if output.reward is None:
            raise MisshapenError("its terminal tool gave no reward")
        return self._facts(output.reward)


@dataclass
class _Playing:
    """A session in progress, and the reward of its calls so far; None: no call had one."""

    session: Session
    reward: float | None = None


class Game(_Environment):
    """Tasks of an ORS (Open Reward Standard) server in which the model calls the environment's tools."""

    calls_max = CALLS_MAX
    calls = CALLS
    needs_tools = True
    state_bytes = ROOM_BYTES
    action_bytes = ACTION_BYTES

    def start(self, instance: Any) -> bytes:
        """Returns an empty log."""
        return b""

    def advance(self, instance: Any, state: bytes, action: Action) -> Turn:
        """Makes a call, and adds it to the log."""
        if not action.tool and self._terminal is None:
            return Turn("A message does nothing here. Use the tools.", state)
        number = [tool.name for tool in self.tools].index(action.tool) + 1 if action.tool else 0
        text = json.dumps(action.arguments, ensure_ascii=False, separators=(",", ":")) if action.tool else action.text
        playing, output = self._call(instance, state, number, text)
        result = None if playing.reward is None else self._facts(playing.reward)
        if output.refused:
            self._keep(instance, state, playing)
            return Turn(output.text, state, result=result)
        data = text.encode("utf-8", "surrogatepass")
        log = state + bytes([number]) + len(data).to_bytes(_HEAD_BYTES - 1, "big") + data
        if not (output.finished or number == 0) and len(log) <= LOG_BYTES_MAX:
            self._keep(instance, log, playing)
            return Turn(output.text, log, result=result)
        playing.session.close()
        if output.finished or number == 0:
            if result is None:
                raise MisshapenError("its episode ended without a reward")
            return Turn(output.text, state, over=True, result=result)
        return Turn(f"{output.text}\n\n{NO_ROOM}", state, over=True, result=result)

    def _call(self, instance: Any, state: bytes, number: int, text: str) -> tuple[_Playing, Output]:
        """Makes a call in the session of the state, or in a new one in which the calls so far were repeated."""
        playing = self._live.pop(_key(instance, state), None)
        if playing is not None:
            playing.session.restart()
            try:
                return playing, self._play(playing, number, text)
            except GoneError:
                pass
        playing = self._again(instance, state)
        return playing, self._play(playing, number, text)

    def _again(self, instance: Any, log: bytes) -> _Playing:
        playing = _Playing(self._open(instance))
        for number, text in _calls(log):
            output = self._play(playing, number, text)
            if output.finished or output.refused:
                raise MisshapenError("repeated calls ended otherwise, so tasks do not follow from their task_spec")
        return playing

    def _play(self, playing: _Playing, number: int, text: str) -> Output:
        terminal = self._terminal
        try:
            if number > 0 or terminal is None:
                output = playing.session.call(self.tools[number - 1].name, json.loads(text))
            else:
                output = playing.session.call(terminal.name, self._message(text))
        except Exception:
            # Whether the call was carried out is not known, so that the session is of no use.
            playing.session.close()
            raise
        if output.reward is not None:
            playing.reward = (playing.reward or 0) + output.reward
        return output

    def _keep(self, instance: Any, log: bytes, playing: _Playing) -> None:
        self._live[_key(instance, log)] = playing
        if len(self._live) > LIVE_MAX:
            self._live.popitem(last=False)[1].session.close()


def _key(instance: Any, log: bytes) -> str:
    return f"{json.dumps(instance, sort_keys=True)} {log.hex()}"


def _calls(log: bytes) -> Iterator[tuple[int, str]]:
    """Yields the calls of a log: the number of a tool and its arguments."""
    while log:
        end = _HEAD_BYTES + int.from_bytes(log[1:_HEAD_BYTES], "big")
        yield log[0], log[_HEAD_BYTES:end].decode("utf-8", "surrogatepass")
        log = log[end:]
