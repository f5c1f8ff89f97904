"""Ten steps of each bandit rule, of learning progress, of rescaling, of competence and of the frontier, by the formulas of the contract
(proto/gradus/v1/curriculum.proto) and in 60 decimal digits: knows nothing of the server's code.

    python3 test/golden/rules/table.py > test/golden/rules/table.json
"""

import json
import math
from decimal import Decimal as D
from decimal import getcontext

getcontext().prec = 60

ARMS = 4
STEPS = 10
SIZE = 6
EPSILON = D("0.1")


class Uniform:
    """Numerical Recipes' generator: the test has the same one."""

    def __init__(self, state):
        self.state = state

    def float(self):
        self.state = (1664525 * self.state + 1013904223) % 2**32
        return self.state / 2**32


def batches(seed):
    """Groups of SIZE tasks a batch; some have no signal, some are late, arm 3 is seen from the fifth batch on only."""
    draw = Uniform(seed)
    made = []
    for step in range(STEPS):
        groups = []
        for _ in range(SIZE):
            arm = int(draw.float() * (ARMS if step >= 4 else ARMS - 1))
            signal = round(draw.float(), 3)
            weight = 0.5 if draw.float() < 0.2 else 1
            probability = round(0.05 + draw.float() / 2, 3)
            silent = draw.float() < 0.15
            groups.append(
                {"arm": arm, "signal": None if silent else signal, "weight": weight, "probability": probability}
            )
        made.append(groups)
    return made


def lessons(groups):
    return [
        (g["arm"], D(str(g["signal"])), D(str(g["weight"])), D(str(g["probability"])))
        for g in groups
        if g["signal"] is not None
    ]


def floored(shares):
    return [(1 - EPSILON) * share + EPSILON / ARMS for share in shares]


def ema(seen, q, alpha=D("0.15")):
    after = list(q)
    for arm in range(ARMS):
        own = [(s, w) for a, s, w, _ in seen if a == arm]
        if own:
            after[arm] = q[arm] + alpha / len(own) * sum(w * (s - q[arm]) for s, w in own)
    return after


def softmax(q, tau=D("0.25")):
    powers = [(x / tau).exp() for x in q]
    return [x / sum(powers) for x in powers]


def ema_softmax(steps):
    q = [D(0)] * ARMS
    for seen in steps:
        q = ema(seen, q)
        yield q, floored(softmax(q))


def exp3_s(steps, eta=D("0.3"), sigma=D("0.02")):
    v = [D(1)] * ARMS
    for seen in steps:
        mean = sum(v) / ARMS
        after = []
        for arm in range(ARMS):
            estimate = sum((w * s / p for a, s, w, p in seen if a == arm), D(0)) / len(seen)
            after.append(v[arm] * max(D(-1), min(D(1), eta * estimate)).exp() + sigma * mean)
        # Only proportions matter, and values are logarithms over the mean.
        v = after
        mean = sum(v) / ARMS
        yield [(x / mean).ln() for x in v], floored([x / sum(v) for x in v])


def discounted(steps, gamma=D("0.9")):
    n, s = [D(0)] * ARMS, [D(0)] * ARMS
    for seen in steps:
        n = [gamma * x + sum((w for a, _, w, _ in seen if a == arm), D(0)) for arm, x in enumerate(n)]
        s = [gamma * x + sum((w * t for a, t, w, _ in seen if a == arm), D(0)) for arm, x in enumerate(s)]
        yield n, s


def means(n, s):
    return [y / x if x > 0 else D(0) for x, y in zip(n, s)]


def thompson(steps, sigma=0.4):
    for step, (n, s) in enumerate(discounted(steps)):
        draw = Uniform(1000 + step)
        wins = [0] * ARMS
        for _ in range(256):
            worths = []
            for x, y in zip(n, s):
                radius = math.sqrt(-2 * math.log(1 - draw.float()))
                normal = radius * math.cos(2 * math.pi * draw.float())
                worths.append(float(y / (x + 1)) + sigma / math.sqrt(float(x + 1)) * normal)
            wins[worths.index(max(worths))] += 1
        yield means(n, s), floored([D(count) / 256 for count in wins])


