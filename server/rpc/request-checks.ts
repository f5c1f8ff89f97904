/** Checks requests. An error names the field, its limit and the given value. */
import type { DescMessage, DescService } from "@bufbuild/protobuf";
import { type Duration, durationMs } from "@bufbuild/protobuf/wkt";
import type { RequestLimits } from "./deps.ts";
import { type Limit, LIMITS } from "../../proto/limits.ts";
import { callerName } from "../base/fair-turns.ts";
import type { Requester } from "../background/background-threads.ts";
import { type ChatMessage, TextTools, type ToolCall } from "../../proto/gen/gradus/v1/task_pb.js";
import type { GroupRef } from "../curriculum/feedback.ts";
import type { Completion, CompletionGroup } from "../../proto/gen/gradus/v1/environment_pb.js";
import { type CallContext, RpcError, type ServiceHandlers } from "../base/rpc.ts";

export function invalid(field: string, problem: string): RpcError {
  return new RpcError("INVALID_ARGUMENT", `${field}: ${problem}`, { field });
}

/** Returns the first of several errors, with the others attached (RpcError.others). */
export function several([first, ...rest]: readonly [RpcError, ...RpcError[]]): RpcError {
  const others = [...first.others, ...rest.flatMap((error) => [error, ...error.others])];
  if (rest.length === 0) return first;
  const { code, message, retryDelayMs, wait, field } = first;
  return new RpcError(code, message, {
    others,
    ...(retryDelayMs !== undefined && { retryDelayMs }),
    ...(wait && { wait }),
    ...(field !== undefined && { field }),
  });
}

/** Throws the first error with the others attached, if there are any errors. */
export function throwAll([first, ...others]: readonly RpcError[]): void {
  if (first !== undefined) throw several([first, ...others]);
}

/**
 * Returns a collector for reading the fields of a request one by one. It collects the errors of all fields, so that a
 * client sees more than the first.
 */
export function createProblemCollector() {
  const errors: RpcError[] = [];
  return {
    /** Returns what `read` returns, or `standIn` if `read` throws an RpcError, which is collected. */
    each: <T, S>(read: () => T, standIn: S): T | S => {
      try {
        return read();
      } catch (error) {
        if (!(error instanceof RpcError)) throw error;
        errors.push(error);
        return standIn;
      }
    },
    /** Adds errors that were found elsewhere. An error is skipped if its field already has one. */
    add: (more: readonly RpcError[]): void => {
      const fields = new Set(errors.flatMap((error) => [error, ...error.others]).map(({ field }) => field));
      errors.push(...more.filter(({ field }) => !fields.has(field)));
    },
    /** Returns the first error with all others attached. Undefined: there are none. */
    problem: (): RpcError | undefined => {
      const [first, ...rest] = errors;
      return first && several([first, ...rest]);
    },
  };
}

export function required<T>(value: T | undefined, field: string): T {
  if (value === undefined) throw invalid(field, "must be set");
  return value;
}

/** Throws if a text has more than `max` bytes in UTF-8. The error does not quote the text. */
export function checkBytes(text: string, max: number, field: string): string {
  const bytes = text.length * 3 <= max ? 0 : Buffer.byteLength(text);
  if (bytes > max) throw invalid(field, `must have at most ${max} bytes; got ${bytes}`);
  return text;
}

export function checkCount(count: number, max: number, field: string, min = 0): number {
  if (count > max) throw invalid(field, `must have at most ${max} entries; got ${count}`);
  if (count < min) throw invalid(field, `must have at least ${min} ${min === 1 ? "entry" : "entries"}; got ${count}`);
  return count;
}

export function checkRange(value: number, min: number, max: number, field: string): number {
  // The comparison is negated so that it also refuses NaN.
  if (!(value >= min && value <= max)) throw invalid(field, `must be from ${min} to ${max}; got ${value}`);
  return value;
}

