/**
 * Cuts secrets out of words that leave: endpoints echo what they were sent, in errors and in replies, and what they say
 * goes on to trainers, logs and terminals. It is done where such words come in, before anything reads or cuts them.
 */

/** What is shorter is no secret ("none", "EMPTY"), and words would be cut for nothing. */
const LENGTH_MIN = 6;
const CUT = "[a secret]";

/** Gives what cuts these secrets out of words: as they are, in any case, and in the forms in which they are quoted. */
export function secretCutter(secrets: readonly (string | undefined)[]): (words: string) => string {
  const forms = secrets.flatMap((secret) =>
    secret === undefined || secret.length < LENGTH_MIN
      ? []
      : formsOf(secret).filter((form) => form.length >= LENGTH_MIN),
  );
  if (forms.length === 0) return (words) => words;
  // The longest first: a form may hold another.
  const sorted = [...new Set(forms)].sort((a, b) => b.length - a.length);
  const any = new RegExp(sorted.map((form) => RegExp.escape(form)).join("|"), "gi");
  return (words) => words.replace(any, CUT);
}

/** In a URL, in a form, in JSON, in HTML, in hex, and in base64 wherever it begins in what was encoded. */
function formsOf(secret: string): readonly string[] {
  const bytes = Buffer.from(secret);
  const escapedByte = (byte: number): string => `%${byte.toString(16).padStart(2, "0")}`;
  return [
    ...[secret, encodeURI(secret.toWellFormed()), encodeURIComponent(secret.toWellFormed())],
    ...[new URLSearchParams([["", secret]]).toString().slice(1), Array.from(bytes, escapedByte).join("")],
    ...[JSON.stringify(secret).slice(1, -1), bytes.toString("hex")],
    secret.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;"),
    ...[0, 1, 2].flatMap((before) => base64Of(bytes, before)),
  ];
}

/** The digits that the bytes alone determine, with so many bytes before them; the ones at the ends have bits of others. */
function base64Of(bytes: Buffer, before: number): readonly string[] {
  const whole = Buffer.concat([Buffer.alloc(before), bytes]);
  const [from, to] = [Math.ceil((before * 8) / 6), Math.floor((whole.length * 8) / 6)];
  return (["base64", "base64url"] as const).map((encoding) => whole.toString(encoding).slice(from, to));
}
