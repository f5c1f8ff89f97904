/** Events and states as JSON. Only seeds (bigint) and the issued hashes need a form of their own. */
import type { RunEvent } from "./events.ts";
import { hashLists, issuedHashes } from "./issued-hashes.ts";
import type { RunState } from "./state.ts";
import type { RunConfig } from "./types.ts";

/** Changes when a state written by an older server can no longer be read as it is. */
const STATE_FORMAT = 1;

type ConfigDocument = Omit<RunConfig, "seed" | "groupTimeoutMs"> & {
  /** Decimal digits: a JSON number would lose bits above 2^53. */
  readonly seed: string;
  readonly groupTimeoutMs: number | null;
};

/** A state as JSON. */
export type StateDocument = Omit<RunState, "config" | "issued" | "probabilities"> & {
  readonly format: number;
  readonly config: ConfigDocument;
  readonly probabilities: readonly number[] | null;
  /** Hashes joined by spaces. */
  readonly issued: { readonly older: string; readonly recent: string };
};

function encodeConfig(config: RunConfig): ConfigDocument {
  return { ...config, seed: config.seed.toString(), groupTimeoutMs: config.groupTimeoutMs ?? null };
}

function decodeConfig(document: ConfigDocument): RunConfig {
  return { ...document, seed: BigInt(document.seed), groupTimeoutMs: document.groupTimeoutMs ?? undefined };
}

export function encodeState(state: RunState): StateDocument {
  const { older, recent } = hashLists(state.issued);
  return {
    ...state,
    format: STATE_FORMAT,
    config: encodeConfig(state.config),
    probabilities: state.probabilities ?? null,
    issued: { older: older.join(" "), recent: recent.join(" ") },
  };
}

export function decodeState({ format: _format, ...document }: StateDocument): RunState {
  const list = (joined: string): readonly string[] => (joined === "" ? [] : joined.split(" "));
  return {
    ...document,
    config: decodeConfig(document.config),
    probabilities: document.probabilities ?? undefined,
    issued: issuedHashes(list(document.issued.older), list(document.issued.recent)),
  };
}

/** Reads a state document; undefined: not one that this server understands. */
export function parseState(text: string): StateDocument | undefined {
  try {
    const document = JSON.parse(text) as StateDocument | null;
    return document?.format === STATE_FORMAT ? document : undefined;
  } catch {
    return undefined;
  }
}

export function encodeEvent(event: RunEvent): string {
  return JSON.stringify(event.kind === "created" ? { ...event, config: encodeConfig(event.config) } : event);
}

/** Reads what encodeEvent wrote. */
export function decodeEvent(text: string): RunEvent {
  const event = JSON.parse(text) as RunEvent;
  if (event.kind !== "created") return event;
  return { ...event, config: decodeConfig(event.config as unknown as ConfigDocument) };
}
