"""Serves one environment: calls its methods for protobuf requests, and converts their results to responses."""

from __future__ import annotations

import asyncio
import hashlib
import itertools
import math
import numbers
import random
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from gradus.serve import _json
from gradus.serve._chance import seed_chance
from gradus.serve._environment import Axis, Environment, Level
from gradus.serve._episodes import Episodes, describe_turns
from gradus.serve._facts import ONLY_COMPONENT, ExhaustedError, Facts, MisshapenError, UnavailableError
from gradus.serve._rows import digest_rows, read_rows
from gradus.v1 import environment_pb2, outcome_pb2, provider_pb2, task_pb2

ID = re.compile(r"[a-z0-9-]+(/[a-z0-9-]+)*")
ID_LENGTH_MAX = 128
LEVEL_LENGTH_MAX = 64
LEVELS_MAX = 1024
DETAIL_LENGTH_MAX = 2000
INFO_LENGTH_MAX = 1000
INFO_MAX = 16
COMPONENTS_MAX = 32
BYTES_MAX = 1024**2
MESSAGES_MAX = 16
PARAMETERS_BYTES_MAX = 16 * 1024

_ROLES = ("system", "user", "assistant")
_VERDICTS = {
    "malformed": outcome_pb2.VERDICT_MALFORMED,
    "infeasible": outcome_pb2.VERDICT_INFEASIBLE,
    "feasible": outcome_pb2.VERDICT_FEASIBLE,
    "graded": outcome_pb2.VERDICT_GRADED,
}

Kind = provider_pb2.ProviderFailureKind


def failure_of(error: BaseException) -> provider_pb2.ProviderFailure:
    """Returns the protobuf message ProviderFailure for an exception in an environment's code.

    MemoryError is raised again, and ends the process: without memory, everything later fails too.
    """
    if isinstance(error, MemoryError):
        raise error
    kind = provider_pb2.PROVIDER_FAILURE_KIND_RAISED
    if isinstance(error, UnavailableError):
        kind = provider_pb2.PROVIDER_FAILURE_KIND_UNAVAILABLE
    return provider_pb2.ProviderFailure(kind=kind, detail=in_words(error))


def sendable(text: str) -> str:
    """Escapes halves of surrogate pairs, which cannot be sent. An environment may take one from an answer's JSON."""
    return text.encode("utf-8", "backslashreplace").decode()


def in_words(error: BaseException) -> str:
    """Returns the type and the last line of an exception, cut if long. Messages that are for users have no type."""
    said = sendable(str(error)).strip().split("\n")[-1]
    name = type(error).__name__
    if isinstance(error, (MisshapenError, UnavailableError)):
        return said[:DETAIL_LENGTH_MAX]
    return (f"{name}: {said}" if said else name)[:DETAIL_LENGTH_MAX]


