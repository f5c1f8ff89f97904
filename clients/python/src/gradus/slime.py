"""slime: a data source for `--data-source-path` and a reward for `--custom-rm-path`.

```sh
--data-source-path gradus.slime.RunDataSource
--prompt-data gradus://localhost:50051/my-run
--custom-rm-path gradus.slime.reward
--group-rm
--apply-chat-template
```

Tasks with turns also need `--custom-generate-function-path gradus.slime.generate`. docs/guides/trainers.md has the
rest.
"""

from __future__ import annotations

import asyncio
import functools
from pathlib import Path
from typing import Any

from slime.rollout.data_source import DataSource
from slime.utils.processing_utils import load_tokenizer
from slime.utils.types import Sample

from gradus.client import Client
from gradus.enums import FinishReason
from gradus.outcomes import Outcome
from gradus.rollouts import PolicyTurn
from gradus.runs import RunConfig
from gradus.tasks import Task
from gradus.training import (
    PATIENCE_SECONDS,
    Chat,
    Place,
    RunAddress,
    TaskReader,
    TaskReference,
    WrittenCompletion,
    check_batches,
    check_generations,
    check_length,
    check_prompts,
    check_scored_by_step,
    check_whole_groups,
    checkpoint_of,
    read_checkpoint,
    restore,
    reward_or,
    score_one,
    write_checkpoint,
)

__all__ = ["RunDataSource", "generate", "reward"]

_TASK = "gradus"
_INDEX = "gradus_sample_index"
"""Keys of a sample's metadata for the reference to its task and for its index in the group."""

_PLACE, _PLAYED = "gradus_place", "gradus_played"
"""Keys for the position of an unfinished episode, and for the outcome of a finished one."""

_OPEN = "gradus_open"
"""Key for the number of response tokens before the message that slime aborted."""

_REASONS: dict[str, FinishReason] = {"completed": "stop", "truncated": "length"}


class RunDataSource(DataSource):
    """The tasks of the run whose address is `--prompt-data`, see `gradus.training.RunAddress`.

    Unfinished groups that slime gives back (`--partial-rollout`) come first. A checkpoint contains the run's state.
    After `load`, the tasks of incomplete groups come again.

    Parameters
    ----------
    args
        Arguments of slime.

    Raises
    ------
    ValueError
        If they do not fit the run. The message names the argument and the remedy.

    """

    def __init__(self, args: Any) -> None:
        self.args = args
        self._address = RunAddress.of_run(args.prompt_data or "")
        self._run = self._address.client().run(self._address.run_id)
        self._config = self._run.get().config_now
        _check(self._config, args)
        self._reader = TaskReader(self._run, lambda now: _check(now, args))
        self._given_back: list[list[Sample]] = []
        self._tokenizer: Any = None

    def get_samples(self, num_samples: int) -> list[list[Sample]]:
        """Returns groups without completions, (num_samples,), each of --n-samples-per-prompt samples.

        Raises
        ------
        ValueError
            If the run has ended, because slime would ask again for ever.

        """
        groups = self._given_back[:num_samples]
        tasks = self._reader.take(num_samples - len(groups))
        if len(groups) + len(tasks) < num_samples:
            raise ValueError(
                f"run {self._run.run_id!r} has ended, at {self._run.cursor} prompts; slime asks for more. Lower "
                "--num-rollout, or give the run a greater length"
            )
        groups += [self._group(task) for task in tasks]
        # Drop these groups last. If a call fails before, the groups that slime gave back are still here.
        self._given_back = self._given_back[num_samples:]
        return groups

    def add_samples(self, samples: list[list[Sample]]) -> None:
        """Takes back groups that will be finished later."""
        self._given_back += samples

    def save(self, rollout_id: int) -> None:
        """Writes the run's current state to a file in slime's folder of checkpoints."""
        write_checkpoint(_path(self.args.save, rollout_id), checkpoint_of(self._run))

    def load(self, rollout_id: int | None = None) -> None:
        """Continues from a `save`. The run's state is restored too, if it has changed since."""
        if self.args.load is None or rollout_id is None:
            return
        path = _path(self.args.load, rollout_id)
        if path.exists():
            restore(self._run, read_checkpoint(path))
            self._reader.repeat_open_groups()

    def __len__(self) -> int:
        """Returns the number of the run's prompts; 0: the run has no end, and slime needs --num-rollout."""
        return self._config.length

    def _group(self, task: Task) -> list[Sample]:
        size = self._config.num_generations
        prompt = self._prompt(task)
        reference = TaskReference.of(task, self._address, size).to_row()

        def turns(place: int) -> dict[str, str]:
            return {_PLACE: Place(task, place, size, task.task_id).to_text()} if task.calls_max else {}

        return [
            Sample(
                group_index=task.cursor,
                index=task.cursor * size + place,
                prompt=prompt,
                metadata={_TASK: reference, _INDEX: place, "arm": task.arm_id, **turns(place)},
            )
            for place in range(size)
        ]

    def _prompt(self, task: Task) -> str:
        if self._tokenizer is None:
            self._tokenizer = load_tokenizer(self.args.hf_checkpoint, trust_remote_code=True)
        options = dict(self.args.apply_chat_template_kwargs or {})
        if task.tools:
            options["tools"] = [each.openai() for each in task.tools]
        text: str = self._tokenizer.apply_chat_template(
            task.prompt, tokenize=False, add_generation_prompt=True, **options
        )
        return text


