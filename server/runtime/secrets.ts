/**
 * Cuts secrets out of words that leave: endpoints echo what they were sent, in errors and in replies, and what they say
 * goes on to trainers, logs and terminals. It is done where such words come in, before anything reads or cuts them.
 */

/** What is shorter is no secret ("none", "EMPTY"), and words would be cut for nothing. */
const LENGTH_MIN = 6;
const CUT = "[a secret]";

/** Gives what cuts these secrets out of words: as they are, in any case, and in the forms in which they are quoted. */
export function secretCutter(secrets: readonly (string | undefined)[]): (words: string) => string {
  const forms = secrets
    .filter((secret) => secret !== undefined)
    .filter(({ length }) => length >= LENGTH_MIN)
    // The longest first: one may begin with another.
    .sort((a, b) => b.length - a.length)
    .flatMap((secret) => [quoted(secret), ...encoded(Buffer.from(secret))]);
  if (forms.length === 0) return (words) => words;
  const any = new RegExp(forms.join("|"), "gi");
  return (words) => words.replace(any, CUT);
}

/**
 * What stands in for a key where an endpoint wants none, such as "ollama", "not-needed", "anything" or "123456". Models
 * write such words too, and what they wrote would be scored and kept without them.
 */
const STAND_IN = /^(?:[a-z_-]{1,15}|\d{1,15})$/i;

/** Gives what cuts an endpoint's key out of what a model wrote; errors are cut of any key, by secretCutter. */
export function keyCutter(key: string | undefined): (words: string) => string {
  return secretCutter(key !== undefined && STAND_IN.test(key) ? [] : [key]);
}

/**
 * Each of its characters as it is, or as URLs, forms, JSON and HTML write it, which may be done again to what was written:
 * a reply is unpacked behind this, and a secret that was packed would come out of it.
 */
function quoted(secret: string): string {
  return Array.from(secret, (character) => {
    const bytes = Array.from(Buffer.from(character), (byte) => `%(?:25){0,4}${hex(byte, 2)}`);
    const units = Array.from({ length: character.length }, (_, i) => character.charCodeAt(i));
    const code = character.codePointAt(0) as number;
    const names = ENTITIES[character] ?? [];
    const entities = [...names, `#0{0,6}${code}`, `#x0{0,6}${hex(code, 1)}`].join("|");
    return `(?:${[
      ...[`\\\\{0,8}${RegExp.escape(character)}`, bytes.join("")],
      ...[units.map((unit) => `\\\\{1,8}u${hex(unit, 4)}`).join(""), `&(?:amp;){0,4}(?:${entities});`],
      ...(character === " " ? ["\\+"] : []),
    ].join("|")})`;
  }).join("");
}

const ENTITIES: Readonly<Record<string, readonly string[]>> = {
  "&": ["amp"],
  "<": ["lt"],
  ">": ["gt"],
  '"': ["quot"],
  "'": ["apos"],
};

function hex(value: number, digits: number): string {
  return value.toString(16).padStart(digits, "0");
}

/** In hex, and in base64 wherever it begins in what was encoded. */
function encoded(bytes: Buffer): readonly string[] {
  const forms = [bytes.toString("hex"), ...[0, 1, 2].flatMap((before) => base64Of(bytes, before))];
  return [...new Set(forms)].filter((form) => form.length >= LENGTH_MIN).map((form) => RegExp.escape(form));
}

/** The digits that the bytes alone determine, with so many bytes before them; the ones at the ends have bits of others. */
function base64Of(bytes: Buffer, before: number): readonly string[] {
  const whole = Buffer.concat([Buffer.alloc(before), bytes]);
  const [from, to] = [Math.ceil((before * 8) / 6), Math.floor((whole.length * 8) / 6)];
  return (["base64", "base64url"] as const).map((encoding) => whole.toString(encoding).slice(from, to));
}

/** An address as it may be shown: of a database or a collector of traces. What is no address stays as it is. */
export function withoutPassword(address: string): string {
  if (!URL.canParse(address)) return address;
  const url = new URL(address);
  if (url.password !== "") url.password = "redacted";
  if (url.searchParams.has("password")) url.searchParams.set("password", "redacted");
  return url.href;
}