class Served:
    """One environment, with its levels and the digests of its sources."""

    def __init__(self, environment: Environment, folder: Path, sources: Mapping[str, str]) -> None:
        self.environment = environment
        cls = type(environment)
        self.id = cls.id if isinstance(cls.id, str) and cls.id else environment.id
        self.version = environment.version
        _check_id(self.id, self.version)
        self.levels = _levels_of(environment)
        _check_axes(environment, self.levels)
        self._rows = _rows_of(environment, self.levels, folder)
        self.components = _components_of(environment)
        self._parses = environment.has("parse")
        self._sources = sources
        self._loop: asyncio.AbstractEventLoop | None = None
        self.turns = describe_turns(environment)
        self._episodes = Episodes(
            environment, self._await, lambda found: facts_message(found, self.components, "advance"), seed_chance
        )
        self.digest = self._digest()

    def drop(self, names: Sequence[str]) -> None:
        """Removes levels by name, because they cannot be served."""
        for name in names:
            self.levels.pop(name, None)
        self.digest = self._digest()

    def grade(self) -> None:
        """Declares the component "score" if the environment, whose `verify` returns numbers, names no components."""
        if not self.components:
            self.components = {ONLY_COMPONENT: 1.0}

    def describe(self) -> provider_pb2.ProvidedEnvironment:
        """Returns the protobuf message ProvidedEnvironment, which describes the environment."""
        environment = self.environment
        doc = environment.description or (type(environment).__doc__ or "").strip().split("\n\n")[0]
        return provider_pb2.ProvidedEnvironment(
            id=self.id,
            version=self.version,
            digest=self.digest,
            description=" ".join(doc.split())[:4000],
            goal=_enum(environment_pb2.Goal, "GOAL_", environment.goal, "goal"),
            levels=[self.describe_level(name) for name in self.levels],
            answer_formats=[
                _enum(task_pb2.AnswerFormat, "ANSWER_FORMAT_", name, "answer_formats")
                for name in environment.answer_formats
            ],
            components=[
                provider_pb2.ProviderComponent(name=name, weight=weight) for name, weight in self.components.items()
            ],
            verbatim=environment.verbatim,
            draws=environment.has("draw"),
            limits=provider_pb2.ProviderLimits(
                generate_ms=round(environment.generate_seconds * 1000),
                verify_ms=round(environment.verify_seconds * 1000),
                answer_bytes=environment.answer_bytes,
                advance_ms=round((environment.advance_seconds or environment.verify_seconds) * 1000),
            ),
            remarks=[remark[:INFO_LENGTH_MAX] for remark in environment.remarks],
            turns_max=1 if self.turns is None else environment.calls_max,
            turns=self.turns,
            runs_answers=environment.runs_answers,
            axes=[axis for name in environment.axes for axis in self._describe_axis(name)],
        )

    def make(self, level: str, parameters_json: str, seed: int) -> provider_pb2.ProvidedInstance:
        """Returns the instance of a seed, or the row of an index. Raises the environment's exceptions."""
        rows = self._rows.get(level)
        seed_chance(seed)
        if rows is not None:
            if seed >= len(rows):
                raise ExhaustedError(f"level {level} has {len(rows):,} rows, and none of index {seed:,}")
            made = rows[seed]
        else:
            parameters = _json.load(parameters_json) if parameters_json else {}
            made = self.environment.generate(random.Random(seed), **parameters)
            if made is None:
                raise MisshapenError("generate returned nothing")
        data = _json.dump(made)
        return self._present(data, _json.load(data))

    def verifier(self, instance: bytes) -> Callable[[str], provider_pb2.ProvidedFacts]:
        """Returns a function that verifies answers to an instance.

        The function raises the environment's exceptions.
        """
        value, untouched = _json.load(instance), _json.load(instance)
        environment = self.environment
        parse = environment.parse if self._parses else None
        verify = environment.verify

        def find(text: str) -> provider_pb2.ProvidedFacts:
            nonlocal value
            # Compare first, because this is much faster than to read the instance again for each answer.
            if not _is_same(value, untouched):
                value = _json.load(instance)
            seed_chance(0)
            answer: Any = text
            if parse is not None:
                try:
                    answer = parse(text)
                except ValueError as error:
                    return facts_message(Facts.malformed(str(error) or "it cannot be read"), self.components)
            found = verify(value, answer)
            if hasattr(found, "__await__"):
                found = self._await(found)
            return facts_message(found, self.components)

        return find

    def gives_number(self, instance: bytes, texts: Sequence[str]) -> bool:
        """Returns whether `verify` returns a number, and not a bool, for the first of these answers it can read."""
        for text in texts:
            seed_chance(0)
            try:
                answer = self.environment.parse(text)
                found = self.environment.verify(_json.load(instance), answer)
                found = self._await(found) if hasattr(found, "__await__") else found
            except Exception:
                continue
            return isinstance(found, numbers.Real) and not isinstance(found, bool)
        return False

    def advance(self, request: provider_pb2.EnvironmentProviderAdvanceRequest) -> provider_pb2.ProvidedTurn:
        """Carries out the last call of a request and returns its result. Raises the environment's exceptions."""
        return self._episodes.advance(request)

    def draw(self, instance: bytes, answer: str | None) -> str:
        """Returns an SVG document."""
        seed_chance(0)
        drawn = self.environment.draw(_json.load(instance), answer)
        if not isinstance(drawn, str):
            raise MisshapenError(f"draw gave a {type(drawn).__name__}: give an SVG document, as str")
        return drawn

    def _present(self, data: bytes, value: Any) -> provider_pb2.ProvidedInstance:
        """Makes the message ProvidedInstance.

        The prompt is made from the encoded instance: it shows exactly what is verified.
        """
        environment = self.environment
        made = provider_pb2.ProvidedInstance(
            instance=data,
            prompt=_messages(environment.prompt(value)),
            canonical=environment.canonical(value) or _json.dump(value, sort=True).decode(),
            metadata={str(key): str(item)[:INFO_LENGTH_MAX] for key, item in environment.metadata(value).items()},
        )
        reference = environment.reference(value)
        if reference is not None:
            made.reference = str(reference)
        known = environment.baseline(value)
        if known is not None:
            best, bound = known if isinstance(known, tuple) else (known, known)
            made.baseline = _finite(best, "baseline")
            made.baseline_bound = _finite(bound, "baseline")
        if made.ByteSize() > BYTES_MAX:
            raise MisshapenError(
                f"an instance of {made.ByteSize():,} bytes with its prompt; the limit is {BYTES_MAX:,}"
            )
        return made

    def _await(self, found: Any) -> Any:
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
        return self._loop.run_until_complete(found)

    def describe_level(self, name: str) -> provider_pb2.ProviderLevel:
        """Returns the protobuf message ProviderLevel, which describes a level."""
        level = self.levels[name]
        rows = self._rows.get(name)
        return provider_pb2.ProviderLevel(
            name=name,
            description=level.description[:INFO_LENGTH_MAX],
            parameters_json=_json.dump(dict(level.parameters)).decode(),
            rows=0 if rows is None else len(rows),
            evaluation_only=level.evaluation_only,
        )

    def _describe_axis(self, name: str) -> list[provider_pb2.ProvidedAxis]:
        """Returns a growth axis as a message, up to its first level that is not served.

        Empty: fewer than two levels are left.
        """
        axis = self.environment.axes[name]
        levels = list(itertools.takewhile(self.levels.__contains__, axis.levels))
        if len(levels) < _AXIS_LEVELS_MIN:
            return []
        return [provider_pb2.ProvidedAxis(name=name, first=axis.first, levels=levels, guess=axis.guess)]

    def _digest(self) -> str:
        digest = hashlib.sha256()
        table = {name: dict(level.parameters) for name, level in self.levels.items()}
        told = {"id": self.id, "version": self.version, "levels": table, "sources": dict(self._sources)}
        digest.update(_json.dump(told, sort=True))
        for rows in self._rows.values():
            digest_rows(rows, digest)
        return digest.hexdigest()


