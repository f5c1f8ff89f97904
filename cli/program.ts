/** The commands, and what becomes of one that does not end well. */
import { Command, CommanderError } from "commander";
import { version } from "../server/runtime/version.ts";
import { describe, exitCode, EXIT_CODES_HELP } from "./problem.ts";

/** The commands in the order of --help. Each is loaded when it is asked for: most are done before all would be loaded. */
const commands: Readonly<Record<string, () => Promise<(program: Command) => void>>> = {
  serve: async () => (await import("./commands/serve.ts")).addServe,
  envs: async () => (await import("./commands/envs.ts")).addEnvs,
  reset: async () => (await import("./commands/reset.ts")).addReset,
  step: async () => (await import("./commands/step.ts")).addStep,
  solve: async () => (await import("./commands/solve.ts")).addSolve,
  draw: async () => (await import("./commands/draw.ts")).addDraw,
  run: async () => (await import("./commands/run.ts")).addRun,
  eval: async () => (await import("./commands/eval.ts")).addEval,
  export: async () => (await import("./commands/export.ts")).addExport,
  calibrate: async () => (await import("./research/calibrate/command.ts")).addCalibrate,
  forgetting: async () => (await import("./research/forgetting/command.ts")).addForgetting,
  simulate: async () => (await import("./research/simulate/command.ts")).addSimulate,
  pools: async () => (await import("./commands/pools.ts")).addPools,
  version: async () => (await import("./commands/version.ts")).addVersion,
  sandbox: async () => (await import("./commands/sandbox.ts")).addSandbox,
};

/** The program with the command that is asked for, or with all of them where none is named. */
async function createProgram(asked: string | undefined): Promise<Command> {
  const program = new Command("gradus")
    .description("A gRPC gym of verifiable tasks for training language models.")
    .version(version, "-V, --version", "print the version")
    .addHelpText("after", EXIT_CODES_HELP)
    .showHelpAfterError("(gradus <command> --help shows what there is)")
    // So that --version after a command is the command's.
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, "gradus: ")) })
    .configureHelp({ showGlobalOptions: false });
  const load = asked !== undefined && Object.hasOwn(commands, asked) ? commands[asked] : undefined;
  const adders = await Promise.all((load === undefined ? Object.values(commands) : [load]).map((each) => each()));
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
    const program = await createProgram(argv[0]);
    await program.parseAsync(argv, { from: "user" });
  } catch (error) {
    process.exitCode = report(error);
  }
}
