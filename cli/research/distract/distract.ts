/** Asks a teacher model for wrong options to questions, and checks that only one option is right. */
import PQueue from "p-queue";
import { setTimeout as sleep } from "node:timers/promises";
import type { Parsed } from "../../../envs/facts.ts";
import type { ChatMessage } from "../../../envs/prompt.ts";
import { askForOptions, askWhichAreRight, inOrder, readOptions, readRightPlaces } from "../../../envs/qa/distract.ts";
import { normalized } from "../../../envs/qa/match.ts";
import { rows } from "../../../envs/qa/question.ts";
import type { AskModel } from "../../../server/outside/chat-endpoint.ts";

export interface Account {
  /**
   * Number of requests to the teacher by their result: useful, unreadable, timeout, status (an HTTP error), or
   * connection.
   */
  readonly requests: Map<string, number>;
  /** Number of proposed options by result: accepted, or the reason for rejection. */
  readonly options: Map<string, number>;
  tokensIn: number;
  tokensOut: number;
  repliesWithoutUsage: number;
}

export function newAccount(): Account {
  return { requests: new Map(), options: new Map(), tokensIn: 0, tokensOut: 0, repliesWithoutUsage: 0 };
}

/** Result for a row: the row with its options, or the reason for its rejection. */
export type Distracted =
  { readonly kind: "row"; readonly row: object } | { readonly kind: "rejected"; readonly reason: string };

export interface DistractOptions {
  readonly ask: AskModel;
  /** Number of wrong options to ask for, in addition to those that the question has. */
  readonly count: number;
  readonly account: Account;
  readonly signal: AbortSignal;
}

/** Maximum number of times that the teacher (a model) is asked for the missing options of one question. */
const ROUNDS_MAX = 3;
const ATTEMPTS_MAX = 5;
const RETRY_MS = 1000;

/**
 * Error: the endpoint of the teacher, the model that proposes wrong options, cannot be used. Earlier results are kept.
 */
export class TeacherDown extends Error {}

function add(counts: Map<string, number>, name: string, count = 1): void {
  counts.set(name, (counts.get(name) ?? 0) + count);
}

const rejected = (reason: string): Distracted => ({ kind: "rejected", reason });

export async function distractRow(row: unknown, options: DistractOptions): Promise<Distracted> {
  const asked = questionOf(row);
  if (typeof asked === "string") return rejected(asked);
  const { question, right } = asked;
  let wrong = asked.wrong;
  const wanted = wrong.length + options.count;
  for (let round = 0; round < ROUNDS_MAX && wrong.length < wanted; round++) {
    const missing = wanted - wrong.length;
    const proposed = await request(options, askForOptions(question, right, wrong, missing), (text) =>
      readOptions(text, right, wrong, missing),
    );
    if (proposed === undefined) continue;
    for (const why of proposed.rejected) add(options.account.options, why);
    const shown = inOrder(question, [right, ...wrong, ...proposed.options]);
    const places = await request(options, askWhichAreRight(question, shown), (text) =>
      readRightPlaces(text, shown.length),
    );
    if (places === undefined) continue;
    if (!places.has(shown.indexOf(right))) return rejected("the teacher does not find the answer right");
    const alsoRight = new Set(shown.filter((option, place) => places.has(place) && option !== right));
    const given = asked.wrong.find((option) => alsoRight.has(option));
    if (given !== undefined) return rejected("the teacher finds another of the row's options right, too");
    const kept = proposed.options.filter((option) => !alsoRight.has(option));
    add(options.account.options, "accepted", kept.length);
    add(options.account.options, "also_right", proposed.options.length - kept.length);
    wrong = [...wrong.filter((option) => !alsoRight.has(option)), ...kept];
  }
  if (wrong.length < wanted) return rejected(`the teacher gave ${wrong.length} wrong options of ${wanted}`);
  return written(row as object, question, right, wrong);
}

function written(row: object, question: string, right: string, wrong: readonly string[]): Distracted {
  const options = inOrder(question, [right, ...wrong]);
  const letter = String.fromCharCode(65 + options.indexOf(right));
  const { answer_index: _, ...rest } = row as { readonly answer_index?: unknown };
  const made = { ...rest, options, answer: right, answer_letter: letter };
  const read = rows.read(made);
  return read.kind === "malformed" ? rejected(read.reason) : { kind: "row", row: made };
}

/** Returns the question, its right answer and its wrong ones, or a message that says what is wrong with the row. */
function questionOf(row: unknown) {
  if (typeof row !== "object" || row === null) return "a row is an object with question and answer";
  const { question, answer, options = [], answer_index: index } = row as Readonly<Record<string, unknown>>;
  if (typeof question !== "string" || question.trim() === "") return "column question must be a text";
  const given = options ?? [];
  if (!Array.isArray(given) || !given.every((option): option is string => typeof option === "string"))
    return "column options must be a list of texts";
  const texts: readonly string[] = given;
  const right = typeof index === "number" ? texts[index] : answer;
  if (typeof right !== "string" || normalized(right) === "") return "column answer must be a text";
  const wrong = texts.filter((option) => normalized(option) !== normalized(right) && option !== "N/A");
  return { question: question.trim(), right, wrong };
}

/** Asks the teacher, and retries after failures. Returns undefined if the reply cannot be read. */
async function request<T>(
  { ask, account, signal }: DistractOptions,
  prompt: readonly ChatMessage[],
  read: (text: string) => Parsed<T>,
): Promise<T | undefined> {
  for (let attempt = 1; ; attempt++) {
    const reply = await ask(prompt, signal);
    if (reply.kind === "reply") {
      if (reply.tokens === undefined) account.repliesWithoutUsage++;
      account.tokensIn += reply.tokens?.input ?? 0;
      account.tokensOut += reply.tokens?.output ?? 0;
      const parsed = read(reply.text);
      add(account.requests, parsed.kind === "answer" ? "useful" : "unreadable");
      return parsed.kind === "answer" ? parsed.answer : undefined;
    }
    add(account.requests, reply.why);
    if (signal.aborted || attempt >= ATTEMPTS_MAX || isHopeless(reply.status)) throw new TeacherDown(reply.message);
    await sleep(reply.retryDelayMs ?? RETRY_MS * attempt, undefined, { signal }).catch(() => undefined);
  }
}

/**
 * Returns whether retrying after an HTTP status is useless, because the key is unknown or the model does not exist.
 */
function isHopeless(status: number | undefined): boolean {
  return status === 401 || status === 403 || status === 404;
}

/** Processes rows concurrently. The first row for which the teacher cannot be reached stops all others. */
export async function distractAll(
  work: AsyncIterable<{ readonly row: number; readonly value: unknown }>,
  options: DistractOptions & { readonly concurrency: number },
  onDone: (row: number, result: Distracted) => void,
): Promise<void> {
  const queue = new PQueue({ concurrency: options.concurrency });
  const stop = new AbortController();
  const signal = AbortSignal.any([options.signal, stop.signal]);
  let failure: Error | undefined;
  for await (const { row, value } of work) {
    if (failure !== undefined) break;
    await queue.onSizeLessThan(options.concurrency);
    void queue.add(async () => {
      if (signal.aborted) return;
      try {
        onDone(row, await distractRow(value, { ...options, signal }));
      } catch (error) {
        failure ??= error instanceof Error ? error : new Error(String(error));
        stop.abort();
      }
    });
  }
  await queue.onIdle();
  if (failure !== undefined) throw failure;
}
