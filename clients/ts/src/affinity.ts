/**
 * Which run a call is about: a load balancer in front of several servers may send the calls of a run to one of them, which then
 * has it in memory. A hint and no more: any server answers any call.
 */
export const runHeader = "gradus-run";

/** What requests name their run by. */
interface Named {
  readonly runId?: string;
  readonly groupId?: string;
  readonly groups?: readonly { readonly groupId?: string }[];
}

/** Undefined: the request is about no run. */
export function runOf(message: object): string | undefined {
  const { runId, groupId, groups } = message as Named;
  if (runId !== undefined && runId !== "") return /^[\w.-]{1,128}$/.test(runId) ? runId : undefined;
  // A group's id begins with its run's; that of a task outside a run has no such part.
  return /^([\w.-]{1,128})\//.exec(groupId ?? groups?.[0]?.groupId ?? "")?.[1];
}
