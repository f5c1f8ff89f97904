"""The function for TRL's `rollout_func`: plays the episodes of a batch, and keeps tokens and masks of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from gradus._op import run
from gradus._retries import AS_LONG_AS_THERE_IS_TIME
from gradus.client import Client
from gradus.enums import TextTools
from gradus.rollouts import EpisodePosition, PolicyTurn
from gradus.tasks import Task
from gradus.training import Chat, index_in_group
from gradus.trl import _inside
from gradus.trl._rewards import Rewards

TASK_KEY = "gradus_task"
"""Key of the task (JSON) in a prompt's last message: `rollout_func` gets only prompts, and templates ignore the key."""


@dataclass
class Tokens:
    """Tokens of an episode.

    Attributes
    ----------
    prompt
        Tokens of the prompt.
    completion
        Tokens of all messages after the prompt.
    mask
        1 for each token of the completion that the policy wrote, 0 for tokens of replies.
    logprobs
        Log-probability of each token of the completion; 0 for those of replies. None: not known.
    messages
        Number of messages of the conversation whose tokens are included.

    """

    prompt: list[int] = field(default_factory=list)
    completion: list[int] = field(default_factory=list)
    mask: list[int] = field(default_factory=list)
    logprobs: list[float] | None = field(default_factory=list)
    messages: int = 0

    def add(self, ids: Sequence[int], mask: int, logprobs: Sequence[float] | None) -> None:
        """Appends tokens to the completion. `mask`: 1 for tokens of the policy, 0 for those of replies."""
        self.completion += ids
        self.mask += [mask] * len(ids)
        if self.logprobs is not None:
            self.logprobs = None if logprobs is None else [*self.logprobs, *logprobs]


@dataclass(frozen=True)
class _Position(EpisodePosition):
    """Position of an episode, with the tokens of the episode so far."""

    tokens: Tokens = field(default_factory=Tokens)


class Rollouts:
    """Plays the episodes of a trainer's batches.

    Parameters
    ----------
    client
        Server of the tasks.
    rewards
        The reward function, which finds the task of an optimizer step's evaluation round.
    patience
        Maximum seconds to wait for an unreachable server, and to send a completion again if the server asks for that.
    text_tools
        Format of tool calls that the server reads from the text; None: TRL parses them.

    """

    def __init__(self, client: Client, rewards: Rewards, patience: float, text_tools: TextTools | None) -> None:
        self._client = client
        self._rewards = rewards
        self._patience = patience
        self._text_tools = text_tools

    def function(self, prompts: Sequence[Sequence[Mapping[str, Any]]], trainer: Any) -> dict[str, Any]:
        """Plays an episode of each prompt; for `rollout_func`.

        Returns
        -------
        dict
            For each episode, (n,): `prompt_ids`, `completion_ids`, `env_mask`, `logprobs` (None: not known), and
            `gradus_played` (`PlayedEpisode`), which TRL gives to reward functions.

        """
        starts = self._starts(prompts, trainer)
        batch = _Batch(trainer, starts, self._text_tools)
        options = {"timeout": self._patience, "retries": AS_LONG_AS_THERE_IS_TIME}
        size = _group_size(trainer)
        played = run(self._client._core.play(starts, batch.generate, size, options))  # type: ignore[arg-type]
        batch.wait_for_ranks()
        tokens = [each.tokens for each in starts]
        known = all(each.logprobs is not None for each in tokens)
        return {
            "prompt_ids": [each.prompt for each in tokens],
            "completion_ids": [each.completion for each in tokens],
            "env_mask": [each.mask for each in tokens],
            "logprobs": [each.logprobs for each in tokens] if known else None,
            "gradus_played": played,
        }

    def _starts(self, prompts: Sequence[Sequence[Mapping[str, Any]]], trainer: Any) -> list[_Position]:
        rank, size, starts = trainer.accelerator.process_index, _group_size(trainer), []
        for place, prompt in enumerate(prompts):
            text = prompt[-1].get(TASK_KEY)
            if text is None:
                raise ValueError(
                    f"the last message of a prompt has no {TASK_KEY!r}: rollout_func plays prompts of the spec's own "
                    "train_dataset and eval_dataset, for runs whose tasks have turns"
                )
            task = self._rewards.in_round(Task.from_json(text), trainer.state.global_step)
            index = index_in_group(place, rank, len(prompts), size)
            starts.append(_Position(task, index, [_plain(each) for each in prompt], task.calls_max))
        return starts


