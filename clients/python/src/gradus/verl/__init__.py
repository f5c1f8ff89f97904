"""verl: a data set for `data.custom_cls` and a reward for `reward.custom_reward_function`.

```yaml
data:
  custom_cls: {path: "pkg://gradus.verl", name: RunDataset}
  train_files: gradus://localhost:50051/my-run
  val_files: gradus://localhost:50051/my-run#eval/countdown/T1
reward:
  custom_reward_function: {path: "pkg://gradus.verl", name: compute_score}
  reward_manager: {source: importlib, name: RewardManager, module: {path: "pkg://gradus.verl"}}
```

Settings that do not fit (shuffling, workers of the data loader) are refused with the remedy. docs/guides/trainers.md
has the rest.
"""

from typing import Any

from gradus.verl._dataset import RunDataset
from gradus.verl._reward import compute_score

__all__ = ["AgentLoop", "RewardManager", "RunDataset", "compute_score"]


def __getattr__(name: str) -> Any:
    """Imports `AgentLoop` or `RewardManager` at its first use: a data loader needs neither, nor what they import."""
    if name == "AgentLoop":
        from gradus.verl._agent_loop import AgentLoop  # noqa: PLC0415

        return AgentLoop
    if name == "RewardManager":
        from gradus.verl._manager import RewardManager  # noqa: PLC0415

        return RewardManager
    raise AttributeError(name)
