/** Who calls: the client of the page's own server, the token it calls with, and whether the server is there. */
import { computed, effect, signal } from "@preact/signals";
import { type Caller, callerOver } from "../../clients/ts/src/caller.ts";
import { clientOver, type GradusClient } from "../../clients/ts/src/client.ts";
import { connectTransport } from "../../clients/ts/src/connect/transport.ts";
import { GradusError } from "../../clients/ts/src/errors.ts";
import { tokenOf } from "../../clients/ts/src/token.ts";

const TOKEN = "gradus.token";
/** How often a server that went away is asked for, and one that is there. */
const LOST_MS = 1_000;
const LIVE_MS = 10_000;
/** A server that says nothing for so long is away: a machine that is gone refuses no connection. */
const SILENT_MS = 5_000;

/** What calls are made with; undefined: nothing. */
export const token = signal(sessionStorage.getItem(TOKEN) ?? undefined);

/** The client, and what calls of the contract that it has no words for are made with. */
export type Gradus = GradusClient & Pick<Caller, "unary">;

/** Calls are not sent again by themselves: what is shown says that the server is away, and comes back with it. */
export const gradus = computed<Gradus>(() => {
  const transport = connectTransport(location.origin, { token: token.value });
  const defaults = { onFeedback: "ignore", retry: false } as const;
  const { unary } = callerOver(transport, defaults);
  return { ...clientOver(transport, defaults), unary };
});

interface TokenWanted {
  /** A token was given, and the server refused it. */
  readonly refused: boolean;
  readonly why: string;
}

/** Undefined: no token is wanted. */
export const tokenWanted = signal<TokenWanted | undefined>(undefined);

/** Takes a token, or says why it is none. */
export function giveToken(text: string): void {
  try {
    const given = tokenOf(text) ?? "";
    sessionStorage.setItem(TOKEN, given);
    token.value = given;
    tokenWanted.value = undefined;
  } catch (error) {
    // No client could be made with it, not even by a page that is loaded again and finds it kept.
    tokenWanted.value = { refused: false, why: noteFailure(error).message };
  }
}

export function forgetToken(): void {
  sessionStorage.removeItem(TOKEN);
  token.value = undefined;
}

export const hasToken = computed(() => token.value !== undefined);

/** Since when the server does not answer; undefined: it does. */
export const lostSince = signal<Date | undefined>(undefined);

/** Counts the server's returns: what was asked before is asked again. */
export const returns = signal(0);

async function isThere(): Promise<boolean> {
  try {
    return (await fetch("readyz", { cache: "no-store", signal: AbortSignal.timeout(SILENT_MS) })).ok;
  } catch {
    return false;
  }
}

let timer: ReturnType<typeof setTimeout> | undefined;

/** Asks whether the server is there, now and then every so often while the page is looked at. */
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

/** Waits for the server, if it is away. */
export async function whenThere(): Promise<void> {
  await look();
  await new Promise<void>((resolve) => {
    lostSince.subscribe((since) => {
      if (since === undefined) resolve();
    });
  });
}

/** Begins to watch over the connection. */
export function watchConnection(): void {
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) void look();
  });
  effect(() => {
    if (gradus.value !== undefined) void look();
  });
}

/** Takes what a failed call says of the session, and gives what its view is to show. */
export function noteFailure(thrown: unknown): Error {
  if (!(thrown instanceof GradusError)) return thrown instanceof Error ? thrown : new Error(String(thrown));
  if (thrown.code === "UNAUTHENTICATED") {
    tokenWanted.value = { refused: token.value !== undefined, why: thrown.message };
    // A page that is loaded again asks for a token rather than send this one again.
    sessionStorage.removeItem(TOKEN);
  }
  // It may be one thing that the server asks, e.g. a teacher, rather than the server.
  if (thrown.code === "UNAVAILABLE") void look();
  return thrown;
}