/** Checks the form and the length of an id that a client chose. */
export function checkId(id: string, bytesMax: number, field: string, extra = ""): string {
  if (id === "") throw invalid(field, "must be set");
  checkBytes(id, bytesMax, field);
  const allowed = `a-z A-Z 0-9 . _ -${extra === "" ? "" : ` ${extra}`}`;
  for (const character of id)
    if (!/[a-zA-Z0-9._-]/.test(character) && !extra.includes(character))
      throw invalid(field, `must have no characters but ${allowed}; got '${character}'`);
  return id;
}

/** Converts a 64-bit integer of a message to a number. Throws above 2^53 − 1. */
export function toCount(value: bigint, field: string): number {
  if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw invalid(field, `must be at most 2^53 − 1; got ${value}`);
  return Number(value);
}

/** Maximum seconds of a protobuf Duration, about 10,000 years. */
const DURATION_SECONDS_MAX = 315_576_000_000n;
const NANOS_MAX = 999_999_999;

/**
 * Returns a duration in milliseconds. Throws if it is out of range or invalid; binary messages can contain durations
 * that JSON cannot express.
 */
export function checkDuration(duration: Duration, minMs: number, maxMs: number, field: string): number {
  const { seconds, nanos } = duration;
  const inRange = seconds >= 0n && seconds <= DURATION_SECONDS_MAX && nanos >= 0 && nanos <= NANOS_MAX;
  if (!inRange)
    throw invalid(field, `its seconds must be from 0 to ${DURATION_SECONDS_MAX} and its nanos from 0 to ${NANOS_MAX}`);
  const ms = durationMs(duration);
  if (ms < minMs || ms > maxMs) throw invalid(field, `must be from ${minMs} to ${maxMs} ms; got ${ms} ms`);
  return ms;
}

/** Checks each field of a request that has a limit in proto/limits.ts. */
function checkLimits({ fields }: DescMessage, limits: Readonly<Record<string, Limit>>, request: object): void {
  for (const { name, localName } of fields) {
    const limit = limits[name];
    const value = (request as Readonly<Record<string, unknown>>)[localName];
    if (limit === undefined || value === undefined) continue;
    const { max, default: byDefault, min = byDefault === undefined ? 0 : 1 } = limit;
    if (typeof value === "string") checkBytes(value, max, name);
    else if (Array.isArray(value)) checkCount(value.length, max, name, min);
    else if (typeof value === "object") checkDuration(value as Duration, 0, max, name);
    else if (value !== 0 || byDefault === undefined) checkRange(value as number, min, max, name);
  }
}

/** Wraps a service's handlers so that they refuse requests whose fields exceed the limits in proto/limits.ts. */
export function withLimits<Service extends DescService>(
  service: Service,
  handlers: ServiceHandlers<Service>,
): ServiceHandlers<Service> {
  const all: Readonly<Record<string, Readonly<Record<string, Limit>>>> = LIMITS;
  type Handler = (request: object, context: CallContext) => unknown;
  const limited = service.methods.flatMap(({ localName, input, methodKind }) => {
    const limits = all[input.name];
    if (limits === undefined || !["unary", "server_streaming"].includes(methodKind)) return [];
    const handle = (handlers as Readonly<Record<string, Handler>>)[localName] as Handler;
    const checked: Handler = (request, context) => {
      checkLimits(input, limits, request);
      return handle(request, context);
    };
    return [[localName, checked]];
  });
  return { ...handlers, ...(Object.fromEntries(limited) as ServiceHandlers<Service>) };
}

// The next functions check completions.

const TOKENS_MAX = LIMITS.Completion.tokens.max;

/**
 * Throws INVALID_ARGUMENT for malformed groups, e.g. too many. Problems of a single task or completion are reported in
 * its outcome instead.
 */