async def generate(args: Any, sample: Sample, sampling_params: dict[str, Any]) -> Sample:
    """Plays the episode of a sample, for `--custom-generate-function-path`.

    The sample's metadata has the position, so that an episode that slime aborts can continue later. The server reads
    calls of tools from the text, in the format of Hermes.
    """
    # Import these here, because only slime's rollout workers have them.
    from slime.rollout.sglang_rollout import GenerateState  # noqa: PLC0415
    from slime.utils.http_utils import post  # noqa: PLC0415

    tokenizer = GenerateState(args).tokenizer
    client = _client(sample.metadata[_TASK]["address"])
    begun = Place.from_text(sample.metadata[_PLACE])
    chat = Chat(tokenizer, args.apply_chat_template_kwargs or {}, bool(begun.task.tools))
    place: Place | None = begun
    if not sample.tokens:
        sample.tokens = tokenizer.encode(sample.prompt, add_special_tokens=False)
        sample.loss_mask, sample.rollout_log_probs = [], []
    open_from = sample.metadata.pop(_OPEN, len(sample.loss_mask))
    while place is not None:
        left = args.rollout_max_response_len - len(sample.loss_mask)
        asked = {"input_ids": sample.tokens, "sampling_params": {**sampling_params, "max_new_tokens": left}}
        url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
        written = (await post(url, {**asked, "return_logprob": True}))["meta_info"]
        tokens = written.get("output_token_logprobs") or []
        _add(sample, [each[1] for each in tokens], 1, [each[0] for each in tokens])
        reason = written["finish_reason"]["type"]
        if reason == "abort":
            sample.metadata[_OPEN] = open_from
            sample.status = Sample.Status.ABORTED
            break
        ids = sample.tokens[len(sample.tokens) - len(sample.loss_mask) + open_from :]
        text = tokenizer.decode(ids, skip_special_tokens=True)
        cut: FinishReason = "length" if reason == "length" else "stop"
        turn = PolicyTurn(text, finish_reason=cut, text_tools="hermes", tokens=len(ids))
        place, outcome = await asyncio.to_thread(place.after, client, turn, PATIENCE_SECONDS)
        if outcome.turn is not None and place is not None:
            replies = chat.replies(outcome.turn.messages, bool(ids) and ids[-1] == tokenizer.eos_token_id)
            if len(sample.loss_mask) + len(replies) >= args.rollout_max_response_len:
                place, outcome = await asyncio.to_thread(place.after, client, PolicyTurn(end=True), PATIENCE_SECONDS)
            else:
                _add(sample, replies, 0, [0.0] * len(replies))
                sample.metadata[_PLACE], open_from = place.to_text(), len(sample.loss_mask)
        if place is None:
            sample.metadata[_PLAYED] = outcome
            sample.status = Sample.Status.TRUNCATED if outcome.truncated else Sample.Status.COMPLETED
    sample.response_length = len(sample.loss_mask)
    start = len(sample.tokens) - sample.response_length
    sample.response = tokenizer.decode(sample.tokens[start:], skip_special_tokens=False)
    return sample


