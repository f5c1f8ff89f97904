/**
 * Cuts secrets out of foreign texts. Endpoints echo their requests in errors and replies, and those texts go on to
 * trainers, logs and terminals. The cut happens where such texts arrive, before anything reads or shortens them.
 */

/** A shorter value is no secret ("none", "EMPTY"), and cutting it would only damage texts. */
const LENGTH_MIN = 6;
const CUT = "[a secret]";

/**
 * Returns a function that cuts these secrets out of a text: as they are, in any case, and in the forms in which they
 * are quoted.
 */
export function secretCutter(secrets: readonly (string | undefined)[]): (words: string) => string {
  const forms = secrets
    .filter((secret) => secret !== undefined)
    .filter(({ length }) => length >= LENGTH_MIN)
    // The longest comes first, because one secret may begin with another.
    .sort((a, b) => b.length - a.length)
    .flatMap((secret) => [quoted(secret), ...encoded(Buffer.from(secret))]);
  if (forms.length === 0) return (words) => words;
  const any = new RegExp(forms.join("|"), "gi");
  return (words) => words.replace(any, CUT);
}

/**
 * Placeholders for a key where an endpoint requires none, such as "ollama", "not-needed", "anything" or "123456".
 * Models write such words too, and cutting them would change texts that are scored and kept.
 */
const STAND_IN = /^(?:[a-z_-]{1,15}|\d{1,15})$/i;

/** Returns a function that cuts an endpoint's key out of a model's text; secretCutter cuts any key out of errors. */
export function keyCutter(key: string | undefined): (words: string) => string {
  return secretCutter(key !== undefined && STAND_IN.test(key) ? [] : [key]);
}

/**
 * Matches each character of a secret as it is, or as URLs, forms, JSON and HTML write it, also if encoded several
 * times: later code decodes a reply, and a secret that was encoded would reappear.
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

/** Returns the secret in hex, and in base64 at each possible offset in the encoded text. */
function encoded(bytes: Buffer): readonly string[] {
  const forms = [bytes.toString("hex"), ...[0, 1, 2].flatMap((before) => base64Of(bytes, before))];
  return [...new Set(forms)].filter((form) => form.length >= LENGTH_MIN).map((form) => RegExp.escape(form));
}

/**
 * Returns the base64 digits that the bytes alone determine, with `before` bytes in front of them; the digits at both
 * ends depend on neighbouring bytes.
 */
function base64Of(bytes: Buffer, before: number): readonly string[] {
  const whole = Buffer.concat([Buffer.alloc(before), bytes]);
  const [from, to] = [Math.ceil((before * 8) / 6), Math.floor((whole.length * 8) / 6)];
  return (["base64", "base64url"] as const).map((encoding) => whole.toString(encoding).slice(from, to));
}

/**
 * Returns the address of a database or a collector of traces without its password. A text that is no address stays as
 * it is.
 */
export function withoutPassword(address: string): string {
  if (!URL.canParse(address)) return address;
  const url = new URL(address);
  if (url.password !== "") url.password = "redacted";
  if (url.searchParams.has("password")) url.searchParams.set("password", "redacted");
  return url.href;
}
