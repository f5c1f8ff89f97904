/**
 * `gradus run set-weights`, `update-policy`, `advance`, `pause` and `resume`. Each change applies from the first update
 * batch that is not yet issued.
 */
import type { Command } from "commander";
import type { ControlOptions, RunHandle } from "../../../clients/ts/src/public.ts";
import { addServerOptions, type ConnectionFlags, withServer } from "../../connection.ts";
import { print, printJson } from "../../print.ts";
import { CliProblem } from "../../problem.ts";
import { addChangeOptions, type ChangeFlags, inRunFile, readRunFile } from "../../run-file.ts";

interface Flags extends ConnectionFlags {
  readonly json?: boolean;
}

export function addControl(group: Command): void {
  const setWeights = group
    .command("set-weights")
    .description("set the weights of arms; an arm of weight 0 is never drawn, and arms that are not named keep theirs")
    .argument("<run>", "its id")
    .argument("<arm=weight...>", "e.g. real/T0=0 real/T3=2");
  control(setWeights, (run, options, given) => run.setWeights(weightsOf(given), options));

  addUpdatePolicy(group);

  const advance = group
    .command("advance")
    .description("advance a policy of stages or tiers to the next one, or an arm that grows to its next level")
    .option("--arm <id>", "arm whose next level opens");
  control(advance.argument("<run>", "its id"), (run, options) =>
    run.advance({ ...options, armId: advance.opts<{ arm?: string }>().arm }),
  );
  const pause = group.command("pause").description("stop issuing update batches; those issued go on");
  control(pause.argument("<run>", "its id"), (run, options) => run.pause(options));
  const resume = group.command("resume").description("issue update batches again");
  control(resume.argument("<run>", "its id"), (run, options) => run.resume(options));
}

function addUpdatePolicy(group: Command): void {
  const command = group
    .command("update-policy")
    .description("replace the run's policy by that of a run file; values that the new policy can use are kept")
    .argument("<run>", "its id")
    .argument("<file>", "a run file, of which only the policy is read")
    .option("--json", "print JSON");
  const takes = addChangeOptions(command, { pool: false });
  addServerOptions(takes).action(async (id: string, path: string, flags: Flags & ChangeFlags) => {
    const file = readRunFile("<file>", path, flags);
    const { policy } = file.config;
    if (policy === undefined) throw new CliProblem("usage", `${file.path} has no policy`);
    const { options, noEffect } = collectNoEffect();
    const from = await withServer(flags, async (client) => {
      try {
        return await client.run(id).updatePolicy(policy, options);
      } catch (error) {
        throw inRunFile(file, error);
      }
    });
    printApplied(flags, from, noEffect);
  });
}

/**
 * Returns options for changing a run, and a list. The client adds to the list a message for each part of the change
 * that has no effect.
 */
export function collectNoEffect(): { readonly options: ControlOptions; readonly noEffect: string[] } {
  const noEffect: string[] = [];
  return { options: { onNoEffect: (words) => void noEffect.push(...words) }, noEffect };
}

type Change = (run: RunHandle, options: ControlOptions, given: readonly string[]) => Promise<bigint>;

function control(command: Command, change: Change): void {
  addServerOptions(command.option("--json", "print JSON")).action(async (id: string, ...rest: readonly unknown[]) => {
    // Commander passes the arguments first, then the options.
    const [given, flags] = rest.length === 3 ? (rest as [readonly string[], Flags]) : [[], rest[0] as Flags];
    const { options, noEffect } = collectNoEffect();
    const from = await withServer(flags, (client) => change(client.run(id), options, given));
    const arms = given.map((text) => text.replace(/=.*$/, ""));
    const idle = arms.filter((arm) => noEffect.some((words) => words.includes(`"${arm}"`)));
    printApplied(flags, from, noEffect, idle.length > 0 && idle.length < arms.length);
  });
}

/**
 * Prints from which task on a change of a run applies. A change without effect is no failure, because the desired state
 * already holds. `rest` is true if other parts of the change had an effect.
 */
export function printApplied(
  { json }: { readonly json?: boolean },
  appliesFromCursor: bigint,
  noEffect: readonly string[],
  rest = false,
): void {
  if (json)
    return printJson({ appliesFromCursor: String(appliesFromCursor), ...(noEffect.length > 0 && { noEffect }) });
  const from = `from task ${appliesFromCursor} on`;
  if (noEffect.length === 0) return print(from);
  print([...noEffect.map((words) => `no effect: ${words}`), ...(rest ? [`the rest: ${from}`] : [])].join("\n"));
}

function weightsOf(given: readonly string[]): Readonly<Record<string, number>> {
  const entries = given.map((text) => {
    // An arm's id cannot contain "=".
    const [, arm = "", weight = ""] = /^([^=]+)=(.+)$/.exec(text) ?? [];
    if (arm === "" || weight.trim() === "" || !Number.isFinite(Number(weight)))
      throw new CliProblem("usage", `each weight must be arm=weight, e.g. real/T0=0.5; got '${text}'`);
    return [arm, Number(weight)] as const;
  });
  const twice = entries.find(([arm], i) => entries.findIndex(([other]) => other === arm) !== i);
  if (twice !== undefined) throw new CliProblem("usage", `the arm '${twice[0]}' is given twice`);
  return Object.fromEntries(entries);
}
