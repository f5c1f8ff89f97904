"""Opens streams of the Python client, as client.ts does for TypeScript: a thread and a connection for each."""

from __future__ import annotations

import json
import sys
import threading
from collections import Counter
from pathlib import Path
from typing import Any

from gradus import Client, Completion, CompletionGroup

WORK: dict[str, Any] = json.loads(Path(sys.argv[1]).read_text())

statuses: Counter[str] = Counter()
reasons: Counter[str] = Counter()
lock = threading.Lock()


def stream(client: Client, units: list[dict[str, Any]]) -> None:
    """Sends all of a stream's completions at once."""
    groups = [
        CompletionGroup(
            unit["taskId"],
            unit["groupId"],
            tuple(Completion(sample["index"], sample["text"]) for sample in unit["samples"]),
        )
        for unit in units
    ]
    try:
        for result in client.stream_steps(groups, window=len(groups)):
            with lock:
                if result.outcome is None:
                    reasons[str(result.error)] += 1
                    continue
                for outcome in result.outcome.outcomes:
                    statuses["unscored" if outcome.no_reward else outcome.feedback or "none"] += 1
    except Exception as error:  # What ends a stream is told like what fails one message.
        with lock:
            reasons[str(error)] += 1


clients = [Client(each["address"], timeout=WORK["timeoutSeconds"], on_feedback="ignore") for each in WORK["streams"]]
for each in clients:
    each.list_environments()
print("ready", flush=True)
sys.stdin.readline()
threads = [
    threading.Thread(target=stream, args=(client, own["units"]))
    for client, own in zip(clients, WORK["streams"], strict=True)
]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(json.dumps({"failed": reasons.total(), "reasons": list(reasons), "statuses": statuses}))
