"""The object that joins a run of Gradus and a trainer of TRL."""

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

    Each of its properties goes into the trainer's argument of the same name; `callbacks` always has to. Every rank
    makes one, with the same arguments.

    Parameters
    ----------
    server
        The server's gRPC address, e.g. "localhost:50051", or a client of it (for a token, or TLS).
    run_id
        The run. It is created if `run` is given, unless it is there with this configuration.
    run
        Its configuration: a `RunConfig`, or a mapping of what `Run.create` takes; None: the run exists.
    prefetch
        Whether the next tasks are fetched while the trainer makes its update.
    reproducible
        Whether each optimizer step seeds Python's, NumPy's and torch's generators by the trainer's seed, the step and
        the rank. What a resumed trainer samples is then what it would have sampled undisturbed.
    restart
        Whether a run that has been trained on is deleted and begun anew when a training begins without a checkpoint.
        False: that is refused.
    patience
        Maximum seconds to wait for tasks and scores, e.g. while the server restarts.
    contrast
        The loss of contrast pairs beside the trainer's own, for runs of the reward scheme `vcc`; the trainer is then
        made by `trainer`. None: there is none.
    text_tools
        Format of tool calls that the server reads from completions ("hermes"), for `rollout_func` with a tokenizer
        whose calls TRL cannot parse. None: TRL parses them.

    Raises
    ------
    AlreadyExistsError
        If the run is there with another configuration; the message names the field.
    NotFoundError
        If it is not there and no configuration is given.

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

        Only a training takes tasks of the run. A reader before or after it (`train_dataset[0]`, a loop) gets samples
        without end: tasks like the run's, of its arms in turn, that are not its own.
        """
        return _datasets.train_dataset(self._training)

    @cached_property
    def eval_dataset(self) -> Any:
        """The tasks of the run's evaluation arms, a `datasets.Dataset` of the same rows; None: the run has none.

        Every evaluation is a round of its arms, named by the trainer's step.
        """
        return _datasets.eval_dataset(self.client, self.run, self.run_config)

    @property
    def reward_funcs(self) -> list[Callable[..., list[float | None]]]:
        """The function that scores completions: (n,) for n of them. None: there is no score, which is not 0."""
        return [self._training.rewards.function]

    @cached_property
    def callbacks(self) -> list[Any]:
        """The callback that checks settings, and exports and imports the run."""
        return [_callback.GradusCallback(self._training, self._reproducible)]

    def trainer(self, kind: type) -> type:
        """`GRPOTrainer` or `RLOOTrainer`, whose loss has that of contrast pairs beside its own, if the spec has one."""
        return kind if self._pairs is None else with_contrast(kind, self._pairs)

    @property
    def rollout_func(self) -> Callable[[Any, Any], dict[str, Any]]:
        """Plays episodes, for tasks with turns. For GRPO only, beside `reward_funcs`, which then give the returns.

        Raises
        ------
        ImportError
            If the installed TRL lacks a part that this needs.

        """
        _inside.check()
        return self._rollouts.function

    @cached_property
    def environment_factory(self) -> Callable[[], Any]:
        """Makes environments for TRL. Use it with `reward_funcs`, for GRPO only.

        If the run's tasks have turns, the policy plays them by calls of their tools. Otherwise it answers by a tool
        call.

        Raises
        ------
        ValueError
            If tasks with turns have no tools, or not all have the same: use `rollout_func`.

        """
        turns, tools = _datasets.tools_of(self.client, self.run_config)
        return self._training.rewards.environments(self.client, tools, self._patience) if turns else AnswerEnvironment

    def config(self, kind: type | None = None, /, **settings: Any) -> dict[str, Any]:
        """Settings for a GRPOConfig or RLOOConfig: those given, with what the run must have and what fits it.

        A run that was created with the block `trainer:` (`RunConfig.trainer`) brings its learning rate, clip, sampling
        and lengths; those given here win. The log says which of the block TRL's configuration does not take.

        Set are `num_generations`, `shuffle_dataset`, `ignore_data_skip`, `dataloader_num_workers`,
        `remove_unused_columns`; and unless given, one update batch for each generation and each optimizer step
        (`generation_batch_size`, `gradient_accumulation_steps`), and `max_steps`, if the run has a length.

        Parameters
        ----------
        kind
            `GRPOConfig` or `RLOOConfig`, whose settings of its own are then taken of the block too; None: what both
            classes have.
        **settings
            Settings of the class.

        Raises
        ------
        ValueError
            If a setting is given that the run cannot be trained with.

        """
        block = self.run_config.trainer
        if block is not None:
            taken, left = trainer_settings(block, kind)
            settings = {**taken, **settings}
            if left:
                _LOG.warning("of the run's trainer: block these are not set here: %s", words_of(left))
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
