/** The tool `python`: runs a program of the policy in the sandbox, and returns what it prints. */
import { sandbox } from "../code/sandbox.ts";
import { type Failed, unavailable } from "../facts.ts";
import { assertNever } from "../lib/assert-never.ts";
import { escapedLines } from "../lib/escape.ts";
import { clipUtf8 } from "../lib/text.ts";
import type { SandboxResult } from "../ports.ts";
import type { VerifyContext } from "../resource.ts";
import type { TryTool } from "../turns/tries.ts";

/** Maximum processor time of a program, in milliseconds. */
const CPU_MS_MAX = 4000;
/** Maximum size of a reply, in bytes of UTF-8. */
const REPLY_BYTES_MAX = 4096;

export const python = {
  name: "python",
  description: `Runs a Python 3 program without network and files for up to ${CPU_MS_MAX / 1000} seconds. Returns what it prints. Nothing is kept between calls.`,
  parameters: {
    type: "object",
    properties: { code: { type: "string", description: "The whole program. It must print its results." } },
    required: ["code"],
  },
  resource: sandbox,
  reply({ code }: Readonly<Record<string, unknown>>) {
    if (typeof code !== "string") return "The argument 'code' must be a text.";
    return (context: VerifyContext) => run(code, context);
  },
} as const satisfies TryTool;

async function run(program: string, context: VerifyContext): Promise<string | Failed> {
  const port = context.ports.sandbox;
  if (port === undefined)
    return unavailable(
      "sandbox",
      "this server has no sandbox to run programs in: run gradus doctor on its machine to see why",
      { retryable: false },
    );
  const job = { program, cases: [{ kind: "script", stdin: "" }], cpuMsMax: CPU_MS_MAX } as const;
  const reply = await port.ask(job, context);
  if (reply.kind === "failed") return reply;
  const [result] = reply.results;
  if (result === undefined) return unavailable("sandbox", "the sandbox gave no result of a program");
  return wordsOf(result);
}

/**
 * Returns the result of a program in words. The policy is to blame if its program fails, so a failure is a normal
 * reply.
 */
function wordsOf(result: SandboxResult): string {
  switch (result.kind) {
    case "printed":
      return result.stdout.trim() === "" ? "The program printed nothing." : clipped(result.stdout);
    case "raised":
      return clipped(`The program failed: ${result.error}`);
    case "unusable":
      return clipped(`The program failed: it ${result.why}`);
    case "exceeded":
      return clipped(`The program was stopped: it took ${result.limit}.`);
    case "died":
      return clipped(`The program ended early: ${result.how}`);
    case "returned":
      return "The program printed nothing.";
    default:
      return assertNever(result);
  }
}

/** Returns the beginning of a text that a program wrote, without control characters. */
function clipped(text: string): string {
  const shown = clipUtf8(escapedLines(text.trimEnd()), REPLY_BYTES_MAX);
  return shown.length < text.trimEnd().length ? `${shown}\n… (the rest is left out)` : shown;
}
