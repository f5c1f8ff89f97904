"""The object that connects a run of Gradus with a trainer of TRL."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

from gradus.client import Client
from gradus.enums import TextTools
from gradus.runs import RunConfig
from gradus.trl import _callback, _checks, _datasets, _inside
from gradus.trl._contrast import Contrast, PairQueue, with_contrast
from gradus.trl._environment import AnswerEnvironment
from gradus.trl._rollout import Rollouts
from gradus.trl._settings import trainer_settings, words_of
from gradus.trl._training import Training

_LOG = logging.getLogger("gradus")


class GradusSpec:
    """A run of Gradus for `GRPOTrainer` and `RLOOTrainer`: tasks, rewards, callbacks and settings.

    Each of its properties is for the trainer's argument of the same name; `callbacks` is required. Every rank makes a
    spec, with the same arguments.

    Parameters
    ----------
    server
        The server's gRPC address, e.g. "localhost:50051", or a client of it (for a token, or TLS).
    run_id
        Id of the run. If `run` is given and the run does not exist, it is created.
    run
        Configuration of the run: a `RunConfig`, or a mapping with the arguments of `Run.create`; None: the run exists.
    prefetch
        Whether the next tasks are fetched while the trainer makes its update.
    reproducible
        Whether each optimizer step seeds Python's, NumPy's and torch's generators by the trainer's seed, the step and
        the rank. A resumed trainer then samples what it would have sampled without the interruption.
    restart
        What to do with a run that already has samples when a training begins without a checkpoint. True: delete it and
        create it again. False: raise a ValueError.
    patience
        Maximum seconds to wait for tasks and scores, e.g. while the server restarts.
    contrast
        Loss of contrast pairs to add to the trainer's own, for runs with the reward scheme `vcc`; make the trainer by
        `trainer` then. None: no such loss.
    text_tools
        Format of tool calls that the server reads from completions ("hermes"), for `rollout_func` with a tokenizer
        whose calls TRL cannot parse. None: TRL parses them.

    Raises
    ------
    AlreadyExistsError
        If the run exists with another configuration. The message names the field.
    NotFoundError
        If the run does not exist and no configuration is given.

    Examples
    --------
    >>> spec = GradusSpec("localhost:50051", "my-run")
    >>> args = GRPOConfig(**spec.config(output_dir="out", per_device_train_batch_size=16))
    >>> trainer = GRPOTrainer(model, spec.reward_funcs, args, spec.train_dataset, callbacks=spec.callbacks)
    >>> trainer.train(resume_from_checkpoint=spec.last_checkpoint("out"))

    """

    def __init__(
        self,
        server: str | Client,
        run_id: str,
        run: RunConfig | Mapping[str, Any] | None = None,
        *,
        prefetch: bool = True,
        reproducible: bool = False,
        restart: bool = False,
        patience: float = 600.0,
        contrast: Contrast | None = None,
        text_tools: TextTools | None = None,
    ) -> None:
        self.client = Client(server) if isinstance(server, str) else server
        self._pairs = None if contrast is None else PairQueue(contrast)
        self._training = Training(
            self.client, run_id, run, prefetch=prefetch, restart=restart, patience=patience, pairs=self._pairs
        )
        self._reproducible = reproducible
        self._patience = patience
        self._rollouts = Rollouts(self.client, self._training.rewards, patience, text_tools)
        self.run = self._training.run
        self.run_config = self._training.run_config

    @cached_property
    def train_dataset(self) -> Any:
        """The run's tasks, a `datasets.IterableDataset` of rows `prompt`, `arm_id` and `gradus_task`.

        Only a training takes tasks of the run. A reader before or after the training (`train_dataset[0]`, a loop) gets
        similar tasks without end, from the run's arms in turn, which do not belong to the run.
        """
        return _datasets.train_dataset(self._training)

    @cached_property
    def eval_dataset(self) -> Any:
        """The tasks of the run's evaluation arms, a `datasets.Dataset` of the same rows; None: the run has none.

        Every evaluation is a round of these arms, with the trainer's step as its number.
        """
        return _datasets.eval_dataset(self.client, self.run, self.run_config)

    @property
    def reward_funcs(self) -> list[Callable[..., list[float | None]]]:
        """The function that scores completions, (n,). None: a completion has no score, which does not mean 0."""
        return [self._training.rewards.function]

    @cached_property
    def callbacks(self) -> list[Any]:
        """The callback that checks settings, and exports and imports the run."""
        return [_callback.GradusCallback(self._training, self._reproducible)]

    def trainer(self, kind: type) -> type:
        """Returns `GRPOTrainer` or `RLOOTrainer`, with the added loss of contrast pairs if the spec has one."""
        return kind if self._pairs is None else with_contrast(kind, self._pairs)

    @property
    def rollout_func(self) -> Callable[[Any, Any], dict[str, Any]]:
        """Plays episodes of tasks with turns. For GRPO only, together with `reward_funcs`, which return their rewards.

        Raises
        ------
        ImportError
            If the installed TRL lacks a part that this needs.

        """
        _inside.check()
        return self._rollouts.function

    @cached_property
    def environment_factory(self) -> Callable[[], Any]:
        """Makes environments for TRL. For GRPO only, together with `reward_funcs`.

        If the run's tasks have turns, the policy plays them by calls of their tools. Otherwise it answers by a tool
        call.

        Raises
        ------
        ValueError
            If tasks with turns have no tools, or different ones: use `rollout_func`.

        """
        turns, tools = _datasets.tools_of(self.client, self.run_config)
        return self._training.rewards.environments(self.client, tools, self._patience) if turns else AnswerEnvironment

    def config(self, kind: type | None = None, /, **settings: Any) -> dict[str, Any]:
        """Returns settings for a GRPOConfig or RLOOConfig: the given ones, required ones, and matching defaults.

        If the run was created with the block `trainer:` (`RunConfig.trainer`), its learning rate, clip, sampling and
        lengths are among them, unless given here. The log names settings of the block that TRL's configuration lacks.

        Required: `num_generations`, `shuffle_dataset`, `ignore_data_skip`, `dataloader_num_workers`,
        `remove_unused_columns`. Defaults: one update batch for each generation and each optimizer step
        (`generation_batch_size`, `gradient_accumulation_steps`), and `max_steps`, if the run has a length.

        Parameters
        ----------
        kind
            `GRPOConfig` or `RLOOConfig`; None: only settings of the block that both classes have.
        **settings
            Settings of the class.

        Raises
        ------
        ValueError
            If a given setting differs from the one that the run requires.

        """
        block = self.run_config.trainer
        if block is not None:
            taken, left = trainer_settings(block, kind)
            settings = {**taken, **settings}
            if left:
                _LOG.warning("TRL's configuration lacks these settings of the run's trainer: block: %s", words_of(left))
        if _datasets.have_turns(self.client, self.run_config):
            # Replies may repeat text of the policy, and its control tokens must stay text.
            rendering = {"sanitize_control_tokens": True, **(settings.get("chat_template_kwargs") or {})}
            settings = {**settings, "chat_template_kwargs": rendering}
        return _checks.settings(self.run_config, settings)

    def last_checkpoint(self, output_dir: str) -> str | None:
        """Returns the newest complete checkpoint in a folder; None: there is none yet.

        Pass it to `trainer.train(resume_from_checkpoint=...)`.
        """
        return _callback.last_checkpoint(output_dir)