_AXIS_LEVELS_MIN = 2


def _check_axes(environment: Environment, levels: Mapping[str, Level]) -> None:
    for name, axis in environment.axes.items():
        if not isinstance(axis, Axis):
            raise MisshapenError(f"{environment.id}: axis {name!r} is no gradus.serve.Axis")
        unknown = [level for level in axis.levels if level not in levels]
        if unknown:
            raise MisshapenError(f"{environment.id}: axis {name!r} names a level that does not exist: {unknown[0]!r}")


def _is_same(value: Any, untouched: Any) -> bool:
    """Returns whether a verifier has left an instance unchanged.

    A verifier may, for example, remove used numbers from a list.
    """
    try:
        return bool(value == untouched)
    except Exception:  # Such as a list that was put into itself.
        return False


def facts_message(found: Any, components: Mapping[str, float], source: str = "verify") -> provider_pb2.ProvidedFacts:
    """Converts a result of `verify`, or of the method `source`, to a message. Raises MisshapenError for an invalid one.

    All results that say only "right", or only "wrong", share one message object: copy it, and do not change it.
    """
    if isinstance(found, bool) and not components:
        return _RIGHT if found else _WRONG
    facts = found if isinstance(found, Facts) else _facts_of(found, components, source)
    message = provider_pb2.ProvidedFacts(
        verdict=_VERDICTS[facts.verdict], violation=sendable(facts.violation[:DETAIL_LENGTH_MAX])
    )
    if facts.objective is not None:
        message.objective = _finite(facts.objective, "objective")
    if facts.verdict == "graded":
        message.solved = facts.solved
        for name, value in facts.components.items():
            if name not in components:
                raise MisshapenError(f"{source} gave the component '{name}', which is not among `components`")
            message.components.append(_component(name, value))
    for key, item in list(facts.info.items())[:INFO_MAX]:
        message.info[sendable(str(key))] = sendable(str(item)[:INFO_LENGTH_MAX])
    return message


_RIGHT = facts_message(Facts.feasible(), {})
_WRONG = facts_message(Facts.infeasible("the answer is wrong"), {})


# Names of the bool type in numpy 1 and 2.
_BOOLS_OF_NUMPY = ("bool_", "bool")


def _facts_of(found: Any, components: Mapping[str, float], source: str) -> Facts:
    """Converts a result of `verify` that is a bool or a number to Facts."""
    if isinstance(found, bool) or type(found).__name__ in _BOOLS_OF_NUMPY:
        if components:
            return Facts.graded({next(iter(components)): 1.0 if found else 0.0})
        return Facts.feasible() if found else Facts.infeasible(_WRONG.violation)
    if isinstance(found, numbers.Real):
        if not components:
            when = " at mounting" if source == "verify" else ""
            raise MisshapenError(
                f"{source} gave {found}, a number, where it gave True or False{when}: give numbers always, "
                'or declare components = ["score"]'
            )
        value = _share(float(found), source)
        return Facts.graded({next(iter(components)): value})
    raise MisshapenError(f"{source} gave a {type(found).__name__}: give True or False, a number in [0, 1], or Facts")


