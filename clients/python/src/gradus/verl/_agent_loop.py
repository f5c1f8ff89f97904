"""An agent loop for verl that plays tasks with turns."""

from __future__ import annotations

import functools
from typing import Any
from uuid import uuid4

from verl.experimental.agent_loop.agent_loop import AgentLoopBase, AgentLoopMetrics, AgentLoopOutput
from verl.experimental.agent_loop.tool_parser import ToolParser
from verl.tools.schemas import OpenAIFunctionToolSchema

from gradus import aio
from gradus._op import arun
from gradus.rollouts import EpisodePosition, PolicyTurn
from gradus.tasks import Task, ToolCall
from gradus.training import RunAddress, TaskReference, reward_or
from gradus.verl._reward import ROW, TASK


class AgentLoop(AgentLoopBase):
    """Plays one episode of a row of `gradus.verl.RunDataset`: an agent loop for `agent_loop_config_path`.

    verl does not tell a loop which sample of its prompt it plays. So each episode has a random key, and the server
    gives it an index. `unscored`: reward of an episode that could not be scored; None: an error.

    Raises
    ------
    ValueError
        If replies would be rendered with control tokens that the policy wrote.

    """

    def __init__(self, *arguments: Any, unscored: float | None = None, **options: Any) -> None:
        super().__init__(*arguments, **options)
        if not self.apply_chat_template_kwargs.get("sanitize_control_tokens"):
            raise ValueError(
                "data.apply_chat_template_kwargs lacks sanitize_control_tokens: a reply could hold control tokens that "
                "the policy wrote. Set data.apply_chat_template_kwargs.sanitize_control_tokens=True"
            )
        self._unscored = unscored

    async def run(self, sampling_params: dict[str, Any], **row: Any) -> AgentLoopOutput:
        """Plays the episode of a row, and returns its tokens, their mask and the reward of the whole episode."""
        told = row["extra_info"]
        if TASK not in told:
            raise ValueError("the row has no task, so gradus.verl.RunDataset did not make it: set data.custom_cls")
        task, reference = Task.from_json(told[TASK]), TaskReference.from_row(told[ROW])
        episode = _Episode(self, sampling_params)
        start = EpisodePosition(task, 0, list(row["raw_prompt"]), task.calls_max, uuid4().hex)
        core = _client(reference.address)._core
        (played,) = await arun(core.play([start], episode.generate, reference.num_generations, {}))
        outcome = played.outcome
        solved = float("nan") if outcome.solved is None else float(outcome.solved)
        output = episode.output(reward_or(outcome, self._unscored), len(played.messages))
        output.extra_fields.update(turn_scores=[], tool_rewards=[], reward_extra_info={"acc": solved})
        return output


class _Episode:
    """Tokens of an episode: those of replies, which verl encodes, and those that the policy wrote, unchanged."""

    def __init__(self, loop: AgentLoop, sampling: dict[str, Any]) -> None:
        self._loop = loop
        self._sampling = sampling
        self._request_id = uuid4().hex
        settings = loop.rollout_config
        self._length_max: int = settings.response_length
        self._parser = ToolParser.get_tool_parser(settings.multi_turn.format, loop.tokenizer)
        self._ids: list[int] = []
        self._mask: list[int] = []
        self._logprobs: list[float] | None = None
        self._seen: list[Any] = []
        self._more: dict[str, Any] = {}

    async def generate(self, positions: list[EpisodePosition]) -> list[PolicyTurn]:
        """Returns the next completion. An episode without room for more tokens ends."""
        (position,) = positions
        if not await self._extend(position):
            return [PolicyTurn(end=True)]
        loop, before = self._loop, len(self._mask)
        written = await loop.server_manager.generate(
            request_id=self._request_id, prompt_ids=self._ids, sampling_params=self._sampling
        )
        self._more.update(written.extra_fields)
        known = written.log_probs or None
        if known is not None and self._logprobs is None:
            self._logprobs = [0.0] * before
        merged, self._mask, self._logprobs = await loop.ct_merge_assistant_token(
            self._ids, written.token_ids, self._mask, self._logprobs, assistant_logprobs=known
        )
        self._ids = merged.token_ids
        return [await self._turn(position, written.token_ids[: self._length_max - before], len(written.token_ids))]

    def output(self, reward: float, messages: int) -> AgentLoopOutput:
        """Returns the whole episode for verl."""
        size, longest = len(self._mask), self._length_max
        return AgentLoopOutput(
            prompt_ids=self._ids[: len(self._ids) - size],
            response_ids=self._ids[len(self._ids) - size :][:longest],
            response_mask=self._mask[:longest],
            response_logprobs=None if self._logprobs is None else self._logprobs[:longest],
            reward_score=reward,
            num_turns=messages,
            metrics=AgentLoopMetrics(),
            extra_fields=dict(self._more),
        )

    async def _extend(self, position: EpisodePosition) -> bool:
        """Adds the tokens of the prompt or of new replies. Returns whether there is room for tokens of the policy."""
        tools = position.tools or None
        if not self._ids:
            self._ids = await self._loop.ct_build_initial_tokens(position.messages, tools=tools)
        else:
            merged, mask, logprobs = await self._loop.ct_merge_context_msg(
                self._seen, position.messages, self._ids, self._mask, self._logprobs, tools=tools
            )
            if len(mask) >= self._length_max:
                return False
            self._ids, self._mask, self._logprobs = merged.token_ids, mask, logprobs
        self._seen = list(position.messages)
        return True

    async def _turn(self, position: EpisodePosition, ids: list[int], written: int) -> PolicyTurn:
        tokenizer = self._loop.tokenizer
        full = len(self._mask) >= self._length_max
        cut = len(ids) < written or (full and ids[-1] not in tokenizer.all_special_ids)
        text = tokenizer.decode(ids, skip_special_tokens=True)
        calls: list[ToolCall] = []
        if position.tools:
            schemas = [OpenAIFunctionToolSchema.model_validate(each) for each in position.tools]
            _, found = await self._parser.extract_tool_calls(ids, schemas)
            calls = [
                ToolCall(each.tool_call_id or f"call{number:05}", each.name, each.arguments)
                for number, each in enumerate(found)
            ]
        turn = PolicyTurn(text, tuple(calls), finish_reason="length" if cut else "stop", tokens=len(ids))
        # Keep the policy's message, because replies are encoded as they follow that message.
        self._seen.append(turn.to_message())
        return turn


@functools.lru_cache(maxsize=16)
def _client(address: str) -> aio.Client:
    """Returns the client of a server, which opens one connection for each event loop."""
    return RunAddress.parse(address).aio_client()
