/**
 * Defines resources: external services, such as a judge or a sandbox, that environments ask, and the limits on their
 * use.
 */
import type { Failed } from "./facts.ts";
import type { AskContext, PortName, Ports } from "./ports.ts";

/** External service that an environment asks, such as a judge or a sandbox, and the limits on its use. */
export interface Resource {
  /** Name of the service, such as "judge". Environments that share a resource share its limits. */
  readonly name: string;
  /**
   * Port (connection to the service, see ports.ts) that the environment uses. A server without this port serves no
   * tasks of the environment. Defaults to none.
   */
  readonly port?: PortName;
  /**
   * Maximum number of jobs that run at a time. A job is a verification, or a call of an episode. The operator can
   * change the maximum.
   */
  readonly concurrencyMax: number;
  /**
   * Number of jobs that each caller may run even if `concurrencyMax` is reached. Set for a service that shares its time
   * between callers. Defaults to 0.
   */
  readonly concurrencyEach?: number;
  /** Maximum number of jobs that wait to run. The server refuses further jobs with the reason "overloaded". */
  readonly waitingMax: number;
  /** Maximum total size, in bytes, of the completions whose jobs run or wait. */
  readonly heldBytesMax: number;
  /** Maximum duration of one attempt at a job, in milliseconds, counted from the attempt's start. */
  readonly timeLimitMs: number;
  /**
   * Maximum number of times that the server attempts one job. 1 if the environment itself retries. Defaults to a few.
   */
  readonly attemptsMax?: number;
  /**
   * Checks whether a resource that is down answers again. Returns undefined if it does. If omitted, the next
   * job is the check.
   */
  readonly probe?: (context: VerifyContext) => Promise<Failed | undefined>;
}

/** Context of a question to external services: the caller, the deadline and the connections (ports.ts). */
export interface PortContext extends AskContext {
  readonly ports: Ports;
}

/**
 * Limits and ports of one verification, or of one call of an episode. The signal is aborted at the deadline, and also
 * when nobody needs the result any more. The deadline covers all work of the environment, including its own retries.
 */
export interface VerifyContext extends PortContext {
  /** Number of this attempt of the server at the job, from 1. */
  readonly attempt: number;
  /** Number of attempts after which the server gives up. */
  readonly attemptsMax: number;
}

interface MayAsk {
  readonly resource?: Resource | undefined;
  readonly askingTools?: readonly string[];
}

/**
 * Returns the external service that scoring a task needs, or undefined if it needs none. A task without turns (`calls`
 * is unset) needs the service of the verifier. A task with turns needs the service of the turns. If only some tools ask
 * that service (`askingTools`), the task needs it only if one of them is among its `tools`.
 */
export function neededResource(
  { resource, turns }: MayAsk & { readonly turns?: MayAsk },
  { calls, tools = [] }: { readonly calls?: number; readonly tools?: readonly string[] },
): Resource | undefined {
  if (calls === undefined) return resource;
  const mayAsk = turns?.askingTools === undefined || tools.some((tool) => turns.askingTools?.includes(tool));
  return mayAsk ? turns?.resource : undefined;
}

/**
 * Returns whether equal completions get equal scores and replies, and the names of the tools whose calls are an
 * exception. If the environment does not declare `deterministic`, it is true unless something other than a tool asks an
 * external service.
 */
export function determinismOf({
  deterministic,
  resource,
  turns,
}: MayAsk & { readonly turns?: MayAsk; readonly deterministic?: boolean }) {
  const tools = turns?.askingTools;
  const asks = resource !== undefined || (turns?.resource !== undefined && tools === undefined);
  return { deterministic: deterministic ?? !asks, nondeterministicTools: [...(tools ?? [])] };
}
