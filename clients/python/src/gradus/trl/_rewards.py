"""The reward function: sends completions to Gradus, returns rewards, and logs figures."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from gradus.client import Client, Run
from gradus.enums import FinishReason
from gradus.outcomes import Outcome, Reward
from gradus.rollouts import PlayedEpisode
from gradus.tasks import Task, Tool
from gradus.training import read_round
from gradus.trl._contrast import PairQueue, PairRows, rows_of
from gradus.trl._episodes import Environments, Episode
from gradus.trl._feed import Feed
from gradus.trl._scorer import Scorer, groups_of

LogMetric = Callable[[str, float], None]


class Rewards:
    """Scores the completions of a trainer.

    Parameters
    ----------
    client, run
        Server of the tasks and the scores.
    feed
        Source of tasks, which fetches the next ones after each score.
    patience
        Maximum seconds to wait for a score.
    pairs
        Takes the contrast pairs of each generation batch; None: they are not used.

    Attributes
    ----------
    step
        Number of finished optimizer steps.

    """

    def __init__(self, client: Client, run: Run, feed: Feed, patience: float, pairs: PairQueue | None = None) -> None:
        self._run = run
        self._feed = feed
        self._scorer = Scorer(client, patience)
        self._pairs = pairs
        self._args: Any = None
        self._tokenizer: Any = None
        self._environments: Environments | None = None
        self._round: tuple[int, dict[str, list[Task]]] = (-1, {})
        self._waited = 0.0
        self.step = 0

    def connect(self, args: Any, tokenizer: Any) -> None:
        """Stores the trainer's settings and processing class. Raises ValueError for contrast pairs on several ranks."""
        if self._pairs is not None and args.world_size > 1:
            raise ValueError("contrast pairs need a single process: a rank does not see whole groups of the others")
        self._args = args
        self._tokenizer = tokenizer
        if self._environments is not None:
            self._environments.connect(args)

    @property
    def function(self) -> Callable[..., list[float | None]]:
        """Returns the function for `reward_funcs`; TRL's log shows its name."""

        def gradus(
            prompts: Sequence[Any],
            completions: Sequence[Any],
            completion_ids: Sequence[Sequence[int]],
            gradus_task: Sequence[str],
            trainer_state: Any,
            log_metric: LogMetric,
            environments: Sequence[Any] | None = None,
            gradus_played: Sequence[PlayedEpisode] | None = None,
            **_: Any,
        ) -> list[float | None]:
            if gradus_played is not None:
                return self.returns(gradus_task, [each.outcome for each in gradus_played], log_metric)
            if environments and isinstance(environments[0], Episode):
                assert self._environments is not None
                reasons = self._finish_reasons(completion_ids)
                outcomes = self._environments.finish(environments, completions, reasons)
                return self.returns(gradus_task, outcomes, log_metric)
            if environments is not None:
                texts = [each.response or "" for each in environments]
            else:
                texts = texts_of(completions, completion_ids, self._tokenizer)
            rewards = self.score(gradus_task, texts, completion_ids, trainer_state.global_step, log_metric)
            if self._pairs is not None and Task.from_json(gradus_task[0]).evaluation_round is None:
                self._pairs.put(self._pair_rows(gradus_task, prompts, completion_ids))
            return rewards

        return gradus

    def score(
        self,
        rows: Sequence[str],
        texts: Sequence[str],
        completion_ids: Sequence[Sequence[int]],
        step: int,
        log_metric: LogMetric,
    ) -> list[float | None]:
        """Returns rewards of a rank's samples, (n,); None: there is no reward.

        Parameters
        ----------
        rows
            The task of each sample, as JSON, (n,).
        texts, completion_ids
            Completions as text and as tokens, (n,).
        step
            The optimizer step.
        log_metric
            TRL's function to log a figure.

        """
        if self._args is None:
            raise ValueError("the trainer has no callbacks=spec.callbacks, which check its settings")
        began = time.perf_counter()
        known = {row: Task.from_json(row) for row in set(rows)}
        tasks = [self.in_round(known[row], step) for row in rows]
        if any(each.calls_max for each in tasks):
            raise ValueError(
                "the run's tasks have turns, and the trainer writes one completion of each: give GRPOTrainer "
                "rollout_func=spec.rollout_func, or environment_factory=spec.environment_factory"
            )
        training = tasks[0].evaluation_round is None
        size = self._args.num_generations if training else self._args.num_generations_eval or self._args.num_generations
        groups = groups_of(
            tasks,
            texts,
            self._finish_reasons(completion_ids),
            rank=self._args.process_index,
            num_generations=size,
            policy_version=step,
            tokens=[*map(len, completion_ids)],
        )
        rewards = self._scorer.score(groups)
        self._log(tasks, rewards, time.perf_counter() - began, log_metric)
        if training:
            # Fetch the next tasks only now, because the feed's thread would slow this thread down.
            self._feed.ask()
        return [each.reward for each in rewards]

    def returns(self, rows: Sequence[str], outcomes: Sequence[Outcome], log_metric: LogMetric) -> list[float | None]:
        """Returns the reward of each whole episode, (n,), after its end; None: it has no reward.

        Logs figures like `score`.
        """
        tasks = [Task.from_json(row) for row in rows]
        self._give_up(tasks, outcomes)
        self._log(tasks, outcomes, 0.0, log_metric)
        for task, each in zip(tasks, outcomes, strict=True):
            if each.calls:
                log_metric(f"gradus/{task.arm_id}/calls", each.calls)
        if tasks[0].evaluation_round is None:
            self._feed.ask()
        return [each.reward for each in outcomes]

    def _give_up(self, tasks: Sequence[Task], outcomes: Sequence[Outcome]) -> None:
        """Closes groups of samples that got no score in time, because the run would wait for them."""
        lost = {
            task.group_id
            for task, each in zip(tasks, outcomes, strict=True)
            if each.no_reward is not None and each.no_reward.retry_delay is not None
            # Leave out groups of evaluation arms, for which nobody waits.
            if task.evaluation_round is None
        }
        if lost:
            self._run.close_groups(sorted(lost), "the trainer got no score in time")

    def environments(self, client: Client, tools: Sequence[Tool], patience: float) -> Environments:
        """Returns a factory of TRL environments with these tools. The reward function ends their episodes."""
        self._environments = Environments(client, tools, patience, self)
        return self._environments

    def _pair_rows(
        self, rows: Sequence[str], prompts: Sequence[Any], completion_ids: Sequence[Sequence[int]]
    ) -> list[PairRows]:
        """Returns the pairs of the last scored groups as tokens, in the groups' order."""
        size, found = self._args.num_generations, []
        for first in range(0, len(rows), size):
            pairs = self._scorer.pairs.get(Task.from_json(rows[first]).group_id, ())
            if pairs:
                completions = {i: completion_ids[first + i] for i in range(size)}
                found += rows_of(pairs, self._prompt_ids(prompts[first]), completions, self._tokenizer)
        return found

    def _prompt_ids(self, prompt: Any) -> Sequence[int]:
        """Returns the tokens that a trainer without tools makes of a prompt."""
        if isinstance(prompt, str):
            return self._tokenizer(prompt)["input_ids"]  # type: ignore[no-any-return]
        options = self._args.chat_template_kwargs or {}
        made = self._tokenizer.apply_chat_template(prompt, add_generation_prompt=True, return_dict=True, **options)
        return made["input_ids"]  # type: ignore[no-any-return]

    def in_round(self, task: Task, step: int) -> Task:
        """Returns the task, or for a task of an evaluation arm the same task of this step's round."""
        if task.evaluation_round is None:
            return task
        if self._round[0] != step:
            self._round = (step, {})
        arms = self._round[1]
        if task.arm_id not in arms:
            arms[task.arm_id] = read_round(self._run, task.arm_id, step)
        return arms[task.arm_id][task.cursor]

    def _finish_reasons(self, completion_ids: Sequence[Sequence[int]]) -> list[FinishReason]:
        """Returns why each generation ended: "length" if it has the maximum length and no end token, else "stop"."""
        # Look these up once, because attributes of a tokenizer are slow.
        longest, end = self._args.max_completion_length, self._tokenizer.eos_token_id
        return ["stop" if len(ids) < longest or ids[-1] == end else "length" for ids in completion_ids]

    def _log(
        self, tasks: Sequence[Task], rewards: Sequence[Reward | Outcome], seconds: float, log_metric: LogMetric
    ) -> None:
        waited, self._waited = self._feed.waited - self._waited, self._feed.waited
        log_metric("gradus/wait_tasks_ms", 1000 * waited)
        log_metric("gradus/wait_scores_ms", 1000 * seconds)
        log_metric("gradus/wait_ms", 1000 * (waited + seconds))
        if tasks[0].evaluation_round is None:
            for arm in self._feed.arms:
                log_metric(f"gradus/{arm.arm_id}/probability", arm.probability)
        for task, each in zip(tasks, rewards, strict=True):
            if each.reward is not None:
                log_metric(f"gradus/{task.arm_id}/reward", each.reward)
                log_metric(f"gradus/{task.arm_id}/solved", float(each.solved or False))


def texts_of(completions: Sequence[Any], completion_ids: Sequence[Sequence[int]], tokenizer: Any) -> list[str]:
    """Returns the text of each completion, (n,).

    TRL gives chat messages. A tokenizer that parses responses (e.g. Qwen3's and gpt-oss') moves thoughts and tool calls
    from `content` to other fields. Such a completion is decoded again from its tokens.

    Parameters
    ----------
    completions
        (n,): strings, or lists of messages.
    completion_ids
        (n,): the tokens of each.
    tokenizer
        The trainer's processing class.

    """
    texts = [_plain(each) for each in completions]
    moved = [i for i, text in enumerate(texts) if text is None]
    if moved:
        decoded = tokenizer.batch_decode([completion_ids[i] for i in moved], skip_special_tokens=True)
        for i, text in zip(moved, decoded, strict=True):
            texts[i] = text
    return [text or "" for text in texts]


def _plain(completion: Any) -> str | None:
    """Returns a completion's text; None: a part of it is in other fields."""
    if isinstance(completion, str):
        return completion
    if len(completion) != 1 or not completion[0].keys() <= {"role", "content"}:
        return None
    content = completion[0].get("content")
    return content if isinstance(content, str) else None