def ucb(steps, c=D("0.4"), size=SIZE):
    for n, s in discounted(steps):
        m = means(n, s)
        log = (1 + sum(n) + size).ln()

        def given(level):
            return [max(D(0), c * c * log / (level - mean) ** 2 - seen) for mean, seen in zip(m, n)]

        low, high = max(m), max(m) + 10
        for _ in range(180):
            middle = (low + high) / 2
            low, high = (middle, high) if sum(given(middle)) > size else (low, middle)
        yield m, floored([x / size for x in given(high)])


def progress(steps, fast=D("0.3"), slow=D("0.05")):
    """What each lesson's signal becomes where it is a solved share."""
    averages = [None] * ARMS
    for seen in steps:
        for arm in range(ARMS):
            own = [(s, w) for a, s, w, _ in seen if a == arm]
            if not own:
                continue
            if averages[arm] is None:
                first = sum(w * s for s, w in own) / sum(w for _, w in own)
                averages[arm] = (first, first)
                continue
            averages[arm] = tuple(
                x + rate / len(own) * sum(w * (s - x) for s, w in own)
                for x, rate in zip(averages[arm], (fast, slow))
            )
        yield [(a, abs(averages[a][0] - averages[a][1]), w, p) for a, _, w, p in seen]


def cut(signal):
    """Six bits of fraction."""
    if signal <= 0:
        return D(0)
    unit = D(1)
    while unit > signal:
        unit /= 2
    while unit * 2 <= signal:
        unit *= 2
    return unit * (int(signal / unit * 64) / D(64))


def rescaled(steps, low=D("0.2"), high=D("0.8"), window=16):
    last = []
    for seen in steps:
        last = (last + [cut(s) for _, s, _, _ in seen])[-window:]
        ordered = sorted(last)
        a, b = (ordered[max(0, math.ceil(share * len(ordered)) - 1)] for share in (low, high))

        def scaled(s, a=a, b=b):
            if a == b:
                return D((s > a) - (s < a))
            return max(D(-1), min(D(1), 2 * (s - a) / (b - a) - 1))

        yield [(arm, scaled(cut(s)), w, p) for arm, s, w, p in seen]


def competence(made, tiers, step, threshold, window, floor, newest_share):
    """Signals are solved shares. Tiers are lists of arms of one weight."""
    tier, recent = 0, []
    for groups in made:
        for g in groups:
            if g["signal"] is None or g["arm"] not in tiers[tier]:
                continue
            recent = (recent + [D(str(g["signal"]))])[-window:]
            passed = len(recent) == window and sum(recent) / window >= D(str(threshold))
            if passed and tier < len(tiers) - 1:
                tier, recent = tier + 1, []
        p = [D(0)] * ARMS
        for t, arms in enumerate(tiers):
            if step == "MOVE_ON" or tier == 0:
                share = D(t == tier)
            elif t == tier:
                share = D(str(newest_share)) if newest_share else D(1) / (tier + 1)
            elif t < tier:
                share = (1 - (D(str(newest_share)) if newest_share else D(1) / (tier + 1))) / tier
            else:
                share = D(0)
            share = D(str(floor)) / len(tiers) + (1 - D(str(floor))) * share
            for arm in arms:
                p[arm] += share / len(arms)
        yield [D(0)] * ARMS, p


def practised(seed):
    """60 groups a batch. Each arm's success moves after long practice, and each arm's at another time."""
    draw = Uniform(seed)
    made = []
    for step in range(STEPS):
        groups = []
        for _ in range(60):
            arm = int(draw.float() * ARMS)
            low = 0.6 if step > 3 + arm else 0.2
            signal = round(low + 0.4 * draw.float(), 3)
            weight = 0.5 if draw.float() < 0.2 else 1
            groups.append({"arm": arm, "signal": signal, "weight": weight, "probability": 0.25})
        made.append(groups)
    return made


