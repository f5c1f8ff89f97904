"""Carries out calls of episodes, and declares the turns of an environment. States are bytes, or objects in memory."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

from gradus.serve import _json
from gradus.serve._environment import Environment
from gradus.serve._facts import MisshapenError
from gradus.serve._turns import KEEP, Action, Tool, Turn
from gradus.v1 import provider_pb2

TOOL_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
TOOLS_MAX = 32
CALLS_MIN = 2
CALLS_MAX = 512
STATE_BYTES = 1024
ACTION_BYTES = 256
# Bytes of a task id that are left for an episode: its state, or with `replay` the calls so far. Each call takes
# CALL_BYTES in addition to its text.
ROOM_BYTES = 2900
CALL_BYTES = 24
REPLY_BYTES_MAX = 64 * 1024
# Maximum number of states of episodes that a process keeps as objects, for environments with `replay`.
LIVE_MAX = 256


class Episodes:
    """Carries out calls of episodes of one environment, and keeps states that are objects in memory."""

    def __init__(
        self,
        environment: Environment,
        await_: Callable[[Any], Any],
        facts_of: Callable[[Any], provider_pb2.ProvidedFacts],
        seed_chance: Callable[[int], None],
    ) -> None:
        self._environment = environment
        self._await = await_
        self._facts_of = facts_of
        self._seed_chance = seed_chance
        self._live: OrderedDict[bytes, Any] = OrderedDict()

    def advance(self, request: provider_pb2.EnvironmentProviderAdvanceRequest) -> provider_pb2.ProvidedTurn:
        """Carries out the last call of a request and returns its result. Raises the environment's exceptions."""
        calls = request.calls
        if not calls:
            raise MisshapenError("EnvironmentProviderAdvanceRequest.calls must have at least one call; got none")
        instance = _json.load(request.instance)
        state, done = self._begin(request, instance)
        turn = Turn("")
        for call in calls[done:]:
            turn, state = self._make(instance, state, call)
        return self._message(request, turn, state)

    def _begin(self, request: provider_pb2.EnvironmentProviderAdvanceRequest, instance: Any) -> tuple[Any, int]:
        """Returns a state of the episode, and how many of the request's calls it already includes."""
        if request.HasField("state"):
            return read_state(request.state), 0
        earlier = len(request.calls) - 1
        if self._environment.replay and earlier > 0:
            # Remove the state from the table, because the call may change it.
            live = self._live.pop(_key(request, earlier), KEEP)
            if live is not KEEP:
                return live, earlier
        self._seed_chance(0)
        return self._settled(self._environment.start(instance)), 0

    def _make(self, instance: Any, state: Any, call: provider_pb2.ProvidedCall) -> tuple[Turn, Any]:
        arguments = _json.load_plain(call.text) if call.tool else {}
        text = "" if call.tool else call.text
        self._seed_chance(call.seed)
        action = Action(call.number, call.tool, arguments, text, call.seed)
        turn = self._settled(self._environment.advance(instance, state, action))
        if not isinstance(turn, Turn):
            raise MisshapenError(f"advance gave a {type(turn).__name__}: give a gradus.serve.Turn")
        return turn, state if turn.state is KEEP else turn.state

    def _settled(self, found: Any) -> Any:
        return self._await(found) if hasattr(found, "__await__") else found

    def _message(
        self, request: provider_pb2.EnvironmentProviderAdvanceRequest, turn: Turn, state: Any
    ) -> provider_pb2.ProvidedTurn:
        reply = str(turn.reply).encode("utf-8", "backslashreplace")
        if len(reply) > REPLY_BYTES_MAX:
            raise MisshapenError(f"advance gave a reply of {len(reply):,} bytes; the limit is {REPLY_BYTES_MAX:,}")
        message = provider_pb2.ProvidedTurn(reply=reply.decode(), over=bool(turn.over))
        if turn.result is not None:
            message.facts.CopyFrom(self._facts_of(turn.result))
        if not self._environment.replay:
            message.state = write_state(state, self._environment.state_bytes or STATE_BYTES)
        elif not turn.over:
            self._live[_key(request, len(request.calls))] = state
            if len(self._live) > LIVE_MAX:
                self._live.popitem(last=False)
        return message


