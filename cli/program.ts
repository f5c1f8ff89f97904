/** The commands, and what becomes of one that does not end well. */
import { Command, CommanderError } from "commander";
import { readFileSync } from "node:fs";
import { addCalibrate } from "./research/calibrate/command.ts";
import { addDraw } from "./commands/draw.ts";
import { addEnvs } from "./commands/envs.ts";
import { addEval } from "./commands/eval.ts";
import { addExport } from "./commands/export.ts";
import { addForgetting } from "./research/forgetting/command.ts";
import { addPools } from "./commands/pools.ts";
import { addReset } from "./commands/reset.ts";
import { addRun } from "./commands/run.ts";
import { addSandbox } from "./commands/sandbox.ts";
import { addServe } from "./commands/serve.ts";
import { addSimulate } from "./research/simulate/command.ts";
import { addSolve } from "./commands/solve.ts";
import { addStep } from "./commands/step.ts";
import { describe, exitCode, EXIT_CODES_HELP } from "./problem.ts";

function versionOfPackage(): string {
  const text = readFileSync(new URL("../package.json", import.meta.url), "utf8");
  return (JSON.parse(text) as { readonly version: string }).version;
}

function createProgram(): Command {
  const program = new Command("gradus")
    .description("A gRPC gym of verifiable tasks for training language models.")
    .version(versionOfPackage(), "-V, --version", "print the version")
    .addHelpText("after", EXIT_CODES_HELP)
    .showHelpAfterError("(gradus <command> --help shows what there is)")
    // So that --version after a command is the command's.
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, "gradus: ")) })
    .configureHelp({ showGlobalOptions: false });
  const adders = [
    ...[addServe, addEnvs, addReset, addStep, addSolve, addDraw, addRun],
    ...[addEval, addExport, addCalibrate, addForgetting, addSimulate, addPools, addSandbox],
  ];
  for (const add of adders) add(program);
  return program;
}

/** Says what went wrong on standard error, without a stack; gives the exit code. */
function report(error: unknown): number {
  // Commander has said it.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : exitCode("usage");
  const { message, kind } = describe(error);
  console.error(`gradus: ${message}`);
  return exitCode(kind);
}

/** Runs one command. Its exit code is process.exitCode, which a command may set too. */
export async function run(argv: readonly string[]): Promise<void> {
  try {
    await createProgram().parseAsync(argv, { from: "user" });
  } catch (error) {
    process.exitCode = report(error);
  }
}
