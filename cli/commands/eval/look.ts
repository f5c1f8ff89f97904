/** `gradus eval list` and `gradus eval delete`: list the evaluations that a server keeps, and delete one. */
import type { Command } from "commander";
import { type Evaluation, EvaluationSchema } from "../../../clients/ts/src/public.ts";
import { addConnectionOptions, type ConnectionFlags, withClient } from "../../connection.ts";
import { jsonOf, print, printJson, table } from "../../print.ts";

interface Flags extends ConnectionFlags {
  readonly suite?: string;
  readonly json?: boolean;
}

export function addEvaluations(group: Command): void {
  const list = group
    .command("list")
    .description("list evaluations, of a server or of this machine's data directory")
    .option("--suite <id>", "only evaluations of this suite")
    .option("--json", "print JSON: the contract's Evaluations");
  addConnectionOptions(list).action(async () => {
    const flags: Flags = list.optsWithGlobals();
    const { suite } = flags;
    const found = await withClient(flags, (client) => client.listEvaluations(suite ? { suite } : {}), "evaluations");
    if (flags.json) printJson(found.map((one) => jsonOf(EvaluationSchema, one)));
    else print(found.length === 0 ? "no evaluations" : listed(found));
  });

  const remove = group
    .command("delete")
    .description("delete an evaluation with its samples")
    .argument("<evaluation>", "its id")
    .option("--json", "print JSON");
  addConnectionOptions(remove).action(async (id: string) => {
    const flags: Flags = remove.optsWithGlobals();
    await withClient(flags, (client) => client.evaluation(id).delete(), "evaluations");
    if (flags.json) printJson({ deleted: id });
    else print(`${id} is deleted`);
  });
}

function listed(evaluations: readonly Evaluation[]): string {
  const rows = evaluations.map(
    ({ evaluationId, suite, suiteVersion, model, samplesScored, samplesTotal, unreadable }) => [
      ...[evaluationId, `${suite} ${suiteVersion}`, model],
      unreadable === "" ? `${samplesScored} of ${samplesTotal}` : unreadable,
    ],
  );
  return table(["evaluation", "suite", "model", "samples"], rows);
}
