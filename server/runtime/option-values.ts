/**
 * Parsers that convert an option's text into a value. If a text is invalid, a parser says what it expects, and the
 * caller adds the option's name.
 */

/** Problem of the configuration. The message is for the person who started the server. */
export class ConfigProblem extends Error {}

export type Parsed<T> =
  { readonly kind: "value"; readonly value: T } | { readonly kind: "refused"; readonly expected: string };

/** Description of a command-line option without its name, which optionTable adds. */
export interface UnnamedOption<T> {
  /** Placeholder of the value in the help text, e.g. "file". Empty: the option is a switch without a value. */
  readonly placeholder: string;
  readonly description: string;
  readonly defaultValue: T;
  /**
   * Whether the option may be given several times. Its environment variable then has one value on each line, or values
   * separated by commas.
   */
  readonly repeatable: boolean;
  /** Accepted values, if there are only a few. */
  readonly choices?: readonly string[];
  /** Whether the value is secret and must never be printed. */
  readonly secret: boolean;
  parse(texts: readonly string[]): Parsed<T>;
}

/** Option of the server that can be set by a flag or an environment variable. */
export interface OptionSpec<T> extends UnnamedOption<T> {
  /** Flag without the dashes, for example "max-groups". */
  readonly flag: string;
}

/** Types of the values of a table's options, by the option's name. */
export type ValuesOf<Table extends Readonly<Record<string, OptionSpec<unknown>>>> = {
  readonly [K in keyof Table]: Table[K] extends OptionSpec<infer T> ? T : never;
};

/** Adds each option's flag, for example "max-groups" for maxGroups. Commander derives the same names from flags. */
export function optionTable<const Table extends Readonly<Record<string, UnnamedOption<unknown>>>>(table: Table) {
  const flagOf = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  const named = Object.entries(table).map(([name, option]) => [name, { ...option, flag: flagOf(name) }]);
  return Object.fromEntries(named) as { readonly [K in keyof Table]: Table[K] & { readonly flag: string } };
}

type Described = Pick<UnnamedOption<unknown>, "description">;

const accept = <T>(value: T): Parsed<T> => ({ kind: "value", value });
const refuse = (expected: string): Parsed<never> => ({ kind: "refused", expected });

/** Parses only the last of several texts, because a repeated flag overrides its earlier values. */
function single<T>(parse: (text: string) => Parsed<T>): (texts: readonly string[]) => Parsed<T> {
  return (texts) => parse(texts.at(-1) ?? "");
}

const plain = { repeatable: false, secret: false } as const;

/** Option whose value is a non-empty text. Undefined by default. */
export function optionalText(of: Described & { readonly placeholder: string; readonly secret?: boolean }) {
  const parse = single((text) => (text === "" ? refuse("a text that is not empty") : accept<string | undefined>(text)));
  return { ...plain, defaultValue: undefined, ...of, parse } satisfies UnnamedOption<string | undefined>;
}

/** Option whose value is a non-empty text, with a default. */
export function text(of: Described & { readonly placeholder: string; readonly defaultValue: string }) {
  const parse = single((given) => (given === "" ? refuse("a text that is not empty") : accept(given)));
  return { ...plain, ...of, parse } satisfies UnnamedOption<string>;
}

/** Option whose value is one of a few words. */
export function choice<const T extends string>(
  of: Described & { readonly choices: readonly T[]; readonly defaultValue: NoInfer<T> },
): UnnamedOption<T> {
  const parse = single((given) => {
    const found = of.choices.find((word) => word === given);
    return found === undefined ? refuse(`one of ${of.choices.join(", ")}`) : accept(found);
  });
  return { ...plain, ...of, placeholder: "word", parse };
}

/** Option for the store of runs: a word, or the address of a PostgreSQL database, which may contain a password. */
export function storeAddress(of: Described & { readonly defaultValue: string }): UnnamedOption<string> {
  const parse = single((given) =>
    ["sqlite", "memory"].includes(given) || (/^postgres(ql)?:\/\/./.test(given) && URL.canParse(given))
      ? accept(given)
      : refuse("sqlite, memory or the address of a database, postgres://user@host/database"),
  );
  return { ...plain, ...of, placeholder: "sqlite|memory|address", secret: true, parse };
}

/** Minimum and maximum of a number, both allowed. */
type Range = readonly [min: number, max: number];
type Ranged = Described & { readonly range: Range; readonly defaultValue: number };

function wholeNumber([min, max]: Range): (texts: readonly string[]) => Parsed<number> {
  return single((given) => {
    const value = /^\d{1,15}$/.test(given) ? Number(given) : NaN;
    return value >= min && value <= max ? accept(value) : refuse(`a whole number from ${min} to ${max}`);
  });
}

/** Option whose value is a whole number within a range. */
export function integer(of: Ranged): UnnamedOption<number> {
  return { ...plain, ...of, placeholder: "n", parse: wholeNumber(of.range) };
}