def _add(sample: Sample, ids: list[int], mask: int, logprobs: list[float]) -> None:
    """Appends tokens to a sample's response. `mask`: 1 for tokens of the policy, 0 for those of replies."""
    sample.tokens += ids
    sample.loss_mask += [mask] * len(ids)
    sample.rollout_log_probs += logprobs


@functools.lru_cache(maxsize=16)
def _client(address: str) -> Client:
    """Returns the client of a server, which all samples of the process share."""
    return RunAddress.parse(address).client()


async def reward(args: Any, samples: Sample | list[Sample], **_: Any) -> float | list[float]:
    """Returns the rewards of a group (`--group-rm`), or of one sample, for `--custom-rm-path`.

    A sample that could not be scored is left out of the loss (`remove_sample`). In place of its reward, the function
    returns the mean of the group's other rewards, so that its advantage is 0 and the group's mean does not change.

    Raises
    ------
    UnscoredError
        If no sample of the group has a reward; without `--group-rm`, if the sample has none.

    """
    if not isinstance(samples, list):
        return reward_or(await _outcome(samples), None)
    outcomes = await asyncio.gather(*(_outcome(each) for each in samples))
    rewards = [each.reward for each in outcomes if each.reward is not None]
    if not rewards:
        reward_or(outcomes[0], None)
    # The mean is taken relative to the first reward, so that equal rewards have exactly that mean.
    mean = rewards[0] + sum(reward - rewards[0] for reward in rewards) / len(rewards)
    for sample, outcome in zip(samples, outcomes, strict=True):
        sample.remove_sample = sample.remove_sample or outcome.reward is None
    return [mean if each.reward is None else each.reward for each in outcomes]


async def _outcome(sample: Sample) -> Outcome:
    if isinstance(sample, list) or _TASK not in (sample.metadata or {}):
        raise ValueError(
            "gradus.slime.reward scores samples of gradus.slime.RunDataSource, one for each completion: set "
            "--data-source-path, and write one sample in a custom generate function"
        )
    played: Outcome | None = sample.metadata.get(_PLAYED)
    if played is not None:
        return played
    task = TaskReference.from_row(sample.metadata[_TASK])
    finish_reason = _REASONS.get(sample.status.value)
    written = WrittenCompletion(
        task, sample.response, sample.metadata[_INDEX], finish_reason, tokens=sample.response_length or None
    )
    return await score_one(written)


def _check(run: RunConfig, args: Any) -> None:
    check_scored_by_step(run)
    check_generations(run, args.n_samples_per_prompt, "--n-samples-per-prompt")
    if not args.apply_chat_template:
        raise ValueError("the run's prompts are chat messages: set --apply-chat-template")
    at_once = args.over_sampling_batch_size or args.rollout_batch_size
    option = "--over-sampling-batch-size" if args.over_sampling_batch_size else "--rollout-batch-size"
    check_batches(run, at_once, option)
    check_prompts(run, args.rollout_batch_size, "--rollout-batch-size")
    if args.num_rollout:
        check_length(run, args.num_rollout * args.rollout_batch_size, "--num-rollout times --rollout-batch-size")
    drops = args.dynamic_sampling_filter_path is not None or at_once > args.rollout_batch_size
    if drops and not args.partial_rollout:
        check_whole_groups(run, "slime drops what it samples beyond --rollout-batch-size without --partial-rollout")


def _path(folder: str, rollout_id: int) -> Path:
    return Path(folder) / "rollout" / f"gradus_run_{rollout_id}.json"
