/** `gradus sandbox check`: tests whether the sandbox contains hostile programs on this machine. */
import { type Command, Option } from "commander";
import { hostilePrograms, checkSandbox, type Checked } from "../../server/outside/sandbox/check/check.ts";
import type { Hostile } from "../../server/outside/sandbox/check/hostile.ts";
import { openEmbedded } from "../../server/outside/sandbox/embedded.ts";
import { findPython } from "../../server/outside/sandbox/find-python.ts";
import type { KernelIsolation } from "../../server/outside/sandbox/zygote.ts";
import { createBar } from "../bar.ts";
import { fields, print, printJson, table } from "../print.ts";
import { CliProblem } from "../problem.ts";

interface Flags {
  readonly python: string;
  readonly json?: boolean;
  readonly only?: string;
  readonly without?: readonly ("landlock" | "namespaces")[];
}

export function addSandbox(program: Command): void {
  const sandbox = program.command("sandbox");
  sandbox
    .command("check")
    .description("run hostile programs in the sandbox of this machine, and report which of them it contains")
    .addOption(new Option("--python <file>", "Python 3.10 or newer").env("GRADUS_PYTHON").default("python3"))
    .addOption(
      new Option("--without <feature...>", "do not use this kernel feature, to test the sandbox without it").choices([
        "landlock",
        "namespaces",
      ]),
    )
    .option("--only <words>", "only programs whose name has these words in it")
    .option("--json", "print JSON")
    .action(check);
}

async function check({ python: name, without = [], only = "", json }: Flags): Promise<void> {
  const programs = hostilePrograms.filter((program) => program.name.includes(only));
  if (programs.length === 0) throw new CliProblem("usage", `--only: no program is called '${only}'`);
  const python = await findPython(name);
  if (python.kind === "missing") throw new CliProblem("failure", python.why);
  const opened = await openEmbedded({ python: python.path, concurrency: 1, without });
  if (opened.kind === "missing")
    throw new CliProblem("failure", `the sandbox cannot run programs on this machine: ${opened.why}`);
  const { sandbox } = opened;
  try {
    const checked = await checkAll(sandbox, programs);
    if (json) printJson({ found: sandbox.found, checks: checked });
    else print(shown(sandbox.found, checked));
    const failed = checked.filter(({ wrong }) => wrong !== undefined);
    if (failed.length > 0)
      throw new CliProblem("failure", `${failed.length} of ${checked.length} programs were not contained`);
  } finally {
    await sandbox.close();
  }
}

async function checkAll(
  sandbox: Parameters<typeof checkSandbox>[0],
  programs: readonly Hostile[],
): Promise<readonly Checked[]> {
  const bar = createBar({
    done: 0,
    total: programs.length,
    payload: { name: "" },
    format: "{bar} {value}/{total} | {left} | {name}",
  });
  const checked: Checked[] = [];
  try {
    for await (const each of checkSandbox(sandbox, programs)) {
      checked.push(each);
      bar.update(1, { name: each.name });
    }
  } finally {
    bar.stop();
  }
  return checked;
}

function shown(found: KernelIsolation, checked: readonly Checked[]): string {
  const head = fields([
    ["Python", found.python],
    ["seccomp", "yes, an allow-list of system calls"],
    ["Landlock", found.landlock === 0 ? "no" : `yes, version ${found.landlock}`],
    ["namespaces", found.namespaces ? "yes: files, processes, network, shared memory" : `no: ${found.noNamespaces}`],
    [
      "standard library",
      found.library
        ? "readable"
        : "only modules that the sandbox has already imported: the user of programs cannot read the library",
    ],
    ["user of programs", String(found.user)],
  ]);
  const rows = checked.map(({ name, wrong, ms }) => [
    wrong === undefined ? "held" : "NOT",
    String(ms),
    name,
    wrong ?? "",
  ]);
  return `${head}\n\n${table(["", "ms", "program", "what is wrong"], rows)}`;
}