/** Option whose value is a whole number within a range. Undefined by default. */
export function optionalInteger(of: Omit<Ranged, "defaultValue">): UnnamedOption<number | undefined> {
  return { ...plain, defaultValue: undefined, ...of, placeholder: "n", parse: wholeNumber(of.range) };
}

/** Option whose value is a number within a range, in digits with an optional decimal point. */
export function decimal<Default extends number | undefined>(
  of: Described & { readonly range: Range; readonly defaultValue: Default },
): UnnamedOption<number | Default> {
  const [min, max] = of.range;
  const parse = single<number | Default>((given) => {
    const value = /^\d{1,9}(\.\d{1,9})?$/.test(given) ? Number(given) : NaN;
    return value >= min && value <= max ? accept(value) : refuse(`a number from ${min} to ${max}`);
  });
  return { ...plain, ...of, placeholder: "x", parse };
}

const byteUnits: Readonly<Record<string, number>> = { "": 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 };

/** Option whose value is a number of bytes, optionally in KiB, MiB or GiB, e.g. "4 MiB". */
export function bytes(of: Ranged): UnnamedOption<number> {
  const [min, max] = of.range;
  const parse = single((given) => {
    const match = /^(\d{1,15})(|KiB|MiB|GiB)$/.exec(given);
    const value = match === null ? NaN : Number(match[1]) * (byteUnits[match[2] ?? ""] ?? NaN);
    const expected = `a number of bytes from ${min} to ${max}, e.g. 1048576 or 1MiB`;
    return value >= min && value <= max ? accept(value) : refuse(expected);
  });
  return { ...plain, ...of, placeholder: "bytes", parse };
}

/** Option that is a switch: on when the flag is given. Its environment variable is true, false, 1 or 0. */
export function flag(of: Described): UnnamedOption<boolean> {
  const parse = single((given) => {
    if (given === "true" || given === "1") return accept(true);
    return given === "false" || given === "0" ? accept(false) : refuse("true or false");
  });
  return { ...plain, ...of, placeholder: "", defaultValue: false, parse };
}

/**
 * Description of an option that can be given several times. `each` parses one text. `about` returns what a value is
 * for, e.g. a column's name; two values for the same thing are refused.
 */
interface ListOf<T> extends Described {
  readonly placeholder: string;
  readonly each: (text: string) => Parsed<T>;
  readonly about?: (value: T) => string;
}

/** Option that can be given any number of times. By default there are no values. */
export function list<T>({ about, ...of }: ListOf<T>): UnnamedOption<readonly T[]> {
  const parse = (texts: readonly string[]): Parsed<readonly T[]> => {
    const results = texts.map(of.each);
    const refused = results.find((result) => result.kind === "refused");
    if (refused !== undefined) return refused;
    const values = results.flatMap((result) => (result.kind === "value" ? [result.value] : []));
    const isOnce = about === undefined || new Set(values.map(about)).size === values.length;
    return isOnce ? accept(values) : refuse("given once for each name");
  };
  return { ...plain, ...of, repeatable: true, defaultValue: [], parse };
}

/** Parses `name=path`, e.g. for --pool. */
export function namedPath(given: string): Parsed<{ readonly name: string; readonly path: string }> {
  const match = /^([a-zA-Z0-9._-]{1,64})=(.+)$/s.exec(given);
  if (match === null) return refuse("name=path, where the name has 1 to 64 characters of a-z A-Z 0-9 . _ -");
  return accept({ name: match[1] ?? "", path: match[2] ?? "" });
}

/** Parses `[pool:]name=column`, for --column. */
export function namedColumn(
  given: string,
): Parsed<{ readonly pool: string | undefined; readonly name: string; readonly column: string }> {
  const match = /^(?:([a-zA-Z0-9._-]{1,64}):)?([^=:]{1,128})=(.+)$/s.exec(given);
  if (match === null) return refuse("name=column or pool:name=column, e.g. answer=final_answer");
  return accept({ pool: match[1], name: match[2] ?? "", column: match[3] ?? "" });
}

/** Parses an origin as browsers send it, e.g. "https://example.org", or `*` for any. */
export function origin(given: string): Parsed<string> {
  const right = given === "*" || /^https?:\/\/[^/\s,]+$/.test(given);
  return right ? accept(given) : refuse("an origin such as https://example.org, or * for any");
}

/** Parses a host name as it is in requests, without the port, or `*` for any. */
export function hostName(given: string): Parsed<string> {
  const right = given === "*" || /^(\[[0-9a-f:.]+\]|[^\s,:/]+)$/i.test(given);
  return right
    ? accept(given.toLowerCase())
    : refuse("a host without a port, such as gym.example or [2001:db8::1], or *");
}

/**
 * Returns whether a text is an HTTP address without a password. Passwords and keys have options of their own, which are
 * never printed.
 */
export function isWebAddress(url: string): boolean {
  return URL.canParse(url) && /^https?:$/.test(new URL(url).protocol) && new URL(url).password === "";
}
