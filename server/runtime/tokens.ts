/**
 * Who may call, and what: the tokens that the server knows, each with its name, its role and its limits. Those of
 * --tokens-file are read again when the file changes, so that one is added or withdrawn without a restart.
 */
import { hash, timingSafeEqual } from "node:crypto";
import { unwatchFile, watchFile } from "node:fs";
import type { Logger } from "pino";
import { parseDocument } from "yaml";
import { readTextFile } from "./files.ts";
import { isToken, TOKEN_WORDS } from "./token.ts";

/** Each may do what those before it may. server/transport/roles.ts has what that is. */
export const roles = ["viewer", "trainer", "operator"] as const;
export type Role = (typeof roles)[number];

export function isAtLeast(role: Role, needed: Role): boolean {
  return roles.indexOf(role) >= roles.indexOf(needed);
}

/** A token, told from others by its digest: the token itself is not kept. */
export interface Token {
  readonly name: string;
  readonly role: Role;
  readonly digest: Buffer;
  /** Calls of it in progress at most; undefined: as many as the server takes. */
  readonly maxInflightCalls: number | undefined;
  /** Calls of it that begin in a second at most, a stream being one; undefined: as many as come. */
  readonly maxCallsPerSecond: number | undefined;
}

export interface Tokens {
  /** The token that a caller brought, if it is one of the server's. It takes as long for every one that is not. */
  find(brought: string): Token | undefined;
  /** Whether a token is still one of the server's, of the same role. */
  has(token: Token): boolean;
  /** Tells when the file was read again. */
  onChange(listener: () => void): void;
  /** Watches the file no more. */
  close(): void;
}

/** A call compares its token with each: 0.1 µs. */
const TOKENS_MAX = 64;
/** A look at the file's times. */
const LOOK_EVERY_MS = 1000;

/** What is wrong with a file of tokens, in words that hold nothing of it. */
export class TokensProblem extends Error {}

function digestOf(token: string): Buffer {
  return hash("sha256", token, "buffer");
}

/** Reads a file of tokens; throws a TokensProblem. */
export function readTokens(path: string): readonly Token[] {
  let text: string;
  try {
    text = readTextFile(path);
  } catch (error) {
    throw new TokensProblem(`it cannot be read (${(error as NodeJS.ErrnoException).code ?? "an unknown error"})`);
  }
  // The words of its errors quote the line.
  const document = parseDocument(text, { logLevel: "silent", schema: "core", merge: false });
  const [wrong] = document.errors;
  if (wrong !== undefined) throw new TokensProblem(`line ${wrong.linePos?.[0].line ?? 1} is neither YAML nor JSON`);
  const entries = document.toJSON() as unknown;
  if (typeof entries === "string" && isToken(entries))
    throw new TokensProblem("it holds one token and not a list of them: that is what --token-file takes");
  if (!Array.isArray(entries) || entries.length === 0 || entries.length > TOKENS_MAX)
    throw new TokensProblem(`it must be a list of 1 to ${TOKENS_MAX} tokens`);
  return distinct(entries.map(readToken));
}

/** What is wrong with the file before a server begins; undefined: nothing, or there is none. It is read again then. */
export function tokensProblem(path: string | undefined): string | undefined {
  try {
    if (path !== undefined) readTokens(path);
    return undefined;
  } catch (error) {
    if (!(error instanceof TokensProblem)) throw error;
    return `--tokens-file must be a file of tokens; of '${path}' ${error.message}`;
  }
}

/** Refuses tokens of one name, and names of one token: neither would say who calls. */
export function distinct(tokens: readonly Token[]): readonly Token[] {
  const names = new Set(tokens.map(({ name }) => name));
  const digests = new Set(tokens.map(({ digest }) => digest.toString("hex")));
  if (names.size < tokens.length) throw new TokensProblem("two tokens have one name");
  if (digests.size < tokens.length) throw new TokensProblem("one token stands there twice");
  return tokens;
}

