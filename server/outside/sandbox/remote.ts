/**
 * Runs programs in a sandbox on another machine, which offers SandboxFusion's `POST /run_code`. Scripts are sent
 * unchanged. For function calls, a driver in the same process as the program makes the calls, and prints one result per
 * line.
 *
 * A program can print such lines too, but only change its own result: expected values stay on this machine. Errors of
 * the remote server never count against the program.
 */
import { readFileSync } from "node:fs";
import PQueue from "p-queue";
import { type Failed, unavailable } from "../../../envs/facts.ts";
import {
  type AskContext,
  ROOM,
  type Sandbox,
  type SandboxCase,
  type SandboxJob,
  type SandboxReply,
  type SandboxResult,
} from "../../../envs/ports.ts";
import { type Posted, postJson, type PostOptions } from "./post-json.ts";
import { resultOfReply } from "./read-results.ts";
import { PARTS_MAX, type ValueBudget } from "../../../envs/lib/python-values.ts";

export interface RemoteOptions {
  /** URL of the server, e.g. "http://localhost:8080". */
  readonly url: string;
  /** Maximum number of jobs that run at the same time. */
  readonly concurrency: number;
  /** Returns headers to add to each request, e.g. for tracing. Defaults to none. */
  readonly headers?: () => Readonly<Record<string, string>>;
}

