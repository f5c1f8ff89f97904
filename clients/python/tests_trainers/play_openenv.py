"""Plays tasks of np/tsp and countdown of a Gradus server by TRL's own, unmodified integration of OpenEnv.

    make play-trl
    .trainers/bin/python clients/python/tests_trainers/play_openenv.py [--server http://127.0.0.1:8080] [--tasks 100]

`make` installs the packages. Without `--server` a server is started. Needs clients/python/requirements-trainers.txt and
openenv-core 0.3.0, and nothing of Gradus's client. GRPOTrainer gets an `environment_factory` as in TRL's guide of
OpenEnv: a class that holds OpenEnv's own client, is reset to a task by a row's columns, has one tool, and gives the
reward. The tiny policy calls the tool with an answer in the right form. Each task is reset `--generations` times, and
all samples of a group must get the same prompt. Each step must have a reward, which the trainer must log.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import tiny
from datasets import Dataset
from openenv.core.generic_client import GenericEnvClient
from real_server import launch
from trl import GRPOConfig, GRPOTrainer

SETTINGS = (("np/tsp", "easy"), ("countdown", "T0"))
ROWS = 4


class Played:
    """Prompts and rewards of all episodes."""

    shown: dict[tuple[str, int], set[str]]
    rewards: list[float]
    resets: int

    def __init__(self) -> None:
        self.shown = {}
        self.rewards = []
        self.resets = 0


def episode_of(server: str, played: Played) -> type:
    """Returns the class of which TRL makes environments."""

    class Episode:
        def __init__(self) -> None:
            self.client = GenericEnvClient(server).sync()
            self.client.connect()
            self.reward: float | None = None

        def reset(self, gym: str, level: str, seed: int, **_: Any) -> str:
            result = self.client.reset(environment=gym, level=level, seed=seed, answer_format="answer_tag")
            text = str(result.observation["prompt"])
            played.shown.setdefault((gym, seed), set()).add(text)
            played.resets += 1
            self.reward = None
            return text

        def submit(self, response: str) -> str:
            """Submits an answer.

            Args:
                response: The answer, in its tags.

            """
            if self.reward is not None:
                return "It is answered already."
            result = self.client.step({"completion": response})
            assert result.done and isinstance(result.reward, (int, float)), result
            self.reward = float(result.reward)
            played.rewards.append(self.reward)
            return str(result.observation["outcome"])

        def get_reward(self) -> float:
            """Returns the reward at the episode's end, 0 if the policy submitted nothing."""
            return self.reward or 0.0

    return Episode


def play(server: str, gym: str, level: str, tasks: int, generations: int, policy: Path) -> None:
    """Trains on each task once."""
    began = time.monotonic()
    played = Played()
    rows = [
        {"prompt": [{"role": "user", "content": "Solve it.\n"}], "gym": gym, "level": level, "seed": seed}
        for seed in range(tasks)
    ]
    vocabulary = tiny.tokenizer()
    vocabulary.chat_template = tiny.qwen3_template()
    with tempfile.TemporaryDirectory() as out:
        trainer = GRPOTrainer(
            str(policy),
            args=GRPOConfig(
                output_dir=out,
                num_generations=generations,
                per_device_train_batch_size=ROWS * generations,
                num_train_epochs=1,
                max_completion_length=300,
                max_tool_calling_iterations=1,
                save_strategy="no",
                logging_steps=1,
                report_to=[],
                use_cpu=True,
                disable_tqdm=True,
                log_level="error",
            ),
            train_dataset=Dataset.from_list(rows),
            processing_class=vocabulary,
            environment_factory=episode_of(server, played),
        )
        trainer.remove_callback(
            next(type(each) for each in trainer.callback_handler.callbacks if "Printer" in str(each))
        )
        trainer.train()
        logs = [each for each in trainer.state.log_history if "reward" in each]
    assert len(played.shown) == tasks, f"{len(played.shown)} tasks were shown, and not {tasks}"
    assert all(len(texts) == 1 for texts in played.shown.values()), "a group was shown two tasks"
    assert len(played.rewards) == played.resets >= tasks * generations, (len(played.rewards), played.resets)
    told = sum(each["reward"] for each in logs) / len(logs)
    mean = sum(played.rewards) / len(played.rewards)
    assert abs(told - mean) < 0.01, f"TRL logged a mean reward of {told}, and the server gave {mean}"
    print(
        f"{gym}: {tasks} tasks, {len(played.rewards)} steps with a reward (mean {mean:.3f}), "
        f"{len(logs)} optimizer steps in {time.monotonic() - began:.1f} s"
    )


def main() -> None:
    """Plays every setting."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", default="")
    parser.add_argument("--tasks", type=int, default=100)
    parser.add_argument("--generations", type=int, default=2)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        started = None if given.server else launch(Path(folder))
        try:
            server = given.server or f"http://{started.http}"
            policy = tiny.save(Path(folder), calls=True)
            for gym, level in SETTINGS:
                play(server, gym, level, given.tasks, given.generations, policy)
        finally:
            if started is not None:
                started.stop()


if __name__ == "__main__":
    main()