const FIELDS = ["name", "role", "token", "sha256", "max_inflight_calls", "max_calls_per_second"] as const;

function readToken(entry: unknown, i: number): Token {
  const fields = (typeof entry === "object" && entry !== null ? entry : {}) as Readonly<Record<string, unknown>>;
  const { name, role, token, sha256, max_inflight_calls: maxInflightCalls } = fields;
  const maxCallsPerSecond = fields["max_calls_per_second"];
  const refuse = (what: string): never => {
    throw new TokensProblem(`token ${i + 1} ${what}`);
  };
  if (Object.keys(fields).some((field) => !FIELDS.some((known) => known === field)))
    refuse(`has a field that is none of ${FIELDS.join(", ")}`);
  if (typeof name !== "string" || !/^[\w.@-]{1,64}$/.test(name))
    return refuse("needs a name: 1 to 64 characters of a-z A-Z 0-9 . _ @ -");
  const known = roles.find((each) => each === role);
  if (known === undefined) return refuse(`('${name}') needs a role: ${roles.join(", ")}`);
  if (maxInflightCalls !== undefined && !(Number.isSafeInteger(maxInflightCalls) && Number(maxInflightCalls) > 0))
    refuse(`('${name}') has a max_inflight_calls that is no whole number from 1 on`);
  if (maxCallsPerSecond !== undefined && !(Number.isFinite(maxCallsPerSecond) && Number(maxCallsPerSecond) > 0))
    refuse(`('${name}') has a max_calls_per_second that is no number above 0`);
  const limits = { maxInflightCalls, maxCallsPerSecond } as Pick<Token, "maxInflightCalls" | "maxCallsPerSecond">;
  const of = { name, role: known, ...limits };
  if (typeof token === "string" && sha256 === undefined && isToken(token)) return { ...of, digest: digestOf(token) };
  if (typeof sha256 === "string" && token === undefined && /^[0-9a-f]{64}$/i.test(sha256))
    return { ...of, digest: Buffer.from(sha256, "hex") };
  return refuse(`('${name}') needs either a token of ${TOKEN_WORDS}, or its sha256 in 64 hexadecimal digits`);
}

/** `token`: that of an operator. Undefined: the server asks for none. Throws a TokensProblem. */
export function openTokens(
  { token, tokensFile: path }: { readonly token: string | undefined; readonly tokensFile: string | undefined },
  log: Logger,
): Tokens | undefined {
  if (token === undefined && path === undefined) return undefined;
  const one = {
    name: "operator",
    role: "operator",
    maxInflightCalls: undefined,
    maxCallsPerSecond: undefined,
  } as const;
  const own = token === undefined ? [] : [{ ...one, digest: digestOf(token) }];
  const read = (): readonly Token[] => distinct([...own, ...(path === undefined ? [] : readTokens(path))]);
  let tokens = read();
  const listeners: (() => void)[] = [];
  const reload = (): void => {
    try {
      tokens = read();
      log.info({ path, names: tokens.map(({ name }) => name) }, "the tokens were read again");
      for (const listener of listeners) listener();
    } catch (error) {
      if (!(error instanceof TokensProblem)) throw error;
      log.error({ path, problem: error.message }, "the tokens cannot be read again: those from before stay");
    }
  };
  // By its times and not by the system's events: those of files that are replaced, or mounted, are not told everywhere.
  if (path !== undefined) watchFile(path, { persistent: false, interval: LOOK_EVERY_MS }, reload);
  return {
    find: (brought) => {
      const digest = digestOf(brought);
      // Digests have one length, and all are compared, whichever fits.
      return tokens.filter((each) => timingSafeEqual(digest, each.digest))[0];
    },
    has: ({ digest, role }) => tokens.some((each) => each.role === role && timingSafeEqual(digest, each.digest)),
    onChange: (listener) => void listeners.push(listener),
    close: () => {
      if (path !== undefined) unwatchFile(path, reload);
    },
  };
}