class _Batch:
    """Generates the completions of a batch's episodes, turn by turn."""

    def __init__(self, trainer: Any, starts: Sequence[_Position], text_tools: TextTools | None) -> None:
        self._trainer = trainer
        self._text_tools = text_tools
        tools = any(each.task.tools for each in starts)
        tokenizer = getattr(trainer.processing_class, "tokenizer", trainer.processing_class)
        self._chat = Chat(tokenizer, trainer.args.chat_template_kwargs or {}, tools, _inside.training_template)
        self._tokenizer = _inside.with_parser(tokenizer) if tools and text_tools is None else tokenizer
        self._ends = _inside.end_tokens(trainer)
        self._completion_max: int = trainer.args.max_completion_length
        self._context_max = _inside.context_length(trainer)
        self._spare: list[int] = []

    def generate(self, positions: list[_Position]) -> list[PolicyTurn]:
        """Returns the next completions of the episodes that go on. An episode without room for more tokens ends."""
        has_room = [self._extend(each) for each in positions]
        going = [each for each, has in zip(positions, has_room, strict=True) if has]
        prompts = [each.tokens.prompt + each.tokens.completion for each in going]
        self._spare = prompts[0] if prompts else self._spare
        ids, logprobs = self._written(prompts) if prompts else ([], None)
        turns = (
            self._turn(each, prompts[place], ids[place], None if logprobs is None else logprobs[place])
            for place, each in enumerate(going)
        )
        return [next(turns) if has else PolicyTurn(end=True) for has in has_room]

    def wait_for_ranks(self) -> None:
        """Takes part in generation until all ranks are done, because collective operations need every rank."""
        if self._trainer.accelerator.num_processes > 1:
            while self._count(0):
                _inside.generate(self._trainer, [self._spare])

    def _written(self, prompts: list[list[int]]) -> tuple[list[list[int]], list[list[float]] | None]:
        if self._trainer.accelerator.num_processes > 1:
            self._count(1)
        return _inside.generate(self._trainer, prompts)

    def _count(self, mine: int) -> int:
        """Returns the number of ranks that still have episodes to generate."""
        accelerator = self._trainer.accelerator
        return int(accelerator.gather(torch.tensor([mine], device=accelerator.device)).sum())

    def _extend(self, position: _Position) -> bool:
        """Adds the tokens of the prompt or of new replies. Returns whether there is room for tokens of the policy."""
        tokens = position.tokens
        if not tokens.messages:
            tokens.prompt = self._chat.prompt(position.messages, position.tools)
        else:
            ended = tokens.completion[-1] in self._ends
            replies = self._chat.replies(position.messages[tokens.messages :], ended)
            if len(tokens.completion) + len(replies) >= self._room(tokens):
                return False
            tokens.add(replies, 0, [0.0] * len(replies))
        # Count the policy's next message too: its tokens are added when it is generated.
        tokens.messages = len(position.messages) + 1
        return True

    def _room(self, tokens: Tokens) -> int:
        """Returns the maximum number of tokens of the episode after its prompt."""
        return max(1, min(self._completion_max, self._context_max - len(tokens.prompt)))

    def _turn(self, position: _Position, prompt: list[int], ids: list[int], logprobs: list[float] | None) -> PolicyTurn:
        tokens = position.tokens
        room = self._room(tokens) - len(tokens.completion)
        kept = ids[:room]
        cut = len(kept) < len(ids) or (len(ids) >= min(room, self._completion_max) and kept[-1] not in self._ends)
        tokens.add(kept, 1, None if logprobs is None else logprobs[:room])
        text = self._tokenizer.decode(kept, skip_special_tokens=True)
        message: Any = {"role": "assistant", "content": text}
        if position.task.tools and self._text_tools is None:
            message = _inside.parse(self._tokenizer, kept, prompt, position.tools)
            for number, call in enumerate(message.get("tool_calls") or ()):
                # Some templates require ids of nine letters and digits.
                call.setdefault("id", f"call{number:05}")
        return PolicyTurn(
            text,
            PolicyTurn.of_message(message).tool_calls,
            finish_reason="length" if cut else "stop",
            text_tools=self._text_tools,
            policy_version=self._trainer.state.global_step,
            message=message,
            tokens=len(kept),
        )


def _plain(message: Mapping[str, Any]) -> Any:
    """Returns a message without the task, and without the fields that the data set fills with None."""
    return {name: value for name, value in message.items() if name != TASK_KEY and value is not None}


def _group_size(trainer: Any) -> int:
    size: int = trainer.num_generations if trainer.model.training else trainer.num_generations_eval
    return size
