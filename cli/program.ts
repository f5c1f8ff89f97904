/** Defines the commands, runs one, and reports its errors. */
import { Command, CommanderError, Help } from "commander";
import { styleText } from "node:util";
import { version } from "../server/runtime/version.ts";
import { inColour, say, shown } from "../server/runtime/terminal.ts";
import { beQuiet } from "./notes.ts";
import { describe, exitCode, EXIT_CODES_HELP } from "./problem.ts";

/** Commands by group, as the help text shows them, each with its description. */
const GROUPS = {
  "Tasks:": {
    envs: "list the environments, or describe one",
    env: "write an environment in Python, or check one",
    reset: "make tasks: prompts, with the task ids to score completions by",
    step: "score a completion of a task; it is read from --completion, --file or standard input",
    play: "play a task yourself, call by call, on standard input",
    solve: "solve a task with the environment's own solver; with --server, as an operator, and no task of a benchmark",
    draw: "draw a task, and an answer to it, as SVG: it shows why the answer is infeasible or not the best",
  },
  "Training runs:": {
    run: "create, watch, change and keep training runs",
    simulate: "compare a run's configuration with equal shares on simulated students, before you use a GPU",
    forgetting: "order domains for training, the least forgotten first, from reports of gradus eval",
    policies: "check modules with your own policies before a server loads them",
  },
  "Models and data:": {
    eval: "evaluate a model behind an OpenAI-compatible endpoint; the same command again resumes",
    rescore: "score stored completions again, e.g. under other weights; the same command again resumes",
    export: "write training data in chat format: completions of an evaluation, or the solvers' answers",
    calibrate: "choose each level's parameters so that a model's success rate lies in the papers' bands",
    pools: "check, sample and profile files of data pools",
  },
  "A server:": {
    serve: "start a server; SIGTERM or Ctrl-C drains and stops it",
    status: "print how a server is doing: latencies, errors, processor time and memory in the last minutes",
    conformance: "check whether a server or a provider of environments keeps the contract",
    doctor: "report what a server with these flags would lack on this machine, and how to get it",
    keys: "list, rotate and retire the keys that task ids are signed with",
    backup: "write runs, evaluations and keys of a data folder to one file; a server may go on meanwhile",
    restore: "put a backup into a data folder that no server has open, and check every event of its runs",
    sandbox: "check the sandbox in which programs of models are run",
  },
  "This command line:": {
    completion: "print a script by which a shell completes commands, options, their values and files",
    version: "print the version; with --server that of a server, its ports and its limits",
  },
} as const satisfies Readonly<Record<string, Readonly<Record<string, string>>>>;

type KeysOf<Group> = Group extends Group ? keyof Group : never;
type CommandName = KeysOf<(typeof GROUPS)[keyof typeof GROUPS]>;

/**
 * Functions that load the definition of a command. A module is loaded only when needed, because most commands finish
 * before all modules would be loaded.
 */
const LOADERS: Readonly<Record<CommandName, () => Promise<(program: Command) => void>>> = {
  envs: async () => (await import("./commands/envs.ts")).addEnvs,
  env: async () => (await import("./commands/env.ts")).addEnv,
  reset: async () => (await import("./commands/reset.ts")).addReset,
  step: async () => (await import("./commands/step.ts")).addStep,
  play: async () => (await import("./commands/play.ts")).addPlay,
  solve: async () => (await import("./commands/solve.ts")).addSolve,
  draw: async () => (await import("./commands/draw.ts")).addDraw,
  run: async () => (await import("./commands/run.ts")).addRun,
  simulate: async () => (await import("./research/simulate/command.ts")).addSimulate,
  forgetting: async () => (await import("./research/forgetting/command.ts")).addForgetting,
  policies: async () => (await import("./commands/policies.ts")).addPolicies,
  eval: async () => (await import("./commands/eval.ts")).addEval,
  rescore: async () => (await import("./commands/rescore.ts")).addRescore,
  export: async () => (await import("./commands/export.ts")).addExport,
  calibrate: async () => (await import("./research/calibrate/command.ts")).addCalibrate,
  pools: async () => (await import("./commands/pools.ts")).addPools,
  serve: async () => (await import("./commands/serve.ts")).addServe,
  status: async () => (await import("./commands/status.ts")).addStatus,
  conformance: async () => (await import("./commands/conformance.ts")).addConformance,
  doctor: async () => (await import("./commands/doctor.ts")).addDoctor,
  keys: async () => (await import("./commands/keys.ts")).addKeys,
  backup: async () => (await import("./commands/backup.ts")).addBackup,
  restore: async () => (await import("./commands/backup.ts")).addRestore,
  sandbox: async () => (await import("./commands/sandbox.ts")).addSandbox,
  completion: async () => {
    const { addCompletion } = await import("./commands/completion.ts");
    return (program) => addCompletion(program, createProgram);
  },
  version: async () => (await import("./commands/version.ts")).addVersion,
};

