"""A training on a run: its start, its progress, and the position of the run."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from gradus._retries import AS_LONG_AS_THERE_IS_TIME
from gradus.client import Client
from gradus.errors import NotFoundError
from gradus.runs import RunConfig, RunInfo
from gradus.tasks import Task
from gradus.training import leave_old_shape, retry_while_away, state_from_text, state_to_text
from gradus.trl._checks import Shape, of_shapes, refuse
from gradus.trl._contrast import PairQueue
from gradus.trl._feed import Feed
from gradus.trl._rewards import Rewards


class Training:
    """Common state of the data set and the callback of a `GradusSpec`; the parameters are the spec's.

    Attributes
    ----------
    run_config
        The run's configuration, as the server has it.
    is_training
        Whether the trainer is training now.

    """

    def __init__(
        self,
        client: Client,
        run_id: str,
        run: RunConfig | Mapping[str, Any] | None,
        *,
        prefetch: bool,
        restart: bool,
        patience: float,
        pairs: PairQueue | None = None,
    ) -> None:
        self.client = client
        self.run = client.run(run_id)
        self._config = (
            {each.name: getattr(run, each.name) for each in fields(run)} if isinstance(run, RunConfig) else run
        )
        self._restart = restart
        self._patience = patience
        self.run_config: RunConfig = self._create().config_now
        self._feed = Feed(self.run, prefetch=prefetch, patience=patience, check=self._fit)
        self.rewards = Rewards(client, self.run, self._feed, patience, pairs)
        # Start of the training: the optimizer step, and the cursor of the first task.
        self._origin: tuple[int, int] | None = None
        self._shape: Shape | None = None
        self._args: Any = None
        self.is_training = False

    def _create(self) -> RunInfo:
        if self._config is None:
            return self.run.get(timeout=self._patience, retries=AS_LONG_AS_THERE_IS_TIME)
        return self.run.create(**{**self._config, "timeout": self._patience, "retries": AS_LONG_AS_THERE_IS_TIME})

    def connect(self, args: Any, tokenizer: Any) -> None:
        """Checks the trainer's settings, and stores those that scoring needs."""
        refuse(self.run_config, args)
        self._args, self._shape = args, Shape.of(args)
        self.rewards.connect(args, tokenizer)

    def take(self) -> list[Task]:
        """Returns the next tasks; no tasks outside a training."""
        if self._shape is None:
            raise ValueError(
                "the trainer has no callbacks=spec.callbacks, which check its settings; to look at samples of tasks: "
                "spec.train_dataset[0], or next(iter(spec.train_dataset))"
            )
        return self._feed.take() if self.is_training else []

    def place_run(self, saved: Mapping[str, Any] | None) -> None:
        """Moves the run to the checkpoint's position, or to its start. Called on one rank, before any rank has tasks.

        A call whose reply was lost is repeated, because importing or deleting twice is harmless.
        """
        if saved is not None:
            state_then = state_from_text(saved["run"])
            retry_while_away(lambda: self.run.import_state(state_then, timeout=self._patience), self._patience)
            leave_old_shape(self.run, saved["cursor"])
            return
        state = self.run.get(timeout=self._patience).state
        if state.samples_recorded == 0:
            return
        if not self._restart or self._config is None:
            raise ValueError(
                f"run {self.run.run_id!r} has been trained on ({state.batches_closed} update batches), and the trainer "
                "begins without a checkpoint: resume from one, name another run_id, or give restart=True and the run's "
                "configuration, to delete the run and create it again"
            )
        with contextlib.suppress(NotFoundError):
            retry_while_away(lambda: self.run.delete(timeout=self._patience), self._patience)
        self._create()

    def begin(self, step: int, saved: Mapping[str, Any] | None) -> None:
        """Begins at an optimizer step, with the next task of the checkpoint, or without one with the run's first task.

        The settings are checked again, because an operator may have changed the run since the trainer was made.
        """
        assert self._shape is not None
        now = self.run.get(timeout=self._patience)
        self.run_config = now.config_now
        refuse(self.run_config, self._args)
        self.is_training = True
        # Open groups of an older shape have been closed, so the run may go on after the checkpoint's cursor.
        cursor = max(saved["cursor"], now.state.first_open_cursor) if saved else 0
        self._origin = (step, cursor)
        self._feed.begin(cursor, self._shape.prompts, self._shape.taken_at_once + 1)
        self._feed.ask()

    def _fit(self, now: RunConfig) -> None:
        """Raises ValueError if the run's num_generations or prompts_per_update no longer fits the trainer's batches."""
        assert self._shape is not None
        reasons = list(of_shapes(now, self._args, self._shape))
        if reasons:
            raise ValueError(f"run {self.run.run_id!r} was changed during this training: {'; '.join(reasons)}")

    def save(self, step: int) -> dict[str, Any]:
        """Returns the run's data for the checkpoint of an optimizer step; empty before a training."""
        if self._origin is None or self._shape is None:
            return {}
        begun, cursor = self._origin
        trained = (step - begun) * self._shape.tasks_per_step
        state = self.run.export_state(timeout=self._patience)
        return {"cursor": cursor + int(trained), "run": state_to_text(state)}