/** Result of one request to the remote server. */
interface Run {
  readonly kind: "run";
  /** Duration of the run in seconds, as the remote server reports it. */
  readonly seconds: number;
  readonly timedOut: boolean;
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

const sourceOf = (name: string): string => readFileSync(new URL(`python/${name}`, import.meta.url), "utf8");
/** Python source of the driver. It contains runner.py, which it loads first. */
const DRIVER = `import base64, sys, types
sys.modules["runner"] = types.ModuleType("runner")
exec(base64.b64decode("${Buffer.from(sourceOf("runner.py")).toString("base64")}"), sys.modules["runner"].__dict__)
${sourceOf("driver.py")}`;
/**
 * Number of a job's test cases in which a program may die or exceed a limit. Then the remaining cases are not run, as
 * in python/serve.py.
 */
const BROKEN_MAX = 3;
/** Maximum memory of a program in MiB, as in python/child.py. */
const MEMORY_MIB_MAX = 768;
/** Elapsed time that the remote server allows a program, as a multiple of the program's limit of processor time. */
const CLOCK_FACTOR = 2;
/** Seconds of elapsed time that a program may take in addition to CLOCK_FACTOR times its processor time limit. */
const CLOCK_SECONDS_MORE = 2;
/**
 * Time limit of all test cases of a job together, as a multiple of the limit of one case. The same value is in
 * python/time_limit.py.
 */
const JOB_FACTOR = 10;
/** Milliseconds that sending a request and receiving its reply may take, in addition to the program's own time. */
const TRANSPORT_MS_MAX = 30_000;
/** Maximum characters of output that are accepted from the remote server. */
const OUTPUT_LENGTH_MAX = ROOM.outputBytesMax;

export function createRemote({ url, concurrency, headers = () => ({}) }: RemoteOptions): Sandbox {
  const queue = new PQueue({ concurrency });
  const address = `${url.replace(/\/+$/, "").replace(/\/run_code$/, "")}/run_code`;
  return {
    // The headers are read before queueing, because the queue may start the job in the context of another request.
    ask: (job, context) => {
      const post: Post = (body, options) => postJson(address, body, { ...options, headers: sent });
      const sent = headers();
      return queue.add(() => runJob(post, job, context));
    },
  };
}

type Post = (body: unknown, options: Pick<PostOptions, "signal" | "timeoutMs">) => Promise<Posted>;

async function runJob(post: Post, job: SandboxJob, context: AskContext): Promise<SandboxReply | Failed> {
  const budget = { partsLeft: PARTS_MAX };
  const results: SandboxResult[] = [];
  const allSeconds = secondsOf(JOB_FACTOR * job.cpuMsMax);
  let secondsLeft = allSeconds;
  const request: Request = {
    job,
    budget,
    ask: async (code, stdin, seconds) => {
      const ran = await ask(post, code, stdin, Math.min(seconds, secondsLeft), context);
      if (ran.kind === "run") secondsLeft -= ran.seconds;
      return ran;
    },
  };
  let broken = 0;
  while (results.length < job.cases.length) {
    const left = job.cases.slice(results.length);
    const more = left[0]?.kind === "script" ? await runScript(request, left[0]) : await runCalls(request, calls(left));
    if ("kind" in more) return more;
    results.push(...more);
    const last = results.at(-1);
    if (last?.kind === "exceeded" || last?.kind === "died") broken++;
    const end = secondsLeft <= 0 ? late(1000 * allSeconds, " for all tests together") : last;
    if (end !== undefined && (broken >= BROKEN_MAX || secondsLeft <= 0))
      while (results.length < job.cases.length) results.push(end);
  }
  return { kind: "ran", results };
}

/** Data for running the test cases of one job on the remote server. */
interface Request {
  readonly job: SandboxJob;
  readonly budget: ValueBudget;
  /**
   * Runs code on the remote server for at most `seconds`, or for the time that is left to the whole job if that is
   * shorter.
   */
  readonly ask: (code: string, stdin: string, seconds: number) => Promise<Run | Failed>;
}

type Call = Extract<SandboxCase, { readonly kind: "call" }>;

/** Returns the function calls at the start of `cases`, up to the first script. */
function calls(cases: readonly SandboxCase[]): readonly Call[] {
  const end = cases.findIndex(({ kind }) => kind === "script");
  return (end === -1 ? cases : cases.slice(0, end)).filter((each) => each.kind === "call");
}

async function runScript(
  { job: { program, cpuMsMax }, ask: run }: Request,
  { stdin }: { readonly stdin: string },
): Promise<readonly SandboxResult[] | Failed> {
  const ran = await run(program, stdin, secondsOf(cpuMsMax));
  if (ran.kind === "failed") return ran;
  const { timedOut, status, stdout, stderr } = ran;
  if (timedOut) return [late(cpuMsMax)];
  if (stdout.length >= OUTPUT_LENGTH_MAX) return [TOO_MUCH];
  if (status === 0) return [{ kind: "printed", stdout }];
  if (status < 0 || status > 128) return [{ kind: "died", how: `it ended with status ${status}` }];
  return [{ kind: "raised", error: lastLine(stderr) ?? `an exit with status ${status}` }];
}

/**
 * Makes function calls in one remote process. Returns a result for the first call and for each further one that the
 * process reached.
 */
async function runCalls(
  { job: { program, cpuMsMax }, budget, ask: run }: Request,
  cases: readonly Call[],
): Promise<readonly SandboxResult[] | Failed> {
  const job = Buffer.from(JSON.stringify({ program, cases, cpuMsMax })).toString("base64");
  const ran = await run(`${DRIVER}\n\ndrive("${job}")\n`, "", secondsOf(cpuMsMax * cases.length));
  if (ran.kind === "failed") return ran;
  // The text after the last line break is dropped, because it is empty or a line that was cut off.
  const lines = ran.stdout.split("\n").slice(0, -1).slice(0, cases.length);
  const results = lines.map((line) => resultOfReply(line, "call", budget));
  const first = results.findIndex(({ kind }) => kind === "exceeded" || kind === "died");
  if (first !== -1) return results.slice(0, first + 1);
  if (results.length === cases.length) return results;
  if (ran.timedOut) return [...results, late(cpuMsMax)];
  if (ran.stdout.length >= OUTPUT_LENGTH_MAX) return [...results, TOO_MUCH];
  return [...results, { kind: "died", how: `it ended the process, with status ${ran.status}` }];
}

async function ask(
  post: Post,
  code: string,
  stdin: string,
  seconds: number,
  { signal }: AskContext,
): Promise<Run | Failed> {
  const body = { language: "python", code, stdin, run_timeout: seconds, memory_limit_MB: MEMORY_MIB_MAX };
  const startedAtMs = performance.now();
  const answer = await post(body, { signal, timeoutMs: seconds * 1000 + TRANSPORT_MS_MAX });
  if (answer.kind === "failed") {
    const failure = failed(answer.why, answer.again);
    return answer.timedOut ? { ...failure, reason: "timeout", resource: undefined } : failure;
  }
  return readAnswer(answer.json, (performance.now() - startedAtMs) / 1000);
}

function readAnswer(json: unknown, seconds: number): Run | Failed {
  const { status, message, run_result: result } = asRecord(json);
  if (status === "SandboxError") return failed(`the remote sandbox reports an error of its own: ${cut(message)}`);
  const { status: how, return_code: code, stdout, stderr, execution_time: took } = asRecord(result);
  const timedOut = how === "TimeLimitExceeded";
  if (!timedOut && (how !== "Finished" || typeof code !== "number"))
    return failed(`the remote sandbox does not report the program's result: ${cut(JSON.stringify(json))}`);
  const text = (value: unknown): string => (typeof value === "string" ? value : "");
  return {
    kind: "run",
    seconds: typeof took === "number" && took >= 0 ? took : seconds,
    timedOut,
    status: typeof code === "number" ? code : -1,
    stdout: text(stdout),
    stderr: text(stderr),
  };
}

const TOO_MUCH: SandboxResult = { kind: "exceeded", limit: "more than 1 MiB of output" };

function late(ms: number, of = ""): SandboxResult {
  return { kind: "exceeded", limit: `more than ${ms.toLocaleString("en-US")} ms${of}` };
}

function secondsOf(cpuMs: number): number {
  return (CLOCK_FACTOR * cpuMs) / 1000 + CLOCK_SECONDS_MORE;
}

function asRecord(json: unknown): Readonly<Record<string, unknown>> {
  return typeof json === "object" && json !== null ? (json as Readonly<Record<string, unknown>>) : {};
}

function cut(value: unknown): string {
  return (typeof value === "string" ? value : "").slice(0, 300);
}

function lastLine(text: string): string | undefined {
  return text.trim().split("\n").at(-1)?.slice(0, 500) || undefined;
}

function failed(why: string, retryable = true): Failed {
  return unavailable("sandbox", `the sandbox: ${why}`, { retryable });
}
