/** Carries out calls on a database, and verifies the answer that ends an episode. */
import { create } from "@bufbuild/protobuf";
import {
  type LedgerState,
  type LedgerStateSchema,
  LedgerStateSchema as schema,
} from "../../../proto/gen/gradus/internal/v1/game_states_pb.js";
import { type Facts, infeasible, malformed, type Parsed } from "../../facts.ts";
import { narrow } from "../../lib/text.ts";
import type { Action, Advanced, Turns } from "../../turns/turns.ts";
import { answerOf, debtorOf, type LedgerInstance, placeOf, rowAt, sumOf, type Table } from "./database.ts";
import { fewestCalls } from "./solve.ts";
import { tools } from "./tools.ts";

/**
 * Matches a whole number of at most nine digits. Groups of three digits may have commas between them, and zeros may
 * follow after a point.
 */
const NUMBER = /^(?:\d{1,9}|\d{1,3}(?:,\d{3}){1,2})(?:\.0{1,2})?$/;

/** Parses a whole number, e.g. "52311" or "52,311". */
export function parse(text: string): Parsed<number> {
  const plain = Array.from(text.trim().slice(0, 64), (char) => String.fromCharCode(narrow(char.charCodeAt(0)))).join(
    "",
  );
  if (!NUMBER.test(plain)) return malformed("it is not a whole number of at most 9 digits");
  return { kind: "answer", answer: Number(plain.replaceAll(",", "")) };
}

/**
 * Returns the facts about an answer after some calls. The objective is the number of calls, but at least the number
 * that is certain to suffice, so that a lucky guess is not rewarded.
 */
function factsOf(instance: LedgerInstance, answer: number, calls: number): Facts {
  if (answer !== answerOf(instance)) return infeasible("the answer is another number");
  return { kind: "feasible", objective: Math.max(calls, fewestCalls(instance)) };
}

export function verify(instance: LedgerInstance, answer: number): Facts {
  return factsOf(instance, answer, 1);
}

/** Changes that transfers have made to balances so far, by the index of the account. */
type Changes = ReadonlyMap<number, number>;

function changesOf({ accounts, changes }: LedgerState): Changes {
  return new Map(accounts.map((place, i) => [place, changes[i] ?? 0]));
}

/** Returns whether the balances have changed exactly as the task asks. */
function areAsAsked(instance: LedgerInstance, changes: Changes): boolean {
  const { payer } = instance;
  if (payer === undefined) return changes.size === 0;
  const sum = sumOf(instance);
  return changes.size === 2 && changes.get(payer) === -sum && changes.get(debtorOf(instance)) === sum;
}

/** Reply to a call that only reads: ids or a row as JSON, or the reason why the call cannot be carried out. */
type Reply = string;

const COLUMNS: Readonly<Record<Table, readonly [needed: string, ...optional: string[]]>> = {
  customers: ["name", "city"],
  accounts: ["owner"],
  orders: ["customer", "status"],
};

function isTable(name: unknown): name is Table {
  return typeof name === "string" && Object.hasOwn(COLUMNS, name);
}

const NO_TABLE = "The argument 'table' must be customers, accounts or orders.";

function find(instance: LedgerInstance, table: unknown, where: unknown): Reply {
  if (!isTable(table)) return NO_TABLE;
  const [needed, ...optional] = COLUMNS[table];
  const columns = [needed, ...optional];
  const given = typeof where === "object" && where !== null ? Object.entries(where) : [];
  const isRead = given.every(([column, value]) => columns.includes(column) && typeof value === "string");
  if (!isRead || !given.some(([column]) => column === needed)) {
    const more = optional.length === 0 ? "" : `, and may name ${optional.join(" and ")}`;
    return `The argument 'where' must be an object of texts. For ${table} it must name ${needed}${more}, and nothing else.`;
  }
  const rows = instance[table].map((_, place) => rowAt(instance, table, place));
  return JSON.stringify({
    ids: rows.filter((row) => given.every(([column, value]) => row[column] === value)).map(({ id }) => id),
  });
}

