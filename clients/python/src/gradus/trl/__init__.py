"""Gradus in TRL: one object gives `GRPOTrainer` and `RLOOTrainer` their tasks, rewards, callbacks and settings.

The package needs the extra `trl` (`pip install './clients/python[trl]'` in a checkout). docs/guides/trl.md in the
repository describes the settings, what is refused, and how a training resumes.
"""

from gradus.trl._contrast import Contrast
from gradus.trl._environment import AnswerEnvironment
from gradus.trl._settings import trainer_settings
from gradus.trl._spec import GradusSpec

__all__ = ["AnswerEnvironment", "Contrast", "GradusSpec", "trainer_settings"]