def _key(request: provider_pb2.EnvironmentProviderAdvanceRequest, count: int) -> bytes:
    """Returns the key under which the state after the first `count` calls of a request is kept."""
    part = provider_pb2.EnvironmentProviderAdvanceRequest(instance=request.instance, calls=request.calls[:count])
    return part.SerializeToString(deterministic=True)


def write_state(state: Any, bytes_max: int) -> bytes:
    """Returns a state as bytes: b"b" and the bytes, or b"j" and JSON. Raises MisshapenError if it cannot be sent."""
    data = b"b" + state if isinstance(state, bytes) else b"j" + _json.dump(state)
    if len(data) > bytes_max:
        raise MisshapenError(
            f"the state after a call has {len(data):,} bytes, and state_bytes is {bytes_max:,}: "
            "raise it, keep less in the state, or set replay = True"
        )
    return data


def read_state(data: bytes) -> Any:
    """Returns the state from the bytes that `write_state` returned."""
    return data[1:] if data[:1] == b"b" else _json.load(data[1:])


def describe_turns(environment: Environment) -> provider_pb2.ProvidedTurns | None:
    """Returns the protobuf message ProvidedTurns, which declares the turns; None: tasks take one answer.

    Raises MisshapenError if the declaration is invalid.
    """
    if not has_turns(environment):
        return None
    calls_max, calls = environment.calls_max, environment.calls
    name = environment.id
    if not CALLS_MIN <= calls_max <= CALLS_MAX:
        raise MisshapenError(
            f"{name}: calls_max = {calls_max!r}; an environment with advance needs {CALLS_MIN} to {CALLS_MAX}"
        )
    if not 0 <= calls <= calls_max:
        raise MisshapenError(f"{name}: calls = {calls!r}; there may be 1 to {calls_max}, or 0 for calls_max")
    if environment.replay and not environment.deterministic:
        raise MisshapenError(f"{name}: replay = True repeats calls, so deterministic must be True")
    state_bytes = environment.state_bytes or STATE_BYTES
    action_bytes = environment.action_bytes or ACTION_BYTES
    needed = (calls or calls_max) * (action_bytes + CALL_BYTES) if environment.replay else state_bytes
    if needed > ROOM_BYTES:
        what = "lower action_bytes or calls" if environment.replay else "lower state_bytes, or set replay = True"
        raise MisshapenError(
            f"{name}: an episode takes up to {needed:,} bytes of a task id, which has room for {ROOM_BYTES:,}: {what}"
        )
    return provider_pb2.ProvidedTurns(
        tools=_tools_of(name, environment.tools),
        calls=calls,
        state_bytes=0 if environment.replay else state_bytes,
        action_bytes=action_bytes,
        nondeterministic=not environment.deterministic,
        needs_tools=environment.needs_tools,
    )


def has_turns(environment: Environment) -> bool:
    """Returns whether tasks of an environment are episodes of several calls."""
    return environment.has("advance")


def _tools_of(environment: str, tools: Sequence[Tool]) -> list[provider_pb2.ProvidedTool]:
    names = [tool.name for tool in tools]
    if len(names) > TOOLS_MAX:
        raise MisshapenError(f"{environment}: {len(names)} tools; there may be at most {TOOLS_MAX}")
    for name in names:
        if not TOOL_NAME.fullmatch(name) or names.count(name) > 1:
            raise MisshapenError(f'{environment}: tool {name!r}: want a unique name of letters, digits, "_" and "-"')
    return [
        provider_pb2.ProvidedTool(
            name=tool.name,
            description=tool.description,
            parameters_json=_json.dump_plain(tool.parameters),
        )
        for tool in tools
    ]
