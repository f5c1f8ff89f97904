"""W3C trace context: a call is a part of the trace that its caller has going on, where they use OpenTelemetry."""

from __future__ import annotations

import sys


def trace_context() -> tuple[tuple[str, str], ...]:
    """Headers that name the trace; none where there is none.

    Whoever has one going on has loaded OpenTelemetry, so that nobody else waits for it to load.
    """
    if "opentelemetry.trace" not in sys.modules:
        return ()
    try:
        from opentelemetry.propagate import inject  # noqa: PLC0415
    except ImportError:
        return ()
    headers: dict[str, str] = {}
    inject(headers)
    return tuple(headers.items())
