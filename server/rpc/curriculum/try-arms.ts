/**
 * Tries the arms of a run before its creation. An arm that gives no tasks is refused now, so that no trainer runs into
 * it.
 */
import { type Arm, placeOf, type RunConfig } from "../../curriculum/types.ts";
import type { Requester } from "../../tasks/making/mounted-tasks.ts";
import type { Maker } from "../../tasks/making/make.ts";
import type { TaskSpec } from "../../tasks/spec.ts";
import type { MakeResult } from "../../tasks/task.ts";
import { RpcError } from "../../base/rpc.ts";
import { invalid, throwAll } from "../request-checks.ts";
import { makeError } from "../to-rpc-error.ts";

/**
 * Number of seeds that are tried in an arm, each with the full budget of a task. In nearly all arms the first one has a
 * task.
 */
const TRIES = 3;

type TriedArm = Pick<Arm<TaskSpec>, "id" | "spec" | "source">;

/** Makes the first task of each generated arm, all at once. Rows of pools were counted when the arm was read. */
export async function checkArms(
  { maker }: { readonly maker: Pick<Maker, "make"> },
  { arms, seed }: { readonly arms: readonly TriedArm[] } & Pick<RunConfig, "seed">,
  { caller, signal }: Requester,
  field = "config.arms",
): Promise<void> {
  const requester = { caller, signal };
  const tried = await Promise.allSettled(
    arms.map((arm, i) => checkArm(maker, arm, seed, requester, `${field}[${i}].spec`)),
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
  requester: Requester,
  field: string,
): Promise<void> {
  if (arm.spec.source !== "synthetic") return;
  for (let ordinal = 0; ordinal < TRIES; ordinal++) {
    const [result] = await maker.make(arm.spec, [placeOf(arm, ordinal, runSeed).seed], requester);
    if (result === undefined) throw new Error("a seed gave no result");
    if (result.kind === "made") return;
    if (result.kind !== "exhausted") throw makeError(result);
    if (ordinal === TRIES - 1) throw barren(result, field);
  }
}

function barren({ message }: Extract<MakeResult, { kind: "exhausted" }>, field: string) {
  return invalid(field, `no task was found for ${TRIES} seeds. ${message}`);
}
