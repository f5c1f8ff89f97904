/**
 * Removes secrets (e.g. API keys) from texts of other servers. Such servers may repeat a request's key in errors and
 * replies, which trainers, logs and terminals show. Removal comes first, before code reads or shortens the texts.
 */

/**
 * Minimum length of a secret that is removed from texts. Shorter keys are placeholders such as "none" or "EMPTY", and
 * removing them would only damage texts.
 */
const LENGTH_MIN = 6;
const CUT = "[a secret]";

/**
 * Returns a function that removes these secrets from a text, in any case and also when they are encoded, e.g. for URLs.
 */
export function secretCutter(secrets: readonly (string | undefined)[]): (words: string) => string {
  const forms = secrets
    .filter((secret) => secret !== undefined)
    .filter(({ length }) => length >= LENGTH_MIN)
    // The longest secret comes first, because another secret may be its beginning.
    .sort((a, b) => b.length - a.length)
    .flatMap((secret) => [quoted(secret), ...encoded(Buffer.from(secret))]);
  if (forms.length === 0) return (words) => words;
  const any = new RegExp(forms.join("|"), "gi");
  return (words) => words.replace(any, CUT);
}

/**
 * Matches placeholders that people give as a key if a server requires none, such as "ollama", "not-needed" or "123456".
 * Models write such words too, so they must stay in texts that are scored.
 */
const STAND_IN = /^(?:[a-z_-]{1,15}|\d{1,15})$/i;

/**
 * Returns a function that removes an endpoint's key from a model's text, unless the key is a placeholder. In errors,
 * secretCutter removes placeholders too.
 */
export function keyCutter(key: string | undefined): (words: string) => string {
  return secretCutter(key !== undefined && STAND_IN.test(key) ? [] : [key]);
}

/**
 * Returns a pattern for a secret in which each character may be encoded as in URLs, forms, JSON or HTML, even several
 * times. Otherwise the secret would reappear when later code decodes the text.
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

/**
 * Returns patterns for the secret in hex and in base64. In base64 its digits depend on the offset in the encoded text,
 * so each offset has a pattern.
 */
function encoded(bytes: Buffer): readonly string[] {
  const forms = [bytes.toString("hex"), ...[0, 1, 2].flatMap((before) => base64Of(bytes, before))];
  return [...new Set(forms)].filter((form) => form.length >= LENGTH_MIN).map((form) => RegExp.escape(form));
}

/**
 * Returns the base64 digits of these bytes when `before` other bytes precede them. Digits at the ends that also depend
 * on neighbouring bytes are left out.
 */
function base64Of(bytes: Buffer, before: number): readonly string[] {
  const whole = Buffer.concat([Buffer.alloc(before), bytes]);
  const [from, to] = [Math.ceil((before * 8) / 6), Math.floor((whole.length * 8) / 6)];
  return (["base64", "base64url"] as const).map((encoding) => whole.toString(encoding).slice(from, to));
}

/**
 * Returns the address of a database or a trace collector without its password. A text that is no address is returned
 * unchanged.
 */
export function withoutPassword(address: string): string {
  if (!URL.canParse(address)) return address;
  const url = new URL(address);
  if (url.password !== "") url.password = "redacted";
  if (url.searchParams.has("password")) url.searchParams.set("password", "redacted");
  return url.href;
}
