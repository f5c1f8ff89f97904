"""Meetings: an optional interval for each meeting and room that seats it.

None of them overlap in a room or for an attendee; starts lie where all attendees are available for long enough.
"""

from typing import Any

from ortools.sat.python import cp_model
from runner import run


def common_intervals(availability: list[Any], attendees: list[int]) -> list[tuple[int, int]]:
    common = [(0, 24 * 60)]
    for attendee in attendees:
        own = [(free["start"], free["end"]) for free in availability[attendee]]
        pairs = [(max(a, c), min(b, d)) for a, b in common for c, d in own]
        common = [(start, end) for start, end in pairs if start < end]
    return common


def build(model: cp_model.CpModel, instance: Any) -> None:
    availability, rooms = instance["availability"], instance["rooms"]
    by_room: list[list[Any]] = [[] for _ in rooms]
    by_attendee: list[list[Any]] = [[] for _ in availability]
    attended = []
    for meeting in instance["meetings"]:
        attendees, minutes = meeting["attendees"], meeting["minutes"]
        common = common_intervals(availability, attendees)
        starts = [[start, end - minutes] for start, end in common if start + minutes <= end]
        seated = [room for room, seats in enumerate(rooms) if seats >= len(attendees)]
        held = model.new_bool_var("")
        if not starts or not seated:
            continue
        start = model.new_int_var_from_domain(cp_model.Domain.from_intervals(starts), "")
        whole = model.new_optional_fixed_size_interval_var(start, minutes, held, "")
        for attendee in attendees:
            by_attendee[attendee].append(whole)
        in_room = [model.new_bool_var("") for _ in seated]
        model.add(sum(in_room) == held)
        for room, var in zip(seated, in_room, strict=True):
            by_room[room].append(model.new_optional_fixed_size_interval_var(start, minutes, var, ""))
        attended.append(len(attendees) * held)
    for intervals in by_room + by_attendee:
        model.add_no_overlap(intervals)
    model.maximize(sum(attended))


run(build)
