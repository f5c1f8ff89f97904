/**
 * `gradus run update-shape`: changes the arms of a live run, its completions per prompt, its prompts per update, or its
 * length.
 */
import type { Command } from "commander";
import type { GrowthChoice } from "../../../clients/ts/src/public.ts";
import { addServerOptions, collect, type ConnectionFlags, withServer } from "../../connection.ts";
import { CliProblem } from "../../problem.ts";
import { addChangeOptions, type ChangeFlags, checkPools, inRunFile, readRunFile } from "../../run-file.ts";
import { wholeNumber } from "../../task-options.ts";
import { collectNoEffect, printApplied } from "./control.ts";

interface Flags extends ConnectionFlags, ChangeFlags {
  readonly removeArm?: readonly string[];
  readonly cap?: readonly string[];
  readonly numGenerations?: number;
  readonly promptsPerUpdate?: number;
  readonly length?: number;
  readonly json?: boolean;
}

export function addShape(group: Command): void {
  const command = group
    .command("update-shape")
    .description("change a run's arms, generations, prompts or length; arms that stay keep what was learnt of them")
    .argument("<run>", "its id")
    .argument("[file]", "a run file: its arms are added, and its policy, if it has one, replaces the run's")
    .option("--remove-arm <id>", "arm to remove; may be given several times", collect)
    .option("--cap <arm=value>", "greater cap of an arm that grows; may be given several times", collect)
    .option("--num-generations <n>", "number of completions of each prompt", wholeNumber(1, 2 ** 32 - 1))
    .option("--prompts-per-update <n>", "number of tasks in an update batch", wholeNumber(1, 4096))
    .option("--length <n>", "number of tasks in the whole run; 0: no end", wholeNumber(0, Number.MAX_SAFE_INTEGER))
    .option("--json", "print JSON");
  addServerOptions(addChangeOptions(command, { pool: true })).action(updateShape);
}

/**
 * Parses values of --cap such as "clique=40": a new maximum for an arm's growth axis. The empty axis means that the
 * arm's axis, start and step stay as they are.
 */
function capsOf(given: readonly string[]): Readonly<Record<string, GrowthChoice>> {
  const entries = given.map((text) => {
    const [, arm = "", cap = ""] = /^([^=]+)=(\d+)$/.exec(text) ?? [];
    if (arm === "") throw new CliProblem("usage", `--cap must be arm=value, e.g. clique=40; got '${text}'`);
    return [arm, { axis: "", cap: Number(cap) }] as const;
  });
  return Object.fromEntries(entries);
}

async function updateShape(id: string, path: string | undefined, flags: Flags): Promise<void> {
  const { removeArm: removeArms, cap: caps, numGenerations, promptsPerUpdate, length } = flags;
  const file = path === undefined ? undefined : readRunFile("[file]", path, flags);
  if (file !== undefined) checkPools(file);
  const growArms = caps && capsOf(caps);
  const given = [file, removeArms, growArms, numGenerations, promptsPerUpdate, length];
  if (given.every((value) => value === undefined))
    throw new CliProblem(
      "usage",
      "give at least one change: a file, --remove-arm, --cap, --num-generations, --prompts-per-update or --length",
    );
  const { options, noEffect } = collectNoEffect();
  const from = await withServer(flags, async (client) => {
    try {
      const shape = {
        ...(file && { addArms: file.config.arms, policy: file.config.policy }),
        ...(removeArms && { removeArms }),
        ...(growArms && { growArms }),
        ...(numGenerations !== undefined && { numGenerations }),
        ...(promptsPerUpdate !== undefined && { promptsPerUpdate }),
        ...(length !== undefined && { length: BigInt(length) }),
      };
      return await client.run(id).updateShape(shape, options);
    } catch (error) {
      throw file === undefined ? error : inRunFile(file, error);
    }
  });
  const asked = [...given.slice(1), file?.config.policy, file?.config.arms?.[0]].filter((value) => value !== undefined);
  printApplied(flags, from, noEffect, asked.length > noEffect.length);
}
