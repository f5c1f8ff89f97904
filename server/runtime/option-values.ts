/** Converts the text of an option into a value. A parser says what it accepts; the caller names the option. */

/** A problem of the configuration, in words for the person who started the server. */
export class ConfigProblem extends Error {}

export type Parsed<T> =
  { readonly kind: "value"; readonly value: T } | { readonly kind: "refused"; readonly expected: string };

/** An option before a table gives it a name. */
export interface UnnamedOption<T> {
  /** Placeholder of the value in the help text; empty: a switch without a value. */
  readonly placeholder: string;
  readonly description: string;
  readonly defaultValue: T;
  /** Whether the option may be given several times; in the environment, separated by commas. */
  readonly repeatable: boolean;
  /** The accepted words, if there are few. */
  readonly choices?: readonly string[];
  /** Whether the value is secret, and never printed. */
  readonly secret: boolean;
  parse(texts: readonly string[]): Parsed<T>;
}

/** An option of a table: a flag and an environment variable. */
export interface OptionSpec<T> extends UnnamedOption<T> {
  /** Flag without the dashes, for example "max-groups". */
  readonly flag: string;
}

/** The values of a table's options, by name. */
export type ValuesOf<Table extends Readonly<Record<string, OptionSpec<unknown>>>> = {
  readonly [K in keyof Table]: Table[K] extends OptionSpec<infer T> ? T : never;
};

/** Gives each option its flag, for example "max-groups" to maxGroups: commander uses these names for values. */
export function optionTable<const Table extends Readonly<Record<string, UnnamedOption<unknown>>>>(table: Table) {
  const flagOf = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  const named = Object.entries(table).map(([name, option]) => [name, { ...option, flag: flagOf(name) }]);
  return Object.fromEntries(named) as { readonly [K in keyof Table]: Table[K] & { readonly flag: string } };
}

type Described = Pick<UnnamedOption<unknown>, "description">;

const accept = <T>(value: T): Parsed<T> => ({ kind: "value", value });
const refuse = (expected: string): Parsed<never> => ({ kind: "refused", expected });

/** Parses the last text given: a flag that is not repeatable overrides itself. */
function single<T>(parse: (text: string) => Parsed<T>): (texts: readonly string[]) => Parsed<T> {
  return (texts) => parse(texts.at(-1) ?? "");
}

const plain = { repeatable: false, secret: false } as const;

/** A non-empty text; undefined by default. */
export function optionalText(of: Described & { readonly placeholder: string; readonly secret?: boolean }) {
  const parse = single((text) => (text === "" ? refuse("a text that is not empty") : accept<string | undefined>(text)));
  return { ...plain, defaultValue: undefined, ...of, parse } satisfies UnnamedOption<string | undefined>;
}

/** A non-empty text. */
export function text(of: Described & { readonly placeholder: string; readonly defaultValue: string }) {
  const parse = single((given) => (given === "" ? refuse("a text that is not empty") : accept(given)));
  return { ...plain, ...of, parse } satisfies UnnamedOption<string>;
}

/** One of a few words. */
export function choice<const T extends string>(
  of: Described & { readonly choices: readonly T[]; readonly defaultValue: NoInfer<T> },
): UnnamedOption<T> {
  const parse = single((given) => {
    const found = of.choices.find((word) => word === given);
    return found === undefined ? refuse(`one of ${of.choices.join(", ")}`) : accept(found);
  });
  return { ...plain, ...of, placeholder: "word", parse };
}

/** The store of runs: a word, or the address of a PostgreSQL database, which may contain a password. */
export function storeAddress(of: Described & { readonly defaultValue: string }): UnnamedOption<string> {
  const parse = single((given) =>
    ["sqlite", "memory"].includes(given) || (/^postgres(ql)?:\/\/./.test(given) && URL.canParse(given))
      ? accept(given)
      : refuse("sqlite, memory or the address of a database, postgres://user@host/database"),
  );
  return { ...plain, ...of, placeholder: "sqlite|memory|address", secret: true, parse };
}

/** Minimum and maximum, both included. */
type Range = readonly [min: number, max: number];
type Ranged = Described & { readonly range: Range; readonly defaultValue: number };

function wholeNumber([min, max]: Range): (texts: readonly string[]) => Parsed<number> {
  return single((given) => {
    const value = /^\d{1,15}$/.test(given) ? Number(given) : NaN;
    return value >= min && value <= max ? accept(value) : refuse(`a whole number from ${min} to ${max}`);
  });
}

/** A whole number within a range. */
export function integer(of: Ranged): UnnamedOption<number> {
  return { ...plain, ...of, placeholder: "n", parse: wholeNumber(of.range) };
}

/** A whole number within a range; undefined by default. */
export function optionalInteger(of: Omit<Ranged, "defaultValue">): UnnamedOption<number | undefined> {
  return { ...plain, defaultValue: undefined, ...of, placeholder: "n", parse: wholeNumber(of.range) };
}

/** A number within a range, in digits with an optional decimal point. */
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

/** A number of bytes in digits, with an optional KiB, MiB or GiB. */
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

/** A switch: on when given. In the environment: true, false, 1 or 0. */
export function flag(of: Described): UnnamedOption<boolean> {
  const parse = single((given) => {
    if (given === "true" || given === "1") return accept(true);
    return given === "false" || given === "0" ? accept(false) : refuse("true or false");
  });
  return { ...plain, ...of, placeholder: "", defaultValue: false, parse };
}

/** A list's parser for each text. `about` returns the key of a value that may be given only once for each key. */
interface ListOf<T> extends Described {
  readonly placeholder: string;
  readonly each: (text: string) => Parsed<T>;
  readonly about?: (value: T) => string;
}

/** Any number of texts; none by default. `each` says what it expects if a text is invalid. */
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

/** Parses `name=value` of a repeatable option. */
export function namedPath(given: string): Parsed<{ readonly name: string; readonly path: string }> {
  const match = /^([a-zA-Z0-9._-]{1,64})=(.+)$/s.exec(given);
  if (match === null) return refuse("name=path, where the name has 1 to 64 characters of a-z A-Z 0-9 . _ -");
  return accept({ name: match[1] ?? "", path: match[2] ?? "" });
}

/** Parses `[pool:]name=column` of a repeatable option. */
export function namedColumn(
  given: string,
): Parsed<{ readonly pool: string | undefined; readonly name: string; readonly column: string }> {
  const match = /^(?:([a-zA-Z0-9._-]{1,64}):)?([^=:]{1,128})=(.+)$/s.exec(given);
  if (match === null) return refuse("name=column or pool:name=column, e.g. answer=final_answer");
  return accept({ pool: match[1], name: match[2] ?? "", column: match[3] ?? "" });
}

/** Parses an origin as browsers send it, or `*` for any. */
export function origin(given: string): Parsed<string> {
  const right = given === "*" || /^https?:\/\/[^/\s,]+$/.test(given);
  return right ? accept(given) : refuse("an origin such as https://example.org, or * for any");
}

/** Parses a host as requests name it, without the port, or `*` for any. */
export function hostName(given: string): Parsed<string> {
  const right = given === "*" || /^(\[[0-9a-f:.]+\]|[^\s,:/]+)$/i.test(given);
  return right
    ? accept(given.toLowerCase())
    : refuse("a host without a port, such as gym.example or [2001:db8::1], or *");
}

/**
 * Returns whether a text is an HTTP address without a password: keys and passwords have options of their own, which are
 * not printed.
 */
export function isWebAddress(url: string): boolean {
  return URL.canParse(url) && /^https?:$/.test(new URL(url).protocol) && new URL(url).password === "";
}