export function checkGroups(
  groups: readonly CompletionGroup[],
  limits: Pick<RequestLimits, "maxGroups" | "maxCompletions">,
): void {
  checkCount(groups.length, limits.maxGroups, "groups", 1);
  for (const [i, group] of groups.entries()) {
    checkBytes(group.groupId, LIMITS.CompletionGroup.group_id.max, `groups[${i}].group_id`);
    checkCount(group.completions.length, limits.maxCompletions, `groups[${i}].completions`, 1);
    checkDistinct(group.completions, `groups[${i}]`);
    for (const [j, completion] of group.completions.entries())
      checkCompletion(completion, `groups[${i}].completions[${j}].`);
  }
}

/** Does what `checkGroups` does, for the group that a StepRequest makes. Errors name the fields of the StepRequest. */
export function checkStep({ groupId, completions }: CompletionGroup): void {
  checkBytes(groupId, LIMITS.CompletionGroup.group_id.max, "group_id");
  for (const completion of completions) checkCompletion(completion, "");
}

function checkCompletion(completion: Completion, path: string): void {
  const { tokens = 0 } = completion;
  if (hasTurn(completion)) checkTurn(completion, path);
  if (tokens > TOKENS_MAX) checkRange(tokens, 0, TOKENS_MAX, `${path}tokens`);
}

function checkDistinct(completions: readonly Completion[], group: string): void {
  // In nearly all groups the completions are sorted. Checking this is fast, while a set costs as much as reading an
  // answer.
  const isSorted = completions.every(
    ({ sampleIndex, sampleKey }, j) =>
      sampleKey === "" && (j === 0 || (completions[j - 1] as Completion).sampleIndex < sampleIndex),
  );
  if (isSorted) return;
  const seen = new Set<number | string>();
  for (const [j, { sampleIndex, sampleKey }] of completions.entries()) {
    const field = sampleKey === "" ? "sample_index" : "sample_key";
    const sample = sampleKey === "" ? sampleIndex : sampleKey;
    if (seen.has(sample))
      throw invalid(`${group}.completions[${j}].${field}`, `${sample} belongs to two completions: give each its own`);
    seen.add(sample);
  }
}

/**
 * Returns whether a completion has any of the fields that `checkTurn` checks, e.g. tool calls. Most completions have
 * none, so the slow check is skipped.
 */
function hasTurn({ toolCalls, sampleKey, transcript, textTools }: Completion): boolean {
  return toolCalls.length > 0 || sampleKey !== "" || transcript.length > 0 || textTools !== TextTools.UNSPECIFIED;
}

/**
 * Returns whether a completion's text contains its tool calls, as <tool_call> tags (Hermes), so that the server reads
 * them there.
 */
export function isHermes({ textTools }: Pick<Completion, "textTools">): boolean {
  return textTools === TextTools.HERMES;
}

/** Maximum size of the messages of a transcript together, in bytes. */
export const TRANSCRIPT_BYTES_MAX = 256 * 1024;

/** Returns the size of a tool call's texts, in bytes of UTF-8. */
export function bytesOfCall({ id, name, argumentsJson }: ToolCall): number {
  return Buffer.byteLength(id) + Buffer.byteLength(name) + Buffer.byteLength(argumentsJson);
}

/** Returns the size of a message's texts, in bytes of UTF-8. An empty message counts as a byte. */
function bytesOfMessage({ role, content, toolCalls, toolCallId, name }: ChatMessage): number {
  const texts = [role, content, toolCallId, name].reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  return Math.max(1, texts + toolCalls.reduce((sum, call) => sum + Math.max(1, bytesOfCall(call)), 0));
}

/**
 * Checks the fields beside a completion's text. The policy model wrote the tool calls, so a wrong call is scored and
 * not refused.
 */
