/** The commands, and what becomes of one that does not end well. */
import { Command, CommanderError } from "commander";
import { readFileSync } from "node:fs";
import { styleText } from "node:util";
import { addCalibrate } from "./research/calibrate/command.ts";
import { addBackup, addRestore } from "./commands/backup.ts";
import { addCompletion } from "./commands/completion.ts";
import { addDoctor } from "./commands/doctor.ts";
import { addKeys } from "./commands/keys.ts";
import { beQuiet, inColour } from "./notes.ts";
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

/** By what a person wants to do, as the help text shows them. */
const GROUPS: readonly (readonly [title: string, ...adders: ((program: Command) => void)[]])[] = [
  ["Tasks:", addEnvs, addReset, addStep, addSolve, addDraw],
  ["Training runs:", addRun, addSimulate, addForgetting],
  ["Models and data:", addEval, addExport, addCalibrate, addPools],
  ["A server:", addServe, addDoctor, addKeys, addBackup, addRestore, addSandbox],
  ["This command line:", (program) => addCompletion(program, createProgram)],
];

export async function createProgram(): Promise<Command> {
  const program = new Command("gradus")
    .description("A gRPC gym of verifiable tasks for training language models.")
    .version(versionOfPackage(), "-V, --version", "print the version")
    .addHelpText("after", EXIT_CODES_HELP)
    .showHelpAfterError("(gradus <command> --help shows what there is)")
    // So that --version after a command is the command's.
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({
      outputError: (text, write) => write(text.replace(/^error: /, `${inColour("red", "gradus:")} `)),
    })
    // Commander leaves colours out where nothing shows them, or NO_COLOR is set.
    .configureHelp({
      showGlobalOptions: false,
      styleTitle: (title) => styleText("bold", title, { validateStream: false }),
    })
    .hook("preAction", (_, command) => beQuiet(command.opts<{ quiet?: boolean }>().quiet === true));
  for (const [title, ...adders] of GROUPS) {
    program.commandsGroup(title);
    for (const add of adders) add(program);
  }
  program.helpCommand("help [command]", "say what a command is for and which options it has");
  for (const command of leavesOf(program)) {
    if (command.name() !== "serve")
      command.option("-q, --quiet", "no progress and no notes: only what was asked for, and what failed");
    command.addHelpText("after", EXIT_CODES_HELP);
  }
  return program;
}

/** The commands that do something, and are no group of others. */
function leavesOf(command: Command): readonly Command[] {
  return command.commands.length === 0 ? [command] : command.commands.flatMap(leavesOf);
}

/** Says what went wrong on standard error, without a stack; gives the exit code. */
function report(error: unknown): number {
  // Commander has said it.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : exitCode("usage");
  const { message, kind } = describe(error);
  console.error(`${inColour("red", "gradus:")} ${message}`);
  return exitCode(kind);
}

/** Runs one command. Its exit code is process.exitCode, which a command may set too. */
export async function run(argv: readonly string[]): Promise<void> {
  try {
    const program = await createProgram();
    await program.parseAsync(argv, { from: "user" });
  } catch (error) {
    process.exitCode = report(error);
  }
}
