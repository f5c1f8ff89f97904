/**
 * `gradus env`: writes and checks environments in Python. The Python package's `gradus.serve` does the work, in the
 * interpreter that has it installed.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";
import { type Command, Option } from "commander";
import { changeBetween } from "../../server/outside/mounted/read-description.ts";
import { openLocal } from "../../server/outside/mounted/local-provider.ts";
import type { Provider } from "../../server/outside/mounted/provider.ts";
import { readAllowed } from "../../server/outside/mounted/mount-options.ts";
import { findPython, withoutPackage } from "../../server/outside/sandbox/find-python.ts";
import { createBar } from "../bar.ts";
import { fail, type ClauseResult } from "../conformance/clause.ts";
import { conformProvider, isChosen, levelWords, type ProviderChoice } from "../conformance/conform.ts";
import { tryVerifier } from "../conformance/verifier-rules.ts";
import { note } from "../notes.ts";
import { CliProblem } from "../problem.ts";
import { wholeNumber } from "../task-options.ts";
import { report } from "./conformance.ts";

interface Flags {
  readonly python: string;
}

interface CheckFlags extends Flags {
  readonly level?: readonly string[];
  readonly seeds: number;
  readonly timeLimit: number;
  readonly allow?: readonly string[];
  readonly json?: boolean;
}

/** Time in milliseconds after which a note says that the environments are still being loaded. */
const QUIET_MS = 2000;
const MEMORY_MIB = 1024;

const pythonOption = (): Option =>
  new Option("--python <file>", "the Python that has Gradus's package and the environment's dependencies")
    .env("GRADUS_PYTHON")
    .default("python3");

export function addEnv(program: Command): void {
  const env = program.command("env");
  env
    .command("new")
    .description("write a first environment as a starting point")
    .argument("<file>", "e.g. my_env.py")
    .addOption(pythonOption())
    .action((file: string, { python }: Flags) => write(python, file));
  env
    .command("check")
    .description(
      "check the laws of environments, level by level; exit code 1 if a law is broken or anything is left out",
    )
    .argument(
      "<target>",
      "a Python file, or rlve-gym[:names], reasoning-core[:names], reasoning-gym[:names], verifiers:name, nemo-gym:address, openenv:address, ors:address",
    )
    .option("--level <name...>", "only these levels")
    .option("--seeds <count>", "how many tasks of each level are made", wholeNumber(1, 256), 8)
    .option(
      "--time-limit <seconds>",
      "leave out the levels that are not tried within this time",
      wholeNumber(1, 1_000_000),
      600,
    )
    .option("--allow <what...>", "what it may access besides its own folder and packages: read=PATH, net=HOST")
    .option("--json", "print JSON")
    .addOption(pythonOption())
    .action((target: string, flags: CheckFlags) => check(target, flags));
}

/**
 * Tries every rule on the environments of a Python file or library (`target`), and prints the results. Two processes
 * serve the environments, because some rules need a fresh process.
 */
async function check(target: string, flags: CheckFlags): Promise<void> {
  const { level: levels = [], seeds, timeLimit, json = false } = flags;
  const signal = AbortSignal.timeout(timeLimit * 1000);
  const loading = setTimeout(() => note(`loading ${target}, and trying its levels …`), QUIET_MS);
  const hosts = await openHosts(target, flags).finally(() => clearTimeout(loading));
  try {
    const late = `the time limit of ${timeLimit} s (--time-limit) was reached`;
    await report(tried(hosts, { levels, seeds, signal }, late), json, (count) => `${target} breaks ${count} rules`);
  } finally {
    await Promise.all(hosts.map((host) => host.close()));
  }
}

type Hosts = readonly [first: Provider, second: Provider];

async function openHosts(target: string, { python, allow = [] }: CheckFlags): Promise<Hosts> {
  const found = await findPython(python);
  if (found.kind === "missing") throw new CliProblem("failure", found.why);
  const allowed = allow.flatMap((each) => {
    const read = readAllowed(each);
    if (read.kind === "refused") throw new CliProblem("usage", `--allow must be ${read.expected}; got '${each}'`);
    return read.value;
  });
  const what = (kind: "read" | "net") => allowed.filter((each) => each.kind === kind).map((each) => each.what);
  const options = {
    python,
    target: target.endsWith(".py") ? resolve(target) : target,
    // Use one worker process, so that all answers are verified in the same process. The rules then find a verifier that
    // remembers earlier answers.
    workers: 1,
    memoryMib: MEMORY_MIB,
    allow: { read: what("read"), net: what("net") },
    onFault: () => undefined,
  };
  const [first, second] = await Promise.all([openLocal(options), openLocal(options)]);
  if (first.kind === "opened" && second.kind === "opened") return [first.provider, second.provider];
  for (const each of [first, second]) if (each.kind === "opened") await each.provider.close();
  const why = first.kind === "failed" ? first.why : second.kind === "failed" ? second.why : "";
  throw new CliProblem("failure", why.includes("No module named 'gradus'") ? withoutPackage(python) : why);
}

/**
 * Tries the rules in the first process, or in the second if a rule asks for a fresh process. A level that is not served
 * or not tried is a failure.
 */
async function* tried(
  [first, second]: Hosts,
  choice: Omit<ProviderChoice, "environments">,
  late: string,
): AsyncGenerator<ClauseResult> {
  const { described } = first;
  const provider: Provider = {
    ...first,
    probe: async () => changeBetween(described, second.described),
    generate: (asked, seeds, options) => (options.fresh === true ? second : first).generate(asked, seeds, options),
    verify: (asked, answer, options) => (options.fresh === true ? second : first).verify(asked, answer, options),
  };
  const left = new Set(
    described.environments.flatMap(({ id, levels }) =>
      levels.filter(({ name }) => isChosen(name, choice)).map(({ name }) => levelWords(id, name)),
    ),
  );
  if (left.size === 0) throw new CliProblem("missing", `--level: there is no level '${choice.levels?.join("', '")}'`);
  const bar = createBar({
    done: 0,
    total: left.size,
    format: "{bar} {value} of {total} levels, {what}, {left}",
    payload: { what: "" },
  });
  const found: ClauseResult[] = [];
  const onLevel = (name: string): void => {
    left.delete(name);
    bar.update(1);
  };
  for await (const each of conformProvider(provider, { ...choice, environments: [], onLevel, more: tryVerifier })) {
    found.push(each);
    bar.update(0, { what: each.part });
  }
  bar.stop();
  yield* found;
  const leftOut = (of: string, reason: string): ClauseResult => ({
    part: "Left out",
    of,
    says: "It is served.",
    ms: 0,
    finding: fail(reason),
  });
  yield* described.leftOut.map(({ name, reason }) => leftOut(name, reason));
  const why = choice.signal?.aborted === true ? late : "a rule on its environment is broken";
  yield* [...left].map((name) => leftOut(name, why));
}

/** Lets `gradus.serve` write a Python file with an example environment. Its exit code becomes that of the command. */
async function write(name: string, file: string): Promise<void> {
  const python = await findPython(name);
  if (python.kind === "missing") throw new CliProblem("failure", python.why);
  const found = spawn(python.path, ["-c", "import gradus.serve"], { stdio: "ignore" });
  const [without] = (await once(found, "close")) as [number | null];
  if (without !== 0) throw new CliProblem("failure", withoutPackage(name));
  const child = spawn(python.path, ["-m", "gradus.serve", "new", file], { stdio: "inherit" });
  const [code] = (await once(child, "close")) as [number | null];
  process.exitCode = code ?? 1;
}
