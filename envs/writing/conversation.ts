/** Reads rows of ShareGPT conversations. Conversations of a single turn are tasks (Omni-Thinker 5.1). */
import type { RowDefinition } from "../environment.ts";
import type { Parsed } from "../facts.ts";

/** A request, and the reference reply with which the judge compares the policy's text. */
export interface Conversation {
  /** Instructions before the request. Undefined if there are none. */
  readonly system: string | undefined;
  readonly request: string;
  readonly reference: string;
}

/**
 * Maximum size of a text, in bytes of UTF-8. It also limits tokens, because no tokenizer makes more tokens than bytes.
 */
export const TEXT_BYTES_MAX = 16_384;
/** Minimum number of letters in a reference or an answer. */
export const LETTERS_MIN = 12;

type Role = "system" | "user" | "assistant";

interface Turn {
  readonly role: Role;
  readonly text: string;
}

/** Role of a message by its name in ShareGPT, or in chat messages. */
const ROLES: Readonly<Record<string, Role>> = {
  system: "system",
  human: "user",
  user: "user",
  gpt: "assistant",
  assistant: "assistant",
  chatgpt: "assistant",
};

/** Names of a message's fields, by the column that holds the messages. */
const FIELDS = { conversations: ["from", "value"], messages: ["role", "content"] } as const;

const malformed = (reason: string) => ({ kind: "malformed", reason }) as const;

function read(row: unknown): Parsed<Conversation> {
  const columns = (row ?? {}) as Readonly<Record<string, unknown>>;
  const column = columns["conversations"] === undefined ? "messages" : "conversations";
  const given = columns[column];
  if (!Array.isArray(given)) return malformed("column conversations (or messages) must be a list of messages");
  // The length is checked first, because a conversation may have thousands of turns.
  if (given.length > 3)
    return malformed(`column ${column} has ${given.length} messages: a row must be a single turn, which has at most 3`);
  const turns: Turn[] = [];
  for (const [i, message] of given.entries()) {
    const turn = readTurn(message, column, `${column}[${i}]`);
    if (turn.kind === "malformed") return turn;
    turns.push(turn.answer);
  }
  return conversationOf(turns, column);
}

function readTurn(message: unknown, column: keyof typeof FIELDS, at: string): Parsed<Turn> {
  const [from, value] = FIELDS[column];
  const fields = (message ?? {}) as Readonly<Record<string, unknown>>;
  const name = fields[from];
  const role = typeof name === "string" && Object.hasOwn(ROLES, name) ? ROLES[name] : undefined;
  if (role === undefined) return malformed(`column ${at}.${from} must be one of ${Object.keys(ROLES).join(", ")}`);
  const text = fields[value];
  if (typeof text !== "string") return malformed(`column ${at}.${value} must be a text`);
  if (isTooLong(text)) return malformed(`column ${at}.${value} has more than ${TEXT_BYTES_MAX} bytes of UTF-8`);
  return { kind: "answer", answer: { role, text: text.trim() } };
}

function conversationOf(turns: readonly Turn[], column: string): Parsed<Conversation> {
  const system = turns[0]?.role === "system" ? turns[0].text : undefined;
  const [request, reply, ...more] = system === undefined ? turns : turns.slice(1);
  if (request?.role !== "user" || reply?.role !== "assistant" || more.length > 0)
    return malformed(`column ${column} must be a request and its reply, with at most one system message before them`);
  if (request.text === "") return malformed(`column ${column}: the request is empty`);
  if (!hasLetters(reply.text, LETTERS_MIN))
    return malformed(`column ${column}: the reply has fewer than ${LETTERS_MIN} letters`);
  const before = system === "" ? undefined : system;
  return { kind: "answer", answer: { system: before, request: request.text, reference: reply.text } };
}

const encoder = new TextEncoder();

export function isTooLong(text: string): boolean {
  return text.length > TEXT_BYTES_MAX || encoder.encode(text).length > TEXT_BYTES_MAX;
}

/** Returns whether a text has at least `count` visible letters of any script. Reads no further than needed. */
export function hasLetters(text: string, count: number): boolean {
  const letter = /[\p{L}--\p{Default_Ignorable_Code_Point}]/gv;
  for (let found = 0; found < count; found++) if (!letter.test(text)) return false;
  return true;
}

/** Returns a key that is equal for texts that differ only in case and white space. */
export function folded(text: string): string {
  return text.normalize("NFKC").toLowerCase().replaceAll(/\s+/g, " ").trim();
}

export const rows: RowDefinition<Conversation> = {
  read,
  columns: ["conversations", "messages"],
  defaultPool: { name: "writing", file: new URL("./pool.jsonl", import.meta.url) },
};
