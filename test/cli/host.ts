/** Runs commands of the command line one after another, each in the folder and the environment that it comes with. */
import { Readable } from "node:stream";
import { run } from "../../cli/program.ts";

export interface Asked {
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly input: string;
  /** Mark that the host writes to both streams once the command is over. */
  readonly end: string;
}

function written(stream: NodeJS.WriteStream, text: string): Promise<void> {
  return new Promise((done) => stream.write(text, () => done()));
}

process.on("message", ({ args, cwd, env, input, end }: Asked) => {
  process.chdir(cwd);
  process.env = env;
  process.exitCode = undefined;
  Object.defineProperty(process, "stdin", { value: Readable.from([input]), configurable: true });
  void run(args).then(async () => {
    await Promise.all([written(process.stdout, end), written(process.stderr, end)]);
    process.send?.(Number(process.exitCode ?? 0));
  });
});
