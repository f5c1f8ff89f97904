/** The ledger: replies, and proofs of the fewest calls. */
import { describe, expect, test } from "vitest";
import { rngFor } from "../../../envs/lib/rng.ts";
import {
  answerOf,
  debtorOf,
  idOf,
  type LedgerInstance,
  openOrders,
  type Row,
} from "../../../envs/tools/ledger/database.ts";
import { ledger } from "../../../envs/tools/ledger/index.ts";
import { planOf, type PlannedCall } from "../../../envs/tools/ledger/solve.ts";
import { parse, turns, verify } from "../../../envs/tools/ledger/verify.ts";
import { share } from "../../support/share.ts";
import { casesOf, tasksOf } from "../every.ts";
import type { SyncEnvironment } from "../../../envs/environment.ts";

const levels = casesOf(ledger as SyncEnvironment);

function instancesOf(level: string, count: number): readonly LedgerInstance[] {
  const given = levels.find((each) => each.level.name === level);
  if (given === undefined) throw new Error(`no level ${level}`);
  return tasksOf(given, undefined, count).map(({ instance }) => instance as LedgerInstance);
}

const rng = rngFor("ledger");

/** Plays calls from the first state, and returns the last result. */
function playAll(instance: LedgerInstance, calls: readonly PlannedCall[]) {
  let state = turns.start(instance);
  let last: ReturnType<typeof turns.advance> | undefined;
  for (const [number, call] of calls.entries()) {
    expect(last?.over ?? false).toBe(false);
    last = turns.advance(instance, state, { kind: "tool", number, ...call }, rng);
    state = last.state;
  }
  if (last === undefined) throw new Error("no calls");
  return last;
}

function replyTo(instance: LedgerInstance, name: PlannedCall["name"], args: Readonly<Record<string, unknown>>) {
  return playAll(instance, [{ name, arguments: args }]).reply;
}

const NAMES = levels.map(({ level }) => level.name);

test.each(NAMES)("%s: the plan solves each task with as many calls as the rule says", (level) => {
  for (const instance of instancesOf(level, share(60))) {
    const plan = planOf(instance);
    const orders = openOrders(instance, debtorOf(instance)).length;
    expect(plan).toHaveLength(3 + instance.referrals + orders + (instance.payer === undefined ? 0 : 5));
    const { over, facts, reply } = playAll(instance, plan);
    expect([over, facts, reply]).toEqual([true, { kind: "feasible", objective: plan.length }, "The task is solved."]);
  }
});

// Second method. A token is a fact that a reply tells: an id, or the number in a certain row. A plan is certain to
// succeed only if each argument of its calls is a token that it has seen, because an unseen id is one of 900,000.

/** A look-up, with the tokens that it needs and those that its reply tells. */
interface Lookup {
  readonly needs: readonly string[];
  readonly tells: readonly string[];
}

/** Returns every look-up whose arguments can ever be seen, from the names, cities and states of the prompt on. */
function allLookups(instance: LedgerInstance): readonly Lookup[] {
  const told = new Set<string>();
  const found: Lookup[] = [];
  const seen = new Set<string>();
  const { customers, named, payer } = instance;
  const people = [named, ...(payer === undefined ? [] : [payer])].map((place) => customers[place]!);
  const wheres = (table: string): readonly Readonly<Record<string, string>>[] => {
    const ids = [...told].filter((token) => token.startsWith("C"));
    if (table === "customers")
      return people.flatMap(({ name }) => [{ name }, ...people.map(({ city }) => ({ name, city }))]);
    if (table === "accounts") return ids.map((owner) => ({ owner }));
    return ids.flatMap((customer) => [{ customer }, ...["open", "paid"].map((status) => ({ customer, status }))]);
  };
  const look = (name: "find" | "get", args: Readonly<Record<string, unknown>>, needs: readonly string[]): boolean => {
    const key = JSON.stringify([name, args]);
    if (seen.has(key)) return false;
    seen.add(key);
    const read = JSON.parse(replyTo(instance, name, args)) as Row & { readonly ids?: readonly string[] };
    const { id = "", amount, balance } = read;
    const ids = Object.values(read).filter((value) => typeof value === "string" && /^[CAO]\d{6}$/.test(value));
    const numbers = [
      ...(amount === undefined ? [] : [`amount of ${id}`]),
      ...(balance === undefined ? [] : [`balance of ${id}`]),
    ];
    const tells = [...(read.ids ?? ids.map(String)), ...numbers].filter((token) => !needs.includes(token));
    for (const token of tells) told.add(token);
    found.push({ needs, tells });
    return true;
  };
  for (let isNew = true; isNew;) {
    isNew = false;
    for (const table of ["customers", "accounts", "orders"]) {
      for (const where of wheres(table)) {
        const needs = Object.values(where).filter((value) => /^C\d{6}$/.test(value));
        isNew = look("find", { table, where }, needs) || isNew;
      }
      const letter = table[0]?.toUpperCase() ?? "";
      for (const id of told) if (id.startsWith(letter)) isNew = look("get", { table, id }, [id]) || isNew;
    }
  }
  return found;
}

