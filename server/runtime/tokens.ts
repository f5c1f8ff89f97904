/**
 * Tokens that the server accepts, each with its name, role and limits. When --tokens-file changes it is read again, so
 * that tokens are added or removed without a restart.
 */
import { hash, timingSafeEqual } from "node:crypto";
import { unwatchFile, watchFile } from "node:fs";
import type { Logger } from "pino";
import { parseDocument } from "yaml";
import { readTextFile } from "./files.ts";
import { isToken, TOKEN_WORDS } from "./token.ts";

/**
 * Roles of callers. Each role may do everything that the roles before it may. The methods of each role are in
 * server/transport/roles.ts.
 */
export const roles = ["viewer", "trainer", "operator"] as const;
export type Role = (typeof roles)[number];

export function isAtLeast(role: Role, needed: Role): boolean {
  return roles.indexOf(role) >= roles.indexOf(needed);
}

/** Token that the server accepts. Only its digest is kept, not its text. */
export interface Token {
  readonly name: string;
  readonly role: Role;
  readonly digest: Buffer;
  /** Maximum number of calls in progress with this token. Undefined: only the server's limit applies. */
  readonly maxInflightCalls: number | undefined;
  /** Maximum number of calls with this token that begin in a second; a stream is one call. Undefined: no limit. */
  readonly maxCallsPerSecond: number | undefined;
}

export type Tokens = NonNullable<ReturnType<typeof openTokens>>;

/** Maximum number of tokens. Each call compares its token with all of them, which takes 0.1 µs each. */
const TOKENS_MAX = 64;
/** Interval, in milliseconds, at which the tokens file is checked for changes, by its modification time. */
const LOOK_EVERY_MS = 1000;

/** Problem of a tokens file. The message quotes nothing of the file, which is secret. */
export class TokensProblem extends Error {}

function digestOf(token: string): Buffer {
  return hash("sha256", token, "buffer");
}

/** Reads a tokens file. Throws TokensProblem if it cannot be read or is invalid. */
export function readTokens(path: string): readonly Token[] {
  let text: string;
  try {
    text = readTextFile(path);
  } catch (error) {
    throw new TokensProblem(`it cannot be read (${(error as NodeJS.ErrnoException).code ?? "an unknown error"})`);
  }
  // The parser's own messages quote the line, which is secret, so they are not used.
  const document = parseDocument(text, { logLevel: "silent", schema: "core", merge: false });
  const [wrong] = document.errors;
  if (wrong !== undefined)
    throw new TokensProblem(`line ${wrong.linePos?.[0].line ?? 1} is neither valid YAML nor valid JSON`);
  const entries = document.toJSON() as unknown;
  if (typeof entries === "string" && isToken(entries))
    throw new TokensProblem("it holds a single token instead of a list: give it to --token-file");
  if (!Array.isArray(entries) || entries.length === 0 || entries.length > TOKENS_MAX)
    throw new TokensProblem(`it must be a list of 1 to ${TOKENS_MAX} tokens`);
  return distinct(entries.map(readToken));
}

/**
 * Checks the tokens file before a server starts. Returns the problem; undefined: there is none, or no file is given.
 */
export function tokensProblem(path: string | undefined): string | undefined {
  try {
    if (path !== undefined) readTokens(path);
    return undefined;
  } catch (error) {
    if (!(error instanceof TokensProblem)) throw error;
    return `--tokens-file must be a file of tokens; got '${path}': ${error.message}`;
  }
}

/** Returns the tokens. Throws if two have the same name, or the same text, because it would be unclear who calls. */
export function distinct(tokens: readonly Token[]): readonly Token[] {
  const names = new Set(tokens.map(({ name }) => name));
  const digests = new Set(tokens.map(({ digest }) => digest.toString("hex")));
  if (names.size < tokens.length) throw new TokensProblem("two tokens have the same name: give each its own");
  if (digests.size < tokens.length) throw new TokensProblem("one token is listed twice: remove one");
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
    refuse(`has an unknown field; known fields: ${FIELDS.join(", ")}`);
  if (typeof name !== "string" || !/^[\w.@-]{1,64}$/.test(name))
    return refuse("needs a name: 1 to 64 characters of a-z A-Z 0-9 . _ @ -");
  const known = roles.find((each) => each === role);
  if (known === undefined) return refuse(`('${name}') needs a role: ${roles.join(", ")}`);
  if (maxInflightCalls !== undefined && !(Number.isSafeInteger(maxInflightCalls) && Number(maxInflightCalls) > 0))
    refuse(`('${name}') needs a max_inflight_calls that is a whole number from 1 on`);
  if (maxCallsPerSecond !== undefined && !(Number.isFinite(maxCallsPerSecond) && Number(maxCallsPerSecond) > 0))
    refuse(`('${name}') needs a max_calls_per_second that is a number above 0`);
  const limits = { maxInflightCalls, maxCallsPerSecond } as Pick<Token, "maxInflightCalls" | "maxCallsPerSecond">;
  const of = { name, role: known, ...limits };
  if (typeof token === "string" && sha256 === undefined && isToken(token)) return { ...of, digest: digestOf(token) };
  if (typeof sha256 === "string" && token === undefined && /^[0-9a-f]{64}$/i.test(sha256))
    return { ...of, digest: Buffer.from(sha256, "hex") };
  return refuse(`('${name}') needs either a token of ${TOKEN_WORDS}, or its sha256 in 64 hexadecimal digits`);
}

/**
 * Opens the server's tokens: a single `token`, which gets the role operator, and those of the tokens file, which is
 * read again after each change. Undefined: neither is given, so the server requires no token. Throws TokensProblem.
 */
export function openTokens(
  { token, tokensFile: path }: { readonly token: string | undefined; readonly tokensFile: string | undefined },
  log: Logger,
) {
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
      log.info({ path, names: tokens.map(({ name }) => name) }, "read the tokens file again");
      for (const listener of listeners) listener();
    } catch (error) {
      if (!(error instanceof TokensProblem)) throw error;
      log.error(
        { path, problem: error.message },
        "cannot read the tokens file again; the tokens from before stay valid: correct the file",
      );
    }
  };
  // The file's times are polled, because the system's events do not report all changes of replaced or mounted files.
  if (path !== undefined) watchFile(path, { persistent: false, interval: LOOK_EVERY_MS }, reload);
  return {
    /**
     * Returns the token whose text the caller sent. Undefined: the server has no such token. The time taken does not
     * depend on the text.
     */
    find: (brought: string): Token | undefined => {
      const digest = digestOf(brought);
      // Every digest is compared, and all have one length, so the time does not tell which one matches.
      return tokens.filter((each) => timingSafeEqual(digest, each.digest))[0];
    },
    /** Returns whether the server still accepts a token, with the same role. */
    has: ({ digest, role }: Token): boolean =>
      tokens.some((each) => each.role === role && timingSafeEqual(digest, each.digest)),
    /** Registers a listener. It is called each time after the tokens file was read again. */
    onChange: (listener: () => void) => void listeners.push(listener),
    /** Stops watching the file for changes. */
    close: (): void => {
      if (path !== undefined) unwatchFile(path, reload);
    },
  };
}
