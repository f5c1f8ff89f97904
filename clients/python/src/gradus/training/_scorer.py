"""Scores completions for trainers that ask for one at a time. Concurrent requests share a message."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace

from gradus._feedback import FeedbackLog, OnFeedback
from gradus._op import arun_each
from gradus.outcomes import Outcome
from gradus.training._indices import SampleIndices
from gradus.training._references import PATIENCE_SECONDS, RunAddress
from gradus.training._scoring import WrittenCompletion, score


@dataclass(frozen=True)
class _Asked:
    written: WrittenCompletion
    result: asyncio.Future[Outcome]


@dataclass
class _Waiting:
    """Completions that wait to be sent together."""

    asked: list[_Asked] = field(default_factory=list)
    characters: int = 0
    timer: asyncio.TimerHandle | None = None


class Scorer:
    """Scores completions on one event loop, many in a message.

    Parameters
    ----------
    address
        The server.
    window
        Seconds that a completion waits for others to share its message.
    samples_max, characters_max
        Numbers of completions and of characters of text at which a message is sent at once.
    messages_max
        Maximum number of messages without a response at a time.
    held_max
        Maximum number of completions that wait or are sent at a time. With more, `score` waits.
    patience
        Maximum seconds for which a completion is sent again while the server asks for it.
    on_feedback
        How to report scores that their run did not record; see `Client`.

    Attributes
    ----------
    held
        Number of completions that wait or are sent now.
    messages_sent
        Number of messages sent so far.

    """

    def __init__(
        self,
        address: RunAddress,
        *,
        window: float = 0.01,
        samples_max: int = 256,
        characters_max: int = 1_000_000,
        messages_max: int = 8,
        held_max: int = 8192,
        patience: float = PATIENCE_SECONDS,
        on_feedback: OnFeedback = "warn",
    ) -> None:
        # The client must not warn of unrecorded scores: a completion may be sent at two indices, and only its last
        # outcome counts.
        self._client = address.aio_client("ignore", patience)
        self._feedback = FeedbackLog(on_feedback)
        self._window = window
        self._samples_max = samples_max
        self._characters_max = characters_max
        self._patience = patience
        self._places = SampleIndices()
        self._waiting = _Waiting()
        self._messages = asyncio.Semaphore(messages_max)
        self._room = asyncio.Semaphore(held_max)
        self._sending: set[asyncio.Task[None]] = set()
        self.messages_sent = 0
        self.held = 0

    async def score(self, written: WrittenCompletion) -> Outcome:
        """Returns the outcome of one completion.

        Raises
        ------
        GradusError
            If the server cannot be reached, or refuses the completion. There is no outcome then.
        FeedbackError
            If its run did not record the score and `on_feedback` is "raise".

        """
        async with self._room:
            self.held += 1
            try:
                asked = _Asked(written, asyncio.get_running_loop().create_future())
                self._add(asked)
                outcome = await asked.result
            finally:
                self.held -= 1
        error = self._feedback.note(written.task.run_id, [outcome])
        if error is not None:
            raise error
        return outcome

    def _add(self, asked: _Asked) -> None:
        waiting = self._waiting
        waiting.asked.append(asked)
        waiting.characters += len(asked.written.text)
        if len(waiting.asked) >= self._samples_max or waiting.characters >= self._characters_max:
            self._send()
        elif waiting.timer is None:
            waiting.timer = asyncio.get_running_loop().call_later(self._window, self._send)

    def _send(self) -> None:
        waiting, self._waiting = self._waiting, _Waiting()
        if waiting.timer is not None:
            waiting.timer.cancel()
        task = asyncio.get_running_loop().create_task(self._carry(waiting.asked))
        # Keep a reference to the task, because an event loop has only weak ones.
        self._sending.add(task)
        task.add_done_callback(self._sending.discard)

    async def _carry(self, asked: list[_Asked]) -> None:
        async with self._messages:
            # Do not send completions whose callers were cancelled in the meantime.
            wanted = [each for each in asked if not each.result.done()]
            self.messages_sent += bool(wanted)
            try:
                texts = [each.written for each in wanted]
                async for position, outcome in arun_each(
                    score(self._client._core, self._places, texts, self._patience)
                ):
                    _resolve(wanted[position], outcome)
            except Exception as error:  # Give any error to the callers that wait.
                for each in wanted:
                    if not each.result.done():
                        each.result.set_exception(error)


def _resolve(asked: _Asked, outcome: Outcome) -> None:
    if not asked.result.done():
        asked.result.set_result(outcome)


_Scorers = dict[RunAddress, Scorer]

_scorers: dict[asyncio.AbstractEventLoop, _Scorers] = {}
"""Scorers by event loop.

Scorers of closed loops are removed explicitly. Weak references to loops would keep them, because a scorer's connection
refers to its loop.
"""


async def score_one(written: WrittenCompletion) -> Outcome:
    """Scores a completion with the running loop's scorer for its server.

    For functions that trainers call, because these cannot keep a scorer.
    """
    server = replace(RunAddress.parse(written.task.address), run_id="", evaluation_arm="")
    loop = asyncio.get_running_loop()
    if loop not in _scorers:
        for closed in [each for each in list(_scorers) if each.is_closed()]:
            _scorers.pop(closed, None)
    scorers = _scorers.setdefault(loop, {})
    if server not in scorers:
        scorers[server] = Scorer(server)
    return await scorers[server].score(written)