/** Returns the tokens without which nobody can be certain of the answer and of the arguments of the transfer. */
function goalOf(instance: LedgerInstance): readonly string[] {
  const { accounts, payer } = instance;
  const debtor = debtorOf(instance);
  const amounts = openOrders(instance, debtor).map((order) => `amount of ${idOf("orders", order)}`);
  if (payer === undefined) return amounts;
  const [to, from] = [debtor, payer].map((place) => idOf("accounts", accounts[place]!)) as [string, string];
  return [...amounts, `balance of ${to}`, to, from];
}

/** Returns the tokens that look-ups tell if each is made once the tokens that it needs are known. */
function closureOf(made: readonly Lookup[]): ReadonlySet<string> {
  const known = new Set<string>();
  for (let size = -1; size < known.size;) {
    size = known.size;
    for (const { needs, tells } of made)
      if (needs.every((token) => known.has(token))) for (const token of tells) known.add(token);
  }
  return known;
}

/**
 * Returns the fewest look-ups that tell the goal. Every plan has, for each token that it uses, a look-up that tells it.
 * So the search tries each such look-up for one token that none of its look-ups tells yet. If all are told, and some
 * only in a circle, a plan has another look-up that tells one of these, so the search tries each of those.
 */
function fewestLookups(lookups: readonly Lookup[], goal: readonly string[]): number {
  let best = Infinity;
  const seen = new Set<string>();
  const search = (made: readonly Lookup[]): void => {
    if (made.length >= best) return;
    const known = closureOf(made);
    const needed = [...goal, ...made.flatMap(({ needs }) => needs)];
    const missing = needed.filter((token) => !known.has(token));
    if (missing.length === 0) {
      best = made.length;
      return;
    }
    const key = made
      .map((each) => lookups.indexOf(each))
      .sort((a, b) => a - b)
      .join();
    if (seen.has(key)) return;
    seen.add(key);
    const untold = missing.find((token) => made.every(({ tells }) => !tells.includes(token)));
    const wanted = untold === undefined ? missing : [untold];
    for (const each of lookups)
      if (!made.includes(each) && each.tells.some((token) => wanted.includes(token))) search([...made, each]);
  };
  search([]);
  return best;
}

test.each(NAMES)("%s: by other means: no fewer look-ups tell what the answer and the transfer need", (level) => {
  for (const instance of instancesOf(level, share(36))) {
    const fewest = fewestLookups(allLookups(instance), goalOf(instance));
    expect(fewest + (instance.payer === undefined ? 1 : 2)).toBe(planOf(instance).length);
  }
});

/** Returns the fewest look-ups by a search of all sets of look-ups, smallest sets first. */
function byBreadth(lookups: readonly Lookup[], goal: readonly string[]): number {
  let states = new Map<string, ReadonlySet<string>>([["", new Set()]]);
  for (let calls = 0; ; calls++) {
    const next = new Map<string, ReadonlySet<string>>();
    for (const known of states.values()) {
      if (goal.every((token) => known.has(token))) return calls;
      for (const { needs, tells } of lookups) {
        if (!needs.every((token) => known.has(token)) || tells.every((token) => known.has(token))) continue;
        const more = new Set([...known, ...tells]);
        next.set([...more].sort().join(), more);
      }
    }
    states = next;
  }
}

test.each(["easy", "medium"])("%s: by breadth: no state of information that tells the answer is nearer", (level) => {
  for (const instance of instancesOf(level, 6))
    expect(byBreadth(allLookups(instance), goalOf(instance)) + 1).toBe(planOf(instance).length);
});

test("each token of the goal matters: two databases that differ only there get the same replies to all else", () => {
  const [instance] = instancesOf("hard", 1) as [LedgerInstance];
  const [order] = openOrders(instance, debtorOf(instance)) as [LedgerInstance["orders"][number]];
  const other = {
    ...instance,
    orders: instance.orders.map((each) => (each === order ? { ...each, amount: each.amount + 1 } : each)),
  };
  const plan = planOf(instance);
  const hidden = idOf("orders", order);
  for (const call of plan.slice(0, -2)) {
    const isSame = replyTo(instance, call.name, call.arguments) === replyTo(other, call.name, call.arguments);
    expect(isSame).toBe(call.arguments["id"] !== hidden);
  }
  expect(answerOf(other)).not.toBe(answerOf(instance));
});

