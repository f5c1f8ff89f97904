/** Holds the client of the page's server, the token, and the state of the connection. */
import { computed, effect, signal } from "@preact/signals";
import { type Caller, callerOver } from "../../clients/ts/src/caller.ts";
import { clientOver, type GradusClient } from "../../clients/ts/src/client.ts";
import { connectTransport } from "../../clients/ts/src/connect/transport.ts";
import { GradusError } from "../../clients/ts/src/errors.ts";
import { tokenOf } from "../../clients/ts/src/token.ts";

const TOKEN = "gradus.token";
/** Time between two checks of a server that is down, in milliseconds. */
const LOST_MS = 1_000;
/** Time between two checks of a server that is up, in milliseconds. */
const LIVE_MS = 10_000;
/**
 * Time without an answer after which the server counts as down, in milliseconds. A machine that is gone does not refuse
 * connections.
 */
const SILENT_MS = 5_000;

/** Token that all calls send. Undefined for none. */
export const token = signal(sessionStorage.getItem(TOKEN) ?? undefined);

/** Client with the additional method `unary`, which returns the whole protobuf response of a call. */
export type Gradus = GradusClient & Pick<Caller, "unary">;

/**
 * Client of the current token. Calls are not retried: views show that the server is down, and ask again when it
 * returns.
 */
export const gradus = computed<Gradus>(() => {
  const transport = connectTransport(location.origin, { token: token.value });
  const defaults = { onFeedback: "ignore", retry: false } as const;
  const { unary } = callerOver(transport, defaults);
  return { ...clientOver(transport, defaults), unary };
});

interface TokenWanted {
  /** True if the server refused a token that was given. */
  readonly refused: boolean;
  readonly why: string;
}

/** Reason why the page asks for a token. Undefined if no token is needed. */
export const tokenWanted = signal<TokenWanted | undefined>(undefined);

/** Stores a token that the reader entered, or shows why the text cannot be a token. */
export function giveToken(text: string): void {
  try {
    const given = tokenOf(text) ?? "";
    sessionStorage.setItem(TOKEN, given);
    token.value = given;
    tokenWanted.value = undefined;
  } catch (error) {
    // Do not store the text, because no client could be created with it, not even after a reload.
    tokenWanted.value = { refused: false, why: noteFailure(error).message };
  }
}

export function forgetToken(): void {
  sessionStorage.removeItem(TOKEN);
  token.value = undefined;
}

export const hasToken = computed(() => token.value !== undefined);

/** Time since which the server does not answer. Undefined if it answers. */
export const lostSince = signal<Date | undefined>(undefined);

/**
 * Number of times that the server answered again after it was down. Each change makes the views repeat their requests.
 */
export const returns = signal(0);

async function isThere(): Promise<boolean> {
  try {
    return (await fetch("readyz", { cache: "no-store", signal: AbortSignal.timeout(SILENT_MS) })).ok;
  } catch {
    return false;
  }
}

let timer: ReturnType<typeof setTimeout> | undefined;

/** Checks the connection now, and repeats the check at an interval while the page is visible. */
async function look(): Promise<void> {
  clearTimeout(timer);
  const there = await isThere();
  if (!there) lostSince.value ??= new Date();
  else if (lostSince.value !== undefined) {
    lostSince.value = undefined;
    returns.value++;
  }
  clearTimeout(timer);
  if (!document.hidden) timer = setTimeout(() => void look(), there ? LIVE_MS : LOST_MS);
}

/** Waits until the server answers. */
export async function whenThere(): Promise<void> {
  await look();
  await new Promise<void>((resolve) => {
    lostSince.subscribe((since) => {
      if (since === undefined) resolve();
    });
  });
}

export function watchConnection(): void {
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) void look();
  });
  effect(() => {
    if (gradus.value !== undefined) void look();
  });
}

/** Updates the session after a failed call, and returns the error for the view to show. */
export function noteFailure(thrown: unknown): Error {
  if (!(thrown instanceof GradusError)) return thrown instanceof Error ? thrown : new Error(String(thrown));
  if (thrown.code === "UNAUTHENTICATED") {
    tokenWanted.value = { refused: token.value !== undefined, why: thrown.message };
    // Forget the token, so that the page asks for one after a reload instead of sending this one again.
    sessionStorage.removeItem(TOKEN);
  }
  // Check the server itself, because the error may concern only one resource, e.g. a teacher.
  if (thrown.code === "UNAVAILABLE") void look();
  return thrown;
}
