/** The commands, and what becomes of one that does not end well. */
import { Command, CommanderError } from "commander";
import { styleText } from "node:util";
import { version } from "../server/runtime/version.ts";
import { beQuiet, inColour } from "./notes.ts";
import { describe, exitCode, EXIT_CODES_HELP } from "./problem.ts";

type Load = () => Promise<(program: Command) => void>;

/**
 * By what a person wants to do, as the help text shows them. Each is loaded when it is asked for: most are done before all
 * would be loaded.
 */
const GROUPS: Readonly<Record<string, Readonly<Record<string, Load>>>> = {
  "Tasks:": {
    envs: async () => (await import("./commands/envs.ts")).addEnvs,
    env: async () => (await import("./commands/env.ts")).addEnv,
    reset: async () => (await import("./commands/reset.ts")).addReset,
    step: async () => (await import("./commands/step.ts")).addStep,
    solve: async () => (await import("./commands/solve.ts")).addSolve,
    draw: async () => (await import("./commands/draw.ts")).addDraw,
  },
  "Training runs:": {
    run: async () => (await import("./commands/run.ts")).addRun,
    simulate: async () => (await import("./research/simulate/command.ts")).addSimulate,
    forgetting: async () => (await import("./research/forgetting/command.ts")).addForgetting,
    policies: async () => (await import("./commands/policies.ts")).addPolicies,
  },
  "Models and data:": {
    eval: async () => (await import("./commands/eval.ts")).addEval,
    export: async () => (await import("./commands/export.ts")).addExport,
    calibrate: async () => (await import("./research/calibrate/command.ts")).addCalibrate,
    pools: async () => (await import("./commands/pools.ts")).addPools,
  },
  "A server:": {
    serve: async () => (await import("./commands/serve.ts")).addServe,
    conformance: async () => (await import("./commands/conformance.ts")).addConformance,
    doctor: async () => (await import("./commands/doctor.ts")).addDoctor,
    keys: async () => (await import("./commands/keys.ts")).addKeys,
    backup: async () => (await import("./commands/backup.ts")).addBackup,
    restore: async () => (await import("./commands/backup.ts")).addRestore,
    sandbox: async () => (await import("./commands/sandbox.ts")).addSandbox,
  },
  "This command line:": {
    completion: async () => {
      const { addCompletion } = await import("./commands/completion.ts");
      return (program) => addCompletion(program, createProgram);
    },
    version: async () => (await import("./commands/version.ts")).addVersion,
  },
};

/** Whether there is such a command, which is then loaded alone: help is of all. */
function isCommand(asked: string | undefined): asked is string {
  return asked !== undefined && Object.values(GROUPS).some((group) => Object.hasOwn(group, asked));
}

/** With the command that is asked for alone, or with all of them. */
export async function createProgram(asked?: string): Promise<Command> {
  const program = new Command("gradus")
    .description("A gRPC gym of verifiable tasks for training language models.")
    .version(version, "-V, --version", "print the version")
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
  const alone = isCommand(asked);
  for (const [title, group] of Object.entries(GROUPS)) {
    program.commandsGroup(title);
    const wanted = Object.entries(group).filter(([name]) => !alone || name === asked);
    for (const add of await Promise.all(wanted.map(([, load]) => load()))) add(program);
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
    const program = await createProgram(argv[0]);
    await program.parseAsync(argv, { from: "user" });
  } catch (error) {
    process.exitCode = report(error);
  }
}
