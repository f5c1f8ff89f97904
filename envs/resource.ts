/** Defines resources: the external services that environments ask, and the limits on their use. */
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
  /** Maximum number of concurrent jobs: verifications, and calls of episodes. The operator can change it. */
  readonly concurrencyMax: number;
  /**
   * Number of jobs that each caller may run even if `concurrencyMax` is reached, for a service that shares its
   * time between callers. Defaults to 0.
   */
  readonly concurrencyEach?: number;
  /** Maximum number of jobs that wait to run. The server refuses any further ones as overloaded. */
  readonly waitingMax: number;
  /** Maximum size, in bytes, of the completions held for the resource. */
  readonly heldBytesMax: number;
  /** Maximum duration of one attempt, in milliseconds, counted from its start. */
  readonly timeLimitMs: number;
  /**
   * Maximum number of the server's attempts at one job. 1 if the environment retries by itself. Defaults to a
   * few.
   */
  readonly attemptsMax?: number;
  /**
   * Checks whether a resource that is down answers again. Returns undefined if it does. If omitted, the next
   * job is the check.
   */
  readonly probe?: (context: VerifyContext) => Promise<Failed | undefined>;
}

/** Deadline for questions to external services, and the connections to them (ports.ts). */
export interface PortContext extends AskContext {
  readonly ports: Ports;
}

/**
 * Limits and ports of one verification, or of one call of an episode. The signal is aborted at the deadline, and also when nobody needs
 * the result any more. The deadline covers all work of the environment, including its own retries.
 */
export interface VerifyContext extends PortContext {
  /** Number of the server's attempt, from 1. */
  readonly attempt: number;
  /** Number of attempts after which the server gives up. */
  readonly attemptsMax: number;
}

interface MayAsk {
  readonly resource?: Resource | undefined;
  readonly askingTools?: readonly string[];
}

/**
 * Returns the resource that scoring a task needs: that of its calls if it has turns, else that of the verifier. `calls`
 * is unset for a task without turns, and `tools` are the names of those that the task is given.
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
 * Returns whether equal completions get equal scores and replies, apart from calls of `nondeterministicTools`. Unless the
 * environment declares it, they do if nothing else asks a resource.
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
