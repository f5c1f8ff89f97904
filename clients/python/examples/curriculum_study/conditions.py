"""What is compared: how the server chooses tasks, and in one case what else the trainer learns from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import gradus
from gradus import Arm, Policy

POOL = "study"
TIERS = ("T0", "T1", "T2", "T3")
HARD = ("T2", "T3")


@dataclass(frozen=True)
class Condition:
    """One line of the table.

    Attributes
    ----------
    paper
        What it stands for, and in which paper it is.
    policy
        Makes the run's policy; called once for each run.
    synthetic
        Whether synthetic arms stand beside those of the pool.
    contrast
        Whether contrast pairs (VCC) add a loss.

    """

    name: str
    paper: str
    policy: Callable[[], Policy]
    synthetic: bool = False
    contrast: bool = False

    def arms(self) -> list[Arm]:
        """An arm for each tier of the pool, and one of the generator's where the condition has them."""
        real = [
            gradus.arm("countdown", tier, arm_id=f"real/{tier}", source="real", pool=POOL, hard=tier in HARD)
            for tier in TIERS
        ]
        made = [gradus.arm("countdown", tier, arm_id=f"synthetic/{tier}", hard=tier in HARD) for tier in TIERS]
        return [*real, *(made if self.synthetic else [])]


def _staged() -> Policy:
    return gradus.staged(
        gradus.stage(share=0.3, ranks=(0, 0.3)), gradus.stage(share=0.4, ranks=(0, 0.7)), gradus.stage(share=0.3)
    )


def _replay() -> Policy:
    easy, medium, hard = {"real/T0": 1.0, "real/T1": 1.0}, {"real/T2": 1.0}, {"real/T3": 1.0}
    return gradus.replay(
        gradus.stage(easy, share=0.5), gradus.stage(medium, share=0.4), gradus.stage(hard, share=0.1), cycles=3
    )


def _adsc() -> Policy:
    bounds = gradus.constraints(
        real_share_min=0.3, synthetic_share_max=0.5, hard_share_min=0.1, hard_warmup_batches=5
    )
    return gradus.bandit(constraints=bounds)


def _real_bandit() -> Policy:
    return gradus.bandit(constraints=gradus.constraints(hard_share_min=0.1, hard_warmup_batches=5))


def _default() -> Policy:
    return gradus.recommended([[f"real/{tier}"] for tier in TIERS])


CONDITIONS = (
    Condition("uniform", "equal shares of four tiers (ADSC, Vanilla RLOO)", gradus.mixture),
    Condition("staged", "easiest 30%, easiest 70%, all (Curriculum RLOO 3.2)", _staged),
    Condition("bandit, real", "bandit over the pool's tiers (ADSC, RLOO + real-only MAB)", _real_bandit),
    Condition("bandit, synthetic too", "bandit over eight arms (ADSC, rule-based)", _adsc, synthetic=True),
    Condition("replay", "easy, medium, hard, three times, 5:4:1 (FORGE 3.3)", _replay),
    Condition("default", "`recommended()`: mastered tiers make way for the next", _default),
    Condition("default + VCC", "the same, with contrast pairs as a second loss (VCC)", _default, contrast=True),
)
