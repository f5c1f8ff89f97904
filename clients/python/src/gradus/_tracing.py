"""W3C trace context: if the caller uses OpenTelemetry, a call is a part of the caller's active trace."""

from __future__ import annotations

import sys


def trace_context() -> tuple[tuple[str, str], ...]:
    """Returns the headers of the active trace; none if there is no trace.

    OpenTelemetry is not imported here: a caller with a trace has loaded it, and others need not wait for it.
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