export function checkTurn(
  {
    toolCalls,
    sampleKey,
    transcript,
    textTools,
  }: Pick<Completion, "toolCalls" | "sampleKey" | "transcript" | "textTools">,
  at: string,
): void {
  if (TextTools[textTools] === undefined)
    throw invalid(`${at}text_tools`, `${textTools as number} is not a value of this enum`);
  const limits = LIMITS.Completion;
  checkCount(toolCalls.length, limits.tool_calls.max, `${at}tool_calls`);
  const { max } = LIMITS.ToolCall.id;
  for (const [i, { id }] of toolCalls.entries())
    if (3 * id.length > max) checkBytes(id, max, `${at}tool_calls[${i}].id`);
  checkBytes(sampleKey, limits.sample_key.max, `${at}sample_key`);
  const bytes = transcript.reduce((sum, message) => sum + bytesOfMessage(message), 0);
  if (bytes > TRANSCRIPT_BYTES_MAX)
    throw invalid(`${at}transcript`, `must have at most ${TRANSCRIPT_BYTES_MAX} bytes of texts; got ${bytes}`);
}

// Functions for lists that are returned page by page. A page token is the key after which the next page begins.

export interface PageRequest {
  readonly pageSize: number;
  readonly pageToken: string;
}

export interface Page {
  readonly size: number;
  /** Key of the last item of the previous page. Undefined: this is the first page. */
  readonly after: string | undefined;
}

const TOKEN_BYTES_MAX = 512;

export function readPage(request: PageRequest, limit: { readonly default: number; readonly max: number }): Page {
  checkBytes(request.pageToken, TOKEN_BYTES_MAX, "page_token");
  const size = request.pageSize === 0 ? limit.default : checkRange(request.pageSize, 1, limit.max, "page_size");
  if (request.pageToken === "") return { size, after: undefined };
  const after = Buffer.from(request.pageToken, "base64url").toString();
  if (pageToken(after) !== request.pageToken)
    throw invalid("page_token", "this server did not issue it: give back next_page_token unchanged");
  return { size, after };
}

/**
 * Returns the whole numbers that a page token contains, or [] for the first page. Throws if there are not `length`
 * numbers.
 */
export function readPlace(after: string | undefined, length: number): readonly number[] {
  if (after === undefined) return [];
  const numbers = after.split(" ").map(Number);
  if (numbers.length === length && numbers.every((each) => Number.isSafeInteger(each) && each >= 0)) return numbers;
  throw invalid("page_token", "this server did not issue it: give back next_page_token unchanged");
}

/** Returns the token of the next page. Empty: there is no further page. */
export function pageToken(after: string | number | undefined): string {
  return after === undefined ? "" : Buffer.from(String(after)).toString("base64url");
}

/** Returns one page of a list that is sorted by its items' keys. */
export function pageOf<T>(items: readonly T[], keyOf: (item: T) => string, page: Page) {
  const start = page.after === undefined ? 0 : items.findIndex((item) => keyOf(item) > (page.after ?? ""));
  const rest = start < 0 ? [] : items.slice(start);
  const shown = rest.slice(0, page.size);
  const last = shown.at(-1);
  return {
    items: shown,
    nextPageToken: pageToken(rest.length > shown.length && last !== undefined ? keyOf(last) : undefined),
  };
}

// The next functions read ids of runs and groups, and the caller of a request.

export function readRunId({ runId }: { readonly runId: string }): string {
  return checkId(runId, LIMITS.CreateRunRequest.run_id.max, "run_id");
}

/** Reads a group id, as runGroupId writes it. Throws if the group is not of this run. */
export function readGroupId(groupId: string, runId: string, field: string): GroupRef {
  checkBytes(groupId, LIMITS.CompletionGroup.group_id.max, field);
  const [run, incarnation = "", cursor = "", ...rest] = groupId.split("/");
  if (run === runId && cursor === "e")
    throw invalid(
      field,
      "it is a group of an evaluation arm, and only groups of training arms can be used here: leave it out",
    );
  if (run !== runId || rest.length > 0 || !/^\d{1,16}$/.test(cursor))
    throw invalid(field, `it is not a group of run '${runId}': give back the task's group_id`);
  return { incarnation, cursor: Number(cursor) };
}

/** Returns for whom tasks are made and background jobs run: the caller's name and its abort signal. */
export function requesterOf({ caller, peer, signal }: CallContext): Requester {
  return { caller: callerName(caller, peer), signal };
}