def frontier(made, scale, exploration, measured=False):
    """Signals are shares of success. If `measured`, the scale is at least the practice that progress takes."""
    pace = None
    arms = [{"A": D(0), "N": D(0), "S": D(0), "M": D(0), "V": D(0), "ref": None} for _ in range(ARMS)]
    for groups in made:
        for arm, q, w, _ in lessons(groups):
            x = arms[arm]
            x["A"] = (1 - D("0.1") * w) * x["A"] + w * q
            x["N"] = (1 - D("0.1") * w) * x["N"] + w
            x["S"] = (1 - D("0.02") * w) * x["S"] + w * q
            x["M"] = (1 - D("0.02") * w) * x["M"] + w
            x["V"] += w * q * (1 - q)
            mean = (x["S"] + D("0.5")) / (x["M"] + 1)
            if x["ref"] is None:
                if x["M"] > 8:
                    x["ref"] = mean
            elif abs(mean - x["ref"]) > D("0.15"):
                pace = x["V"] if pace is None else pace + D("0.2") * (x["V"] - pace)
                x["ref"], x["V"] = mean, D(0)
        v0 = max(scale, pace) if measured and pace is not None else scale
        means, interest = [], []
        for x in arms:
            m = (x["A"] + D("0.15")) / (x["N"] + D("0.3"))
            rise = D(1)
            if x["N"] > 0:
                rise = max(D(0), min(D(1), (x["A"] / x["N"] - x["S"] / x["M"]) / D("0.15")))
            peak = (D(2) / 7) ** 2 * (D(5) / 7) ** 5
            means.append(m if x["N"] > 0 else D(0))
            w = m**2 * (1 - m) ** 5 / peak * (D("0.3") + D("0.7") * rise) / (1 + (x["V"] / v0) ** 2)
            interest.append(w)
        whole = max(sum(interest), D("0.1"))
        rest = 1 - (1 - exploration) * sum(interest) / whole
        yield means, [rest / ARMS + (1 - exploration) * w / whole for w in interest]


def case(name, policy, seed, rows, made=batches):
    return {
        "name": name,
        "policy": policy,
        "batches": [[[*group.values()] for group in batch] for batch in made(seed)],
        "values": [[format(x, ".17g") for x in values] for values, _ in rows],
        "probabilities": [[format(x, ".17g") for x in p] for _, p in rows],
    }


def tables():
    def steps(seed):
        return [lessons(groups) for groups in batches(seed)]

    def bandit(**fields):
        return {"bandit": fields}

    yield case("EMA-softmax", bandit(), 1, list(ema_softmax(steps(1))))
    yield case("EXP3.S", bandit(exp3_s={"rate": 0.3, "share": 0.02}), 2, list(exp3_s(steps(2))))
    yield case(
        "EXP3.S that forgets nothing",
        bandit(exp3_s={"rate": 0.3, "share": 0}),
        3,
        list(exp3_s(steps(3), sigma=D(0))),
    )
    yield case("Thompson", bandit(thompson={"discount": 0.9, "exploration": 0.4}), 4, list(thompson(steps(4))))
    yield case("UCB", bandit(ucb={"discount": 0.9, "exploration": 0.4}), 5, list(ucb(steps(5))))
    yield case(
        "learning progress", bandit(signal="BANDIT_SIGNAL_LEARNING_PROGRESS"), 6, list(ema_softmax(list(progress(steps(6)))))
    )
    yield case(
        "rescaled", bandit(rescale={"window": 16}), 7, list(ema_softmax(list(rescaled(steps(7)))))
    )
    tiers = [[0, 1], [1], [2, 3]]
    for name, step, floor, newest in [
        ("competence that widens", "WIDEN", 0, None),
        ("competence that moves on", "MOVE_ON", 0, None),
        ("competence with a floor and a newest share", "WIDEN", 0.2, 0.75),
    ]:
        policy = {
            "tiers": [{"weights": {f"arm {arm}": 1 for arm in arms}} for arms in tiers],
            "step": f"COMPETENCE_STEP_{step}",
            "threshold": 0.55,
            "window": 3,
            "floor": floor,
        }
        if newest:
            policy["newestShare"] = newest
        rows = list(competence(batches(8), tiers, step, 0.55, 3, floor, newest))
        yield case(name, {"competence": policy}, 8, rows)


    yield case("frontier", {"frontier": {}}, 9, list(frontier(batches(9), D(8), D("0.1"), measured=True)))
    yield case(
        "frontier that wears off soon",
        {"frontier": {"practiceScale": 0.5, "exploration": 0.25}},
        10,
        list(frontier(batches(10), D("0.5"), D("0.25"))),
    )
    yield case(
        "frontier that measures its scale",
        {"frontier": {}},
        11,
        list(frontier(practised(11), D(8), D("0.1"), measured=True)),
        practised,
    )
    yield case(
        "frontier with the same groups and a given scale",
        {"frontier": {"practiceScale": 8}},
        11,
        list(frontier(practised(11), D(8), D("0.1"))),
        practised,
    )


print("[", ",\n".join(json.dumps(table, separators=(",", ":")) for table in tables()), "]", sep="\n")
