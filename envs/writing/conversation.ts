/** Rows of ShareGPT conversations, of which those of a single turn are tasks (Omni-Thinker 5.1). */
import type { RowDefinition } from "../environment.ts";
import type { Parsed } from "../facts.ts";

/** What is asked for, and a reply that was given, which candidates are held against. */
export interface Conversation {
  /** Instructions that go before; undefined: none. */
  readonly system: string | undefined;
  readonly request: string;
  readonly reference: string;
}

/** Of one text, in UTF-8: no tokenizer makes more tokens of it, so that no text makes a prompt that is too long. */
export const TEXT_BYTES_MAX = 16_384;
/** Letters that a text must have to be one. */
export const LETTERS_MIN = 12;

type Role = "system" | "user" | "assistant";

interface Turn {
  readonly role: Role;
  readonly text: string;
}

/** ShareGPT's names, and those of chat messages. */
const ROLES: Readonly<Record<string, Role>> = {
  system: "system",
  human: "user",
  user: "user",
  gpt: "assistant",
  assistant: "assistant",
  chatgpt: "assistant",
};

/** The names of a message's fields, for each name of the column that holds them. */
const FIELDS = { conversations: ["from", "value"], messages: ["role", "content"] } as const;

const malformed = (reason: string) => ({ kind: "malformed", reason }) as const;

function read(row: unknown): Parsed<Conversation> {
  const columns = (row ?? {}) as Readonly<Record<string, unknown>>;
  const column = columns["conversations"] === undefined ? "messages" : "conversations";
  const given = columns[column];
  if (!Array.isArray(given)) return malformed("column conversations must be a list of messages, and is none");
  // The length first: a conversation may have thousands of turns.
  if (given.length > 3) return malformed(`column ${column} has ${given.length} messages: one turn has at most 3`);
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
    return malformed(`column ${column} must be a request and a reply, with a system message before them or none`);
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

/** Whether a text has so many letters that are seen, of any script; reads no further than that. */
export function hasLetters(text: string, count: number): boolean {
  const letter = /[\p{L}--\p{Default_Ignorable_Code_Point}]/gv;
  for (let found = 0; found < count; found++) if (!letter.test(text)) return false;
  return true;
}

/** The same for texts that differ in no more than case and white space. */
export function folded(text: string): string {
  return text.normalize("NFKC").toLowerCase().replaceAll(/\s+/g, " ").trim();
}

export const rows: RowDefinition<Conversation> = {
  read,
  columns: ["conversations", "messages"],
  defaultPool: { name: "writing", file: new URL("./pool.jsonl", import.meta.url) },
};
