"""The class that an environment is written as."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from gradus.serve._facts import Facts

Prompt = str | Sequence[Mapping[str, str]]
"""What is asked: a text, or chat messages with "role" and "content"."""
RowSource = Any
"""Rows as people have them: a list, an iterable, a `datasets.Dataset`, or the path of a file (see `rows`)."""


@dataclass(frozen=True)
class Level:
    """A level, where a name and parameters do not say enough."""

    parameters: Mapping[str, Any] = field(default_factory=dict)
    """What `generate` is given beside its random numbers."""
    description: str = ""
    evaluation_only: bool = False
    """Refused for training."""


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

    Everything is asked in processes that see no network and read nothing but the file's own folder and Python's
    packages. `generate` must give the same for the same random numbers, in every process and in every order; `verify`
    the same for the same instance and answer. `gradus env check` finds out whether they do.
    """

    id: ClassVar[str] = ""
    """Lower-case words of a-z, 0-9 and "-", with "/" between them, e.g. "mine/anagram"."""
    version: ClassVar[int] = 1
    """A changed environment is a new version: tasks of another one are not scored."""
    description: ClassVar[str] = ""
    """One paragraph on what is asked; the docstring's first one unless it is given."""
    levels: ClassVar[Mapping[str, Mapping[str, Any] | Level]] = {"default": {}}
    """Levels by name, easiest first, each with what `generate` is given."""
    rows: ClassVar[RowSource | Mapping[str, RowSource]] = None
    """Rows instead of `generate`: each is an instance. An iterable of dicts, a `datasets.Dataset`, or the path of a
    file of JSON lines or Parquet, relative to the environment's own; by level, where it is a dict of such."""
    components: ClassVar[Mapping[str, float] | Iterable[str]] = ()
    """Names of the components that graded answers have, with their weights in [0, 1]; the first says whether an answer
    is right. Not needed where `verify` gives numbers: those are the component "score"."""
    goal: ClassVar[Literal["satisfy", "minimize", "maximize"]] = "satisfy"
    """What the objective of a feasible answer asks for."""
    answer_formats: ClassVar[Sequence[str]] = ()
    """Answer formats that it takes, the default first, as in `gradus.enums.AnswerFormat`; empty: all."""
    verbatim: ClassVar[bool] = False
    """Whether an answer counts as it stands, such as a program: code fences and the like are left around it."""
    runs_answers: ClassVar[bool] = False
    """Whether `verify` runs answers as code. Each answer is then verified in a process that is ended after it, so that
    no answer changes what the next one is worth."""
    generate_seconds: ClassVar[float] = 0
    """Longest that making an instance may take; 0: the server's limit."""
    verify_seconds: ClassVar[float] = 0
    """The same for verifying an answer."""
    answer_bytes: ClassVar[int] = 0
    """Bytes of UTF-8 that an answer may have; 0: the server's limit."""
    remarks: ClassVar[Sequence[str]] = ()
    """What who mounts it is to know."""

    def generate(self, *args: Any, **parameters: Any) -> Any:
        """`generate(self, rng, **parameters)`: an instance, of numbers, strings, lists, tuples and dicts.

        All chance comes from `rng`, a `random.Random`; `parameters` are the level's.

        What it raises is a failure of the environment's; `ExhaustedError` says that there is no instance for a seed.
        """
        raise NotImplementedError(f"{type(self).__name__} has neither generate nor rows")

    def prompt(self, instance: Any) -> Prompt:
        """What is asked, without how the answer is to be marked: the server adds that."""
        raise NotImplementedError(f"{type(self).__name__} has no prompt")

    def verify(self, instance: Any, answer: Any) -> bool | float | Facts:
        """What the answer is worth: whether it is right, or how good it is in [0, 1], or `Facts`. It may be async.

        What it raises is no reward of 0, but a failure of the environment's.
        """
        raise NotImplementedError(f"{type(self).__name__} has no verify")

    def parse(self, answer: str) -> Any:
        """What `verify` is given of the answer's text. ValueError: it cannot be read, and says why."""
        return answer

    def reference(self, instance: Any) -> str | None:
        """A right answer, as a policy would write it; None: none is known. It is never shown to a policy.

        Where an answer hangs or crashes `verify` and this one does not, the fault is the answer's.
        """
        return None

    def canonical(self, instance: Any) -> str | None:
        """The same text for two instances exactly if they are the same task; None: their values decide."""
        return None

    def draw(self, instance: Any, answer: str | None) -> str | None:
        """A picture of the instance, with an answer if there is one: an SVG document."""
        return None

    def baseline(self, instance: Any) -> float | tuple[float, float] | None:
        """Objective of the best answer known, or that and a bound that no answer passes; None: none is known."""
        return None

    def metadata(self, instance: Any) -> Mapping[str, str]:
        """Facts for the trainer that give no answer away."""
        return {}

    @classmethod
    def has(cls, name: str) -> bool:
        """Whether it has something of its own where the base class has only a default."""
        return getattr(cls, name) is not getattr(Environment, name)
