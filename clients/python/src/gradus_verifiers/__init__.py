"""`gradus.verifiers` under a name that verifiers can import: the id of an environment is that of a top-level module."""

from gradus.verifiers import GradusEnv, GradusHarness, GradusTaskset, load_environment

__all__ = ["GradusEnv", "GradusHarness", "GradusTaskset", "load_environment"]