function get(instance: LedgerInstance, changes: Changes, table: unknown, id: unknown): Reply {
  if (!isTable(table)) return NO_TABLE;
  const place = placeOf(instance, table, id);
  if (place < 0) return `There is no row with this id in ${table}.`;
  const { balance, ...row } = rowAt(instance, table, place);
  if (typeof balance !== "number") return JSON.stringify(row);
  return JSON.stringify({ ...row, balance: balance + (changes.get(place) ?? 0) });
}

const AMOUNT_MAX = 9_999_999;

function transfer(
  instance: LedgerInstance,
  state: LedgerState,
  given: Readonly<Record<string, unknown>>,
): Advanced<LedgerState> {
  const [from, to] = [given["from"], given["to"]].map((id) => placeOf(instance, "accounts", id)) as [number, number];
  if (from < 0 || to < 0 || from === to)
    return { reply: "Nothing was transferred: 'from' and 'to' must be the ids of two accounts.", state };
  const amount = numberOf(given["amount"]);
  if (amount === undefined || amount < 1 || amount > AMOUNT_MAX)
    return { reply: `Nothing was transferred: 'amount' must be a whole number from 1 to ${AMOUNT_MAX}.`, state };
  const changes = new Map(changesOf(state));
  changes.set(from, (changes.get(from) ?? 0) - amount);
  changes.set(to, (changes.get(to) ?? 0) + amount);
  const kept = [...changes].filter(([, change]) => change !== 0);
  const next = create(schema, { accounts: kept.map(([place]) => place), changes: kept.map(([, change]) => change) });
  return { reply: JSON.stringify({ transferred: amount }), state: next };
}

/** Returns a whole number that is given as a number or as a text. Returns undefined for other values. */
function numberOf(value: unknown): number | undefined {
  const parsed = typeof value === "number" || typeof value === "string" ? parse(`${value}`) : undefined;
  return parsed?.kind === "answer" ? parsed.answer : undefined;
}

/** Ends the episode with an answer. If the answer cannot be read, the episode continues. */
function conclude(instance: LedgerInstance, state: LedgerState, number: number, value: unknown): Advanced<LedgerState> {
  const answer = numberOf(value);
  if (answer === undefined)
    return { reply: "The answer cannot be read: it must be a whole number of at most 9 digits.", state };
  const found = factsOf(instance, answer, number + 1);
  const isWrong = found.kind === "feasible" && !areAsAsked(instance, changesOf(state));
  const facts = isWrong ? infeasible("the balances of the accounts are not those that the task asks for") : found;
  return {
    reply: facts.kind === "feasible" ? "The task is solved." : "The task is not solved.",
    state,
    over: true,
    facts,
  };
}

function advance(instance: LedgerInstance, state: LedgerState, action: Action): Advanced<LedgerState> {
  if (action.kind === "answer") return conclude(instance, state, action.number, action.text);
  const given = action.arguments;
  switch (action.name) {
    case "find":
      return { reply: find(instance, given["table"], given["where"]), state };
    case "get":
      return { reply: get(instance, changesOf(state), given["table"], given["id"]), state };
    case "transfer":
      return transfer(instance, state, given);
    default:
      return conclude(instance, state, action.number, given["value"]);
  }
}

/** Maximum size of one changed balance in an encoded state, in bytes. */
const CHANGE_BYTES = 6;
/** Maximum size of an encoded state without its changed balances, in bytes. */
const STATE_BYTES = 8;

export const turns: Turns<LedgerInstance, typeof LedgerStateSchema> = {
  calls: 32,
  callsMax: 64,
  needsTools: true,
  tools,
  actionBytesMax: 512,
  schema,
  stateBytesMax: ({ customers = 0 }, calls) => STATE_BYTES + CHANGE_BYTES * Math.min(customers, 2 * calls),
  start: () => create(schema),
  advance,
};
