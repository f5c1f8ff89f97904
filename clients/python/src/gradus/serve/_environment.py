"""Base class of environments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from gradus.serve._facts import Facts
from gradus.serve._turns import Action, Tool, Turn

Prompt = str | Sequence[Mapping[str, str]]
"""The prompt: a text, or chat messages with "role" and "content"."""
RowSource = Any
"""Source of rows: a list, an iterable, a `datasets.Dataset`, or the path of a file (see `rows`)."""


@dataclass(frozen=True)
class Level:
    """A level with settings beyond its name and parameters."""

    parameters: Mapping[str, Any] = field(default_factory=dict)
    """Arguments of `generate` beside its random numbers."""
    description: str = ""
    evaluation_only: bool = False
    """Whether the server refuses to train on the level."""


@dataclass(frozen=True)
class Axis:
    """A growth axis: levels that a run may open one after the other, each at least as hard as the one before."""

    levels: Sequence[str]
    """Names of levels that have no rows, from easy to hard: 2 to 256."""
    first: int = 1
    """Value of the first level, from 1. Each further level has the next number."""
    guess: float = 0.0
    """Success rate of mere guessing, in [0, 1)."""


class Environment:
    """A family of tasks with a verifier. Derive from it; `id`, `prompt`, `verify` and `generate` or `rows` are needed.

    ```python
    class Reverse(Environment):
        id = "mine/reverse"
        levels = {"short": {"letters": 4}, "long": {"letters": 12}}

        def generate(self, rng, letters):
            return "".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=letters))

        def prompt(self, instance):
            return f"Write this word backwards: {instance}"

        def verify(self, instance, answer):
            return answer.strip() == instance[::-1]
    ```

    With `advance`, a task is an episode of several calls; the guide has an example.

    The methods run in processes without a network, which can read only the file's own folder and Python's packages.
    `generate` must return the same for the same random numbers, in every process and in every order, and `verify` the
    same for the same instance and answer. `gradus env check` tests this.
    """

    id: ClassVar[str] = ""
    """Lower-case words of a-z, 0-9 and "-", with "/" between them, e.g. "mine/anagram"."""
    version: ClassVar[int] = 1
    """Version. A changed environment needs a new one: tasks of another version are not scored."""
    description: ClassVar[str] = ""
    """Description of the tasks, one paragraph. Defaults to the first paragraph of the class's docstring."""
    levels: ClassVar[Mapping[str, Mapping[str, Any] | Level]] = {"default": {}}
    """Levels by name, easiest first, each with arguments of `generate`."""
    axes: ClassVar[Mapping[str, Axis]] = {}
    """Growth axes by name, e.g. {"letters": Axis(["3 letters", "4 letters"], first=3)}, along which a run's arm may
    grow."""
    rows: ClassVar[RowSource | Mapping[str, RowSource]] = None
    """Rows to use instead of `generate`; each is an instance. An iterable of dicts, a `datasets.Dataset`, or the path
    of a file of JSON lines or Parquet, relative to the environment's file; or a dict of these by level."""
    components: ClassVar[Mapping[str, float] | Iterable[str]] = ()
    """Names of the components of graded answers, with their weights in [0, 1] (1 if left out). An answer is right if
    its first component is 1. Not needed if `verify` returns numbers, which become the component "score"."""
    goal: ClassVar[Literal["satisfy", "minimize", "maximize"]] = "satisfy"
    """With "satisfy", an answer is right or wrong. "minimize", "maximize": a smaller or larger objective is better."""
    answer_formats: ClassVar[Sequence[str]] = ()
    """Answer formats that tasks may have, the default first, as in `gradus.enums.AnswerFormat`.

    Empty: all.
    """
    verbatim: ClassVar[bool] = False
    """Whether an answer, such as a program, is verified unchanged, with code fences and other wrapping."""
    runs_answers: ClassVar[bool] = False
    """Whether `verify` runs answers as code. Each answer is then verified in a process of its own, so that none can
    change the result of the next one."""
    generate_seconds: ClassVar[float] = 0
    """Maximum seconds to make an instance; 0: the server's limit."""
    verify_seconds: ClassVar[float] = 0
    """Maximum seconds to verify an answer; 0: the server's limit."""
    answer_bytes: ClassVar[int] = 0
    """Maximum size of an answer in bytes of UTF-8; 0: the server's limit."""
    calls_max: ClassVar[int] = 0
    """Maximum number of calls of an episode, 2 to 512. Needed with `advance`, and only there."""
    calls: ClassVar[int] = 0
    """Default maximum of calls of an episode; 0: `calls_max`."""
    tools: ClassVar[Sequence[Tool]] = ()
    """Tools that the policy may call. Empty: each call of an episode is a message with a marked answer."""
    needs_tools: ClassVar[bool] = False
    """Whether tasks cannot be solved without the tools. Every task then has all of them."""
    replay: ClassVar[bool] = False
    """Whether states may be any objects, which stay in the process. Task ids then contain only the calls so far, and a
    process without the state repeats `start` and `advance`."""
    deterministic: ClassVar[bool] = True
    """Whether `advance` returns the same for the same state and action. False: e.g. a simulated user replies."""
    state_bytes: ClassVar[int] = 0
    """Maximum size of a state in bytes, as JSON, at most 2,900, because task ids contain it; 0: 1,024."""
    action_bytes: ClassVar[int] = 0
    """Maximum size of an answer or of a tool's arguments, in bytes of UTF-8; 0: 256. A longer call is refused in a
    reply."""
    advance_seconds: ClassVar[float] = 0
    """Maximum seconds for one call; 0: `verify_seconds`, or the server's limit. With `replay` this includes calls that
    are repeated."""
    remarks: ClassVar[Sequence[str]] = ()
    """Remarks for the operator who mounts the environment."""

    def generate(self, *args: Any, **parameters: Any) -> Any:
        """`generate(self, rng, **parameters)`: returns an instance, of numbers, strings, lists, tuples and dicts.

        Use no random numbers but those of `rng`, a `random.Random`. `parameters` are those of the level. An exception
        is a failure of the environment. Raise `ExhaustedError` if a seed has no instance.
        """
        raise NotImplementedError(f"{type(self).__name__} has neither generate nor rows")

    def prompt(self, instance: Any) -> Prompt:
        """Returns the prompt, without instructions on how to mark the answer, which the server adds."""
        raise NotImplementedError(f"{type(self).__name__} has no prompt")

    def verify(self, instance: Any, answer: Any) -> bool | float | Facts:
        """Returns whether the answer is right, or its quality in [0, 1], or `Facts`. May be async.

        An exception is a failure of the environment: the answer gets no reward, rather than 0.
        """
        raise NotImplementedError(f"{type(self).__name__} has no verify")

    def start(self, instance: Any) -> Any:
        """Returns the state before the first call. May be async.

        A state is bytes, or consists of numbers, texts, lists, tuples, sets and dicts. With `replay` it may be any
        object.
        """
        return None

    def advance(self, instance: Any, state: Any, action: Action) -> Turn:
        """Carries out a call of an episode, and returns a `Turn`. Replaces `verify`, and may be async.

        Keep nothing in `self`: any process may get the next call. An exception is a failure of the environment, not a
        reward of 0. Reply to an invalid call with the reason.
        """
        raise NotImplementedError(f"{type(self).__name__} has no advance")

    def parse(self, answer: str) -> Any:
        """Converts the answer's text for `verify`. Raises ValueError with the reason if it cannot be read."""
        return answer

    def reference(self, instance: Any) -> str | None:
        """Returns a right answer, as a policy would write it; None: none is known. No policy ever sees it.

        If an answer hangs or crashes `verify`, and this reference does not, the answer is at fault, not the
        environment.
        """
        return None

    def canonical(self, instance: Any) -> str | None:
        """Returns a text that is equal for two instances if, and only if, they are the same task.

        None: instances are the same task if their values are equal.
        """
        return None

    def draw(self, instance: Any, answer: str | None) -> str | None:
        """Returns an SVG of the instance, with an answer if there is one; None: there is no picture."""
        return None

    def baseline(self, instance: Any) -> float | tuple[float, float] | None:
        """Returns the objective of the best known answer, or (objective, bound); no answer is better than the bound.

        None: no answer is known.
        """
        return None

    def metadata(self, instance: Any) -> Mapping[str, str]:
        """Returns facts for the trainer that do not reveal the answer."""
        return {}

    @classmethod
    def has(cls, name: str) -> bool:
        """Returns whether the class overrides the method of `Environment` with this name."""
        return getattr(cls, name) is not getattr(Environment, name)
