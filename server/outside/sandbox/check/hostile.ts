/**
 * Types of hostile programs, and functions to make them. The programs try to leave the sandbox, to exceed its limits,
 * or to pass tests without an answer.
 */
import type { PyValue, SandboxCase, SandboxResult, View } from "../../../../envs/ports.ts";

/** Files, ports and processes outside the sandbox, which hostile programs try to reach. */
export interface Witnesses {
  /** Path of a file that every user may read and write. It contains `secret`. */
  readonly secretFile: string;
  /** Path of a folder that every user may write to. */
  readonly folder: string;
  readonly secret: string;
  /** Id of the process that runs the check, which no program in the sandbox may reach. */
  readonly pid: number;
  /** Number of a listening TCP port on 127.0.0.1. */
  readonly port: number;
}

export interface Hostile {
  /** Name of the attack, e.g. "a fork bomb". */
  readonly name: string;
  readonly program: string;
  readonly cases: (witnesses: Witnesses) => readonly SandboxCase[];
  readonly cpuMsMax: number;
  /** Returns how the program escaped, in words. Undefined: the results show that it was contained. */
  readonly wrong: (results: readonly SandboxResult[], witnesses: Witnesses) => string | undefined;
}

export const CPU_MS_MAX = 500;

/**
 * Python code at the start of each hostile program: `attempt` runs one attack, and adds its name to `done` if it
 * succeeds.
 */
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

/**
 * Makes a program that tries several attacks, and returns the names of those that succeeded. The program is contained
 * if it returns an empty list.
 */
export function reaching(name: string, tries: string): Hostile {
  return {
    name,
    program: `${PRELUDE}\n${tries}`,
    cases: ({ secretFile, folder, pid, port }) => [
      { kind: "call", name: "tries", args: [secretFile, folder, pid, port].map(text) },
    ],
    cpuMsMax: CPU_MS_MAX,
    wrong: ([result], { secret }) => {
      if (result === undefined || JSON.stringify(result).includes(secret)) return "it read a secret file";
      // A program that was killed because of its attack counts as contained.
      if (result.kind === "died") return undefined;
      if (result.kind === "returned" && Array.isArray(result.value))
        return result.value.length === 0 ? undefined : `it could do this: ${result.value.join(", ")}`;
      return `it had the unexpected result ${shown(result)}`;
    },
  };
}

/** Makes a program that tries to exceed a limit. It is contained if the result is of a kind in `ends`. */
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
      result !== undefined && ends.includes(result.kind) ? undefined : `it had the unexpected result ${shown(result)}`,
  };
}

/** Returns the right result of `solve(x)`, which the hostile programs do not know. */
export function rightAnswer(x: number): string {
  return String(x * 7919 + 104_729);
}

const ASKED = [3, 5, 8] as const;

/** Makes a program that cannot compute `solve`, and tries to get its results counted as right. */
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
