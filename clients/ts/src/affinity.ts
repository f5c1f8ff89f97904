/**
 * Header that names the run of a call. A load balancer in front of several servers can send all calls of a run to the
 * server that has it in memory. The header is only a hint: any server answers any call.
 */
export const runHeader = "gradus-run";

/** Fields of a request that name its run, or a group (the completions of one prompt) whose id contains the run. */
interface Named {
  readonly runId?: string;
  readonly groupId?: string;
  readonly groups?: readonly { readonly groupId?: string }[];
}

/** Returns the id of the run that a request is about. Undefined if it is about no run. */
export function runOf(message: object): string | undefined {
  const { runId, groupId, groups } = message as Named;
  if (runId !== undefined && runId !== "") return /^[\w.-]{1,128}$/.test(runId) ? runId : undefined;
  // A group's id begins with the id of its run and a slash. If the task belongs to no run, it has no slash.
  return /^([\w.-]{1,128})\//.exec(groupId ?? groups?.[0]?.groupId ?? "")?.[1];
}
