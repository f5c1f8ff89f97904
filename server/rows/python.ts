/** Lets a sandbox parse the Python code in a pool's rows, which is needed to read these rows. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Failed } from "../../envs/facts.ts";
import type { Sandbox } from "../../envs/ports.ts";
import { readTexts } from "../outside/sandbox/read-python-tests.ts";
import type { OpenPorts } from "./checks.ts";

/** Maximum number of texts in one sandbox job. With many texts, starting the job costs little per text. */
const TEXTS_MAX = 64;
/** Maximum number of characters of all texts in one sandbox job. */
const CHARACTERS_MAX = 4 << 20;

/** Maximum time of one sandbox job, in milliseconds. */
const TIME_LIMIT_MS = 300_000;
/** Delay before a failed job is tried once more, in milliseconds. */
const RETRY_DELAY_MS = 2000;

/** Returns what the sandbox found in each text, or a message that says why the texts could not be parsed. */
export async function readPython(texts: readonly string[], openPorts: OpenPorts): Promise<readonly string[] | string> {
  const { ports, missing } = await openPorts();
  const { sandbox } = ports;
  if (sandbox === undefined) return `${WANTED}: ${missing.sandbox ?? "there is no sandbox"}`;
  const read = await Promise.all(batchesOf(texts).map((batch) => readTwice(sandbox, batch)));
  const failed = read.find((each) => "kind" in each);
  if (failed !== undefined) return `${WANTED}: ${failed.reason}: ${failed.detail}`;
  return read.flatMap((each) => ("kind" in each ? [] : each));
}

const WANTED = "its rows have tests in Python, which only a sandbox reads";

function batchesOf(texts: readonly string[]): readonly (readonly string[])[] {
  const batches: string[][] = [];
  let characters = Infinity;
  for (const text of texts) {
    characters += text.length;
    if (characters > CHARACTERS_MAX || batches.at(-1)?.length === TEXTS_MAX) {
      batches.push([]);
      characters = text.length;
    }
    batches.at(-1)?.push(text);
  }
  return batches;
}

/** Runs a sandbox job. If the failure may be temporary, tries once more. */
async function readTwice(sandbox: Sandbox, texts: readonly string[]): Promise<readonly string[] | Failed> {
  const first = await readOnce(sandbox, texts);
  if (!("kind" in first) || !first.retryable) return first;
  await sleep(Math.min(first.retryDelayMs ?? RETRY_DELAY_MS, RETRY_DELAY_MS));
  return readOnce(sandbox, texts);
}

function readOnce(sandbox: Sandbox, texts: readonly string[]): Promise<readonly string[] | Failed> {
  return readTexts(sandbox, texts, {
    signal: AbortSignal.timeout(TIME_LIMIT_MS),
    deadlineMs: Date.now() + TIME_LIMIT_MS,
  });
}