def _component(name: str, value: float | None) -> provider_pb2.ProvidedComponent:
    if value is None:
        return provider_pb2.ProvidedComponent(name=name, reason="the environment gave it no value for this answer")
    return provider_pb2.ProvidedComponent(name=name, value=_share(value, name))


# Maximum by which rounding may lift a sum of shares above 1.
_ROUNDING = 1e-9


def _share(value: float, what: str) -> float:
    if not -_ROUNDING <= value <= 1 + _ROUNDING:
        raise MisshapenError(f"{what} came to {value}; a number in [0, 1] is needed")
    return min(1.0, max(0.0, value))


def _finite(value: float, what: str) -> float:
    if not math.isfinite(value):
        raise MisshapenError(f"{what} came to {value}; a finite number is needed")
    return float(value)


def _messages(prompt: Any) -> list[task_pb2.ChatMessage]:
    if isinstance(prompt, str):
        return [task_pb2.ChatMessage(role="user", content=prompt)]
    messages = list(prompt)
    if not 1 <= len(messages) <= MESSAGES_MAX:
        raise MisshapenError(f"a prompt of {len(messages)} messages; there may be 1 to {MESSAGES_MAX}")
    for message in messages:
        if message.get("role") not in _ROLES:
            raise MisshapenError(f"a message of the prompt has the role {message.get('role')!r}: one of {[*_ROLES]}")
    return [task_pb2.ChatMessage(role=each["role"], content=str(each["content"])) for each in messages]


def _check_id(name: str, version: int) -> None:
    if not name:
        raise MisshapenError('an environment needs an id, e.g. id = "mine/anagram"')
    if not ID.fullmatch(name) or len(name) > ID_LENGTH_MAX:
        raise MisshapenError(
            f'the id {name!r} is not lower-case words of a-z, 0-9 and "-" with "/" between them, '
            f"of at most {ID_LENGTH_MAX} characters"
        )
    if not isinstance(version, int) or version < 1:
        raise MisshapenError(f"{name}: version {version!r} is no whole number from 1")


def _levels_of(environment: Environment) -> dict[str, Level]:
    declared: Any = environment.levels
    if environment.rows is not None:
        by_level = environment.rows if isinstance(environment.rows, Mapping) else {"all": environment.rows}
        has_own = environment.levels is not Environment.levels
        declared = {name: declared[name] if has_own and name in declared else {} for name in by_level}
    levels = {
        str(name): level if isinstance(level, Level) else Level(parameters=dict(level))
        for name, level in declared.items()
    }
    if not 1 <= len(levels) <= LEVELS_MAX:
        raise MisshapenError(f"{environment.id}: {len(levels)} levels; there may be 1 to {LEVELS_MAX}")
    for name, level in levels.items():
        if not 1 <= len(name) <= LEVEL_LENGTH_MAX:
            raise MisshapenError(
                f"{environment.id}: a level's name has {len(name)} characters; it must have 1 to {LEVEL_LENGTH_MAX}"
            )
        if len(_json.dump(dict(level.parameters))) > PARAMETERS_BYTES_MAX:
            raise MisshapenError(f"{environment.id}: parameters of level {name} have more than 16 KiB")
    return levels


def _rows_of(environment: Environment, levels: Mapping[str, Level], folder: Path) -> dict[str, Sequence[Any]]:
    if environment.rows is None:
        return {}
    by_level = environment.rows if isinstance(environment.rows, Mapping) else {"all": environment.rows}
    return {name: read_rows(by_level[name], folder) for name in levels}


def _components_of(environment: Environment) -> dict[str, float]:
    declared = environment.components
    found = dict(declared) if isinstance(declared, Mapping) else dict.fromkeys(declared, 1.0)
    if len(found) > COMPONENTS_MAX:
        raise MisshapenError(f"{environment.id}: {len(found)} components; there may be at most {COMPONENTS_MAX}")
    return {name: _share(float(weight), f"weight of {name}") for name, weight in found.items()}


def _enum(enum: Any, prefix: str, name: str, what: str) -> Any:
    known = enum.DESCRIPTOR.values_by_name
    full = prefix + name.upper().replace("-", "_")
    if full not in known:
        names = [key.removeprefix(prefix).lower() for key in known][1:]
        raise MisshapenError(f"{what}: there is no '{name}'; there are {', '.join(names)}")
    return known[full].number
