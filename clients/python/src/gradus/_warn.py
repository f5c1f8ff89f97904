"""Warnings that name the line of the caller's code, and not one of this package."""

from __future__ import annotations

import sys
import warnings


def warn(message: str, category: type[Warning]) -> None:
    """Warns at the caller's line: the first one outside of this package."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("gradus."):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level + 1)
