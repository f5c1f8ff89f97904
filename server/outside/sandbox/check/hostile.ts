/**
 * Types and makers of hostile programs: they try to escape, to exceed their limits, or to pass
 * without an answer.
 */
import type { PyValue, SandboxCase, SandboxResult, View } from "../../../../envs/ports.ts";

/** Things outside the sandbox that hostile programs attack. */
export interface Witnesses {
  /** A file that everybody may read; it holds the secret. */
  readonly secretFile: string;
  /** A folder that everybody may write to. */
  readonly folder: string;
  readonly secret: string;
  /** Id of a process of the same user. */
  readonly pid: number;
  /** A listening port on loopback. */
  readonly port: number;
}

export interface Hostile {
  /** Name of the attack, e.g. "a fork bomb". */
  readonly name: string;
  readonly program: string;
  readonly cases: (witnesses: Witnesses) => readonly SandboxCase[];
  readonly cpuMsMax: number;
  /** Returns what is wrong with the results; undefined if the program was contained. */
  readonly wrong: (results: readonly SandboxResult[], witnesses: Witnesses) => string | undefined;
}

export const CPU_MS_MAX = 500;

/** Common start of programs: `attempt` records each step that succeeds in `done`. */
const PRELUDE = String.raw`
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
done = []
def attempt(what, step):
    try:
        step()
    except BaseException:
        return
    done.append(what)
`;

const text = (value: string | number): PyValue => (typeof value === "number" ? { int: String(value) } : value);

/** Makes a program that returns the list of its successful attacks, which must be empty. */
export function reaching(name: string, tries: string): Hostile {
  return {
    name,
    program: `${PRELUDE}\n${tries}`,
    cases: ({ secretFile, folder, pid, port }) => [
      { kind: "call", name: "tries", args: [secretFile, folder, pid, port].map(text) },
    ],
    cpuMsMax: CPU_MS_MAX,
    wrong: ([result], { secret }) => {
      if (result === undefined || JSON.stringify(result).includes(secret)) return "it found the secret";
      // A program that is killed for its attack is contained.
      if (result.kind === "died") return undefined;
      if (result.kind === "returned" && Array.isArray(result.value))
        return result.value.length === 0 ? undefined : `it could do this: ${result.value.join(", ")}`;
      return `it came to ${shown(result)}`;
    },
  };
}

/** Makes a program whose script or call must exceed a limit, or end in one of `ends`. */
export function exceeding(
  name: string,
  program: string,
  ends: readonly SandboxResult["kind"][] = ["exceeded"],
  kind: SandboxCase["kind"] = "call",
  views: readonly View[] = [],
): Hostile {
  return {
    name,
    program,
    cases: () => [kind === "call" ? { kind, name: "tries", args: [], views } : { kind, stdin: "" }],
    cpuMsMax: CPU_MS_MAX,
    wrong: ([result]) =>
      result !== undefined && ends.includes(result.kind) ? undefined : `it came to ${shown(result)}`,
  };
}

/** Returns the expected result of `solve`, which programs do not know. */
export function rightAnswer(x: number): string {
  return String(x * 7919 + 104_729);
}

const ASKED = [3, 5, 8] as const;

/** Makes a program that has no answer and must not get a right result. */
export function forging(name: string, program: string, views: readonly View[] = []): Hostile {
  return {
    name,
    program,
    cases: () => ASKED.map((x) => ({ kind: "call", name: "solve", args: [{ int: String(x) }], views })),
    cpuMsMax: CPU_MS_MAX,
    wrong: (results) => {
      if (results.length !== ASKED.length) return `${results.length} results for ${ASKED.length} calls`;
      const right = results.findIndex(
        (result, i) => result.kind === "returned" && equalsInt(result.value, rightAnswer(ASKED[i] ?? 0)),
      );
      return right === -1 ? undefined : `call ${right + 1} was counted as right`;
    },
  };
}

function equalsInt(value: PyValue, int: string): boolean {
  return typeof value === "object" && value !== null && "int" in value && value.int === int;
}

export function shown(result: SandboxResult | undefined): string {
  return JSON.stringify(result ?? "nothing").slice(0, 200);
}