describe("replies", () => {
  const [instance] = instancesOf("hard", 1) as [LedgerInstance];
  const [customer] = instance.customers as [LedgerInstance["customers"][number]];
  const [one, two] = instance.accounts.map((each) => idOf("accounts", each)) as [string, string];

  test.each<[PlannedCall["name"], Readonly<Record<string, unknown>>, RegExp]>([
    ["find", {}, /'table' must be/],
    ["find", { table: "toString", where: {} }, /'table' must be/],
    ["find", { table: "orders" }, /'where' must be an object/],
    ["find", { table: "orders", where: { status: "open" } }, /it must name customer, and may name status/],
    ["find", { table: "accounts", where: { owner: "C1", balance: "5" } }, /it must name owner, and nothing else/],
    ["find", { table: "customers", where: { name: 5 } }, /an object of texts/],
    ["find", { table: "customers", where: { name: "Nobody" } }, /^\{"ids":\[\]\}$/],
    ["get", { table: "accounts", id: "A1" }, /no row with this id in accounts/],
    ["get", { table: "accounts", id: idOf("customers", customer) }, /no row with this id in accounts/],
    ["transfer", { from: one, to: one, amount: 5 }, /the ids of two accounts/],
    ["transfer", { from: one, to: two, amount: -5 }, /'amount' must be/],
    ["transfer", { from: one, to: two, amount: 1e400 }, /'amount' must be/],
    ["transfer", { from: one, to: two, amount: "5" }, /^\{"transferred":5\}$/],
    ["answer", { value: "many" }, /cannot be read/],
  ])("%s %j", (name, args, reply) => expect(replyTo(instance, name, args)).toMatch(reply));

  test("a transfer changes both balances, and its reverse undoes it", () => {
    const id = (at: string) => ({ name: "get", arguments: { table: "accounts", id: at } }) as const;
    const there = { name: "transfer", arguments: { from: one, to: two, amount: 700 } } as const;
    const back = { name: "transfer", arguments: { from: two, to: one, amount: 700 } } as const;
    const [before] = [playAll(instance, [id(two)])];
    const balance = (JSON.parse(before.reply) as Row)["balance"] as number;
    expect(playAll(instance, [there, id(two)]).reply).toBe(before.reply.replace(`${balance}`, `${balance + 700}`));
    expect(playAll(instance, [there, back])).toMatchObject({ state: turns.start(instance) });
  });

  test.each([
    ["without the transfer", (plan: readonly PlannedCall[]) => plan.slice(-1)],
    ["with the transfer twice", (plan: readonly PlannedCall[]) => [plan.at(-2)!, ...plan.slice(-2)]],
    [
      "with another transfer",
      (plan: readonly PlannedCall[]) => [
        ...plan.slice(0, -1),
        { name: "transfer", arguments: { from: one, to: two, amount: 1 } } as const,
        plan.at(-1)!,
      ],
    ],
  ])("the right answer %s does not solve the task, and ends it", (_, change) => {
    const { over, facts, reply } = playAll(instance, change(planOf(instance)));
    expect([over, reply, facts?.kind]).toEqual([true, "The task is not solved.", "infeasible"]);
  });

  test("a lucky answer is worth no more than the plan", () => {
    const [sum] = instancesOf("easy", 1) as [LedgerInstance];
    const { facts } = playAll(sum, planOf(sum).slice(-1));
    expect(facts).toEqual({ kind: "feasible", objective: planOf(sum).length });
  });
});

test.each([
  ["52311", 52311],
  ["52,311", 52311],
  ["1,052,311", 1052311],
  ["52311.00", 52311],
  ["５２３１１", 52311],
  ["52.311", undefined],
  ["5,2311", undefined],
  ["-52311", undefined],
  ["52311 or 5", undefined],
  ["1e5", undefined],
  ["", undefined],
])("'%s' is read as %s", (text, value) => {
  const read = parse(text);
  expect(read.kind === "answer" ? read.answer : undefined).toBe(value);
});

test("an answer by itself is right or wrong", () => {
  const [instance] = instancesOf("easy", 1) as [LedgerInstance];
  expect(verify(instance, answerOf(instance)).kind).toBe("feasible");
  expect(verify(instance, answerOf(instance) + 1).kind).toBe("infeasible");
});
