/**
 * gradus env: writes and checks environments in Python. gradus.serve does both, in the interpreter that has it
 * installed.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { type Command, Option } from "commander";
import { findPython, withoutPackage } from "../../server/outside/sandbox/python.ts";
import { CliProblem } from "../problem.ts";

interface Flags {
  readonly python: string;
}

interface CheckFlags extends Flags {
  readonly level?: readonly string[];
  readonly seeds?: string;
  readonly workers?: string;
  readonly allow?: readonly string[];
  readonly json?: boolean;
}

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
    .action((file: string, { python }: Flags) => ask(python, ["new", file]));
  env
    .command("check")
    .description(
      "check the laws of environments, level by level; exit code 1 if a law is broken or anything is left out",
    )
    .argument("<target>", "a Python file, or reasoning-gym[:names], verifiers:name, nemo-gym:address, openenv:address")
    .option("--level <name...>", "only these levels")
    .option("--seeds <count>", "how many tasks of each level are made")
    .option("--workers <count>", "processes that make and verify")
    .option("--allow <what...>", "what it may access besides its own folder and packages: read=PATH, net=HOST")
    .option("--json", "print JSON")
    .addOption(pythonOption())
    .action((target: string, flags: CheckFlags) => ask(flags.python, ["check", target, ...argumentsOf(flags)]));
}

function argumentsOf({ level = [], seeds, workers, allow = [], json = false }: CheckFlags): readonly string[] {
  return [
    ...level.flatMap((name) => ["--level", name]),
    ...(seeds === undefined ? [] : ["--seeds", seeds]),
    ...(workers === undefined ? [] : ["--workers", workers]),
    ...allow.flatMap((what) => ["--allow", what]),
    ...(json ? ["--json"] : []),
  ];
}

/** Runs gradus.serve, which prints its own output. Its exit code becomes the command's. */
async function ask(name: string, args: readonly string[]): Promise<void> {
  const python = await findPython(name);
  if (python.kind === "missing") throw new CliProblem("failure", python.why);
  const found = spawn(python.path, ["-c", "import gradus.serve"], { stdio: "ignore" });
  const [without] = (await once(found, "close")) as [number | null];
  if (without !== 0) throw new CliProblem("failure", withoutPackage(name));
  const child = spawn(python.path, ["-m", "gradus.serve", ...args], { stdio: "inherit" });
  const [code] = (await once(child, "close")) as [number | null];
  process.exitCode = code ?? 1;
}
