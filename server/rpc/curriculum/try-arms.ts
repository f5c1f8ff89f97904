/** Tries the arms of a run before it is created: one that gives no tasks is refused, and not found out by a trainer. */
import { type Arm, placeOf, type RunConfig } from "../../curriculum/types.ts";
import type { Wanting } from "../../tasks/making/outside-tasks.ts";
import type { Maker } from "../../tasks/making/make.ts";
import type { TaskSpec } from "../../tasks/spec.ts";
import type { MakeResult } from "../../tasks/task.ts";
import { RpcError } from "../../base/rpc.ts";
import { invalid, throwAll } from "../request-checks.ts";
import { makeError } from "../refusals.ts";

/** Tasks that are looked for in an arm, each with the budget of one. The first is there in all but odd arms. */
const TRIES = 3;

type TriedArm = Pick<Arm<TaskSpec>, "id" | "spec" | "source">;

/** Makes the first task of each generated arm, all at once. Rows were counted when the arm was read. */
export async function checkArms(
  { maker }: { readonly maker: Pick<Maker, "make"> },
  { arms, seed }: { readonly arms: readonly TriedArm[] } & Pick<RunConfig, "seed">,
  { caller, signal }: Wanting,
  field = "config.arms",
): Promise<void> {
  const wanting = { caller, signal };
  const tried = await Promise.allSettled(
    arms.map((arm, i) => checkArm(maker, arm, seed, wanting, `${field}[${i}].spec`)),
  );
  const failures = tried.flatMap((result) => (result.status === "rejected" ? [result.reason as unknown] : []));
  const refusals = failures.filter((failure) => failure instanceof RpcError);
  if (refusals.length < failures.length) throw failures.find((failure) => !(failure instanceof RpcError));
  throwAll(refusals);
}

async function checkArm(
  maker: Pick<Maker, "make">,
  arm: TriedArm,
  runSeed: bigint,
  wanting: Wanting,
  field: string,
): Promise<void> {
  if (arm.spec.source !== "synthetic") return;
  for (let ordinal = 0; ordinal < TRIES; ordinal++) {
    const [result] = await maker.make(arm.spec, [placeOf(arm, ordinal, runSeed).seed], wanting);
    if (result === undefined) throw new Error("a seed gave no result");
    if (result.kind === "made") return;
    if (result.kind !== "exhausted") throw makeError(result);
    if (ordinal === TRIES - 1) throw barren(result, field);
  }
}

function barren({ message }: Extract<MakeResult, { kind: "exhausted" }>, field: string) {
  return invalid(field, `no task was found for ${TRIES} seeds. ${message}`);
}