/**
 * Builds the program with the definitions of the requested commands. The other commands have only their descriptions.
 * Without an argument, all are defined.
 */
export async function createProgram(isAsked: (name: string) => boolean = () => true): Promise<Command> {
  const program: Command = new Command("gradus")
    .description("A gRPC gym of verifiable tasks for training language models.")
    .version(version, "-V, --version", "print the version")
    .addHelpText("after", EXIT_CODES_HELP)
    .showHelpAfterError("(gradus <command> --help lists the options)")
    // Let an option after a command's name, such as --version, belong to that command.
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({
      outputError: (text, write) => write(shown(text.replace(/^error: /, `${inColour("red", "gradus:")} `))),
    })
    // Style titles always: Commander leaves out colours if the output cannot show them, or NO_COLOR is set.
    .configureHelp({
      showGlobalOptions: false,
      styleTitle: (title) => styleText("bold", title, { validateStream: false }),
      // Show only names in a list of commands, because the arguments of commands that are not loaded are unknown.
      subcommandTerm: (command): string =>
        command.parent === program ? command.name() : Help.prototype.subcommandTerm.call(new Help(), command),
    })
    .hook("preAction", (_, command) => beQuiet(command.opts<{ quiet?: boolean }>().quiet === true));
  for (const [title, group] of Object.entries(GROUPS)) {
    program.commandsGroup(title);
    const added = Object.entries(group).map(async ([name, description]) => {
      const add = isAsked(name) ? await LOADERS[name as CommandName]() : (to: Command) => to.command(name);
      return () => {
        add(program);
        program.commands.at(-1)?.description(description);
      };
    });
    for (const add of await Promise.all(added)) add();
  }
  program.helpCommand("help [command]", "say what a command is for and which options it has");
  for (const command of leavesOf(program)) {
    if (command.name() !== "serve")
      command.option("-q, --quiet", "print no progress and no notes: only results and errors");
    command.addHelpText("after", EXIT_CODES_HELP);
  }
  return program;
}

const HELP = ["help", "--help", "-h"];

/**
 * Returns the name of the command in the arguments, e.g. "run". Skips a leading "help", so `gradus help run` gives
 * "run" too.
 */
function commandIn(argv: readonly string[]): string | undefined {
  return argv.find((word) => !HELP.includes(word) && !word.startsWith("-"));
}

/**
 * Returns whether a word in the place of a command's name is no command. Commander does not report such a word if help
 * is requested.
 */
function isUnknown(program: Command, words: readonly string[]): boolean {
  let command = program;
  for (const word of words) {
    if (command.registeredArguments.length > 0 || command.commands.length === 0 || word.startsWith("-")) return false;
    const next = command.commands.find((each) => each.name() === word);
    if (next === undefined) return true;
    command = next;
  }
  return false;
}

/** Returns the commands that have no subcommands. */
function leavesOf(command: Command): readonly Command[] {
  return command.commands.length === 0 ? [command] : command.commands.flatMap(leavesOf);
}

/** Prints an error without its stack on standard error. Returns the exit code. */
function report(error: unknown): number {
  // Commander has already printed its own errors, so print nothing.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : exitCode("usage");
  const { message, kind } = describe(error);
  say(`${inColour("red", "gradus:")} ${message}`);
  return exitCode(kind);
}

/**
 * Runs the command that the arguments name. An error's exit code goes to process.exitCode, which a command may set too.
 */
export async function run(argv: readonly string[]): Promise<void> {
  try {
    const asked = commandIn(argv);
    const program = await createProgram((name) => name === asked);
    const words = argv.filter((word) => !HELP.includes(word));
    await program.parseAsync(isUnknown(program, words) ? words : argv, { from: "user" });
  } catch (error) {
    process.exitCode = report(error);
  }
}
