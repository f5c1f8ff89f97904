/** Writes answers to OpenReward's client as server-sent events. */
import type { ServerResponse } from "node:http";
import { RpcError } from "../../../base/rpc.ts";

/** Interval of the comments that tell a waiting client that its call goes on, in milliseconds. */
const COMMENT_MS = 10_000;
/** Maximum number of characters of one event. Clients read lines of up to 64 KiB. */
const EVENT_LENGTH_MAX = 16 * 1024;

export function beginEvents(response: ServerResponse): void {
  response.writeHead(200, {
    "content-type": "text/event-stream",
    "cache-control": "no-cache",
    "x-accel-buffering": "no",
  });
}

export const event = (name: string, data: string): string => `event: ${name}\ndata: ${data}\n\n`;

/**
 * Does some work, and sends its result as events. If the work fails before any event was sent, the promise rejects, and
 * the HTTP status tells the client whether to retry. Work longer than `commentMs` begins the answer with comments; its
 * failure is then sent as an event.
 */
export async function streamed(
  response: ServerResponse,
  work: (onNumber: (number: number) => void) => Promise<string>,
  commentMs = COMMENT_MS,
): Promise<undefined> {
  let number: number | undefined;
  let isNumbered = false;
  const begin = (): void => {
    if (!response.headersSent) beginEvents(response);
    if (number !== undefined && !isNumbered) {
      response.write(event("task_id", `${number}`));
      isNumbered = true;
    }
  };
  const comments = setInterval(() => {
    if (response.closed) return;
    begin();
    response.write(": the call goes on\n\n");
  }, commentMs);
  try {
    const pieces = piecesOf(await work((given) => (number = given)));
    if (response.closed) return;
    begin();
    pieces.forEach((piece, i) => response.write(event(i === pieces.length - 1 ? "end" : "chunk", piece)));
    response.end();
  } catch (error) {
    if (!response.headersSent) throw error;
    response.end(event("error", error instanceof RpcError ? error.message : "internal error"));
    throw error;
  } finally {
    clearInterval(comments);
  }
}

/**
 * Cuts a JSON text into pieces for events. Clients remove white space, also non-ASCII, from the beginning of each
 * piece. So non-ASCII characters and leading spaces are escaped.
 */
function piecesOf(json: string): readonly string[] {
  const ascii = json.replaceAll(/[^\0-~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
  const count = Math.ceil(ascii.length / EVENT_LENGTH_MAX);
  const pieces = Array.from({ length: count }, (_, i) => ascii.slice(i * EVENT_LENGTH_MAX, (i + 1) * EVENT_LENGTH_MAX));
  return pieces.map((piece) => piece.replace(/^ +/, (spaces) => "\\u0020".repeat(spaces.length)));
}
