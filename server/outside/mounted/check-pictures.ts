/**
 * Requests pictures of tasks from a mounted environment. Checks that these untrusted SVGs are safe before anybody sees
 * them.
 */
import type { MountedDrawing } from "../../../envs/environment.ts";
import { type Failed, unavailable } from "../../../envs/facts.ts";
import { onOneLine } from "../../../envs/lib/escape.ts";
import type { Described } from "./read-description.ts";
import type { Provider } from "./provider.ts";

const SVG_BYTES_MAX = 1024 ** 2;
const DOCUMENT = /^\s*(?:<\?xml[^>]*\?>\s*)?(?:<!--.*?-->\s*)?(?:<!DOCTYPE[^[>]*>\s*)?<svg[\s>].*<\/svg>\s*$/s;
/** Patterns of SVG content for which a picture is refused: opening it would run code or contact another machine. */
const REFUSED: readonly (readonly [what: string, found: RegExp])[] = [
  ["a script", /<\s*(?:[\w-]+:)?(?:script|handler)\b|javascript:|<[^>]*[\s"'/]on[a-z]+\s*=/i],
  ["another document inside it", /<\s*(?:[\w-]+:)?(?:foreignObject|iframe|object|embed)\b|<!ENTITY|<\?xml-stylesheet/i],
  ["an animation, which may set a reference", /<\s*(?:[\w-]+:)?(?:animate\w*|set)\b/i],
  ["a reference to elsewhere", /\b(?:href|src)\s*=\s*(?!["'](?:#|data:image\/(?:png|jpeg|gif);base64,))|@import/i],
  ["a reference to elsewhere", /\burl\s*\(\s*(?!["']?#)/i],
];

/** Returns why a picture is refused. Undefined: it is safe. */
export function problemOfSvg(svg: string): string | undefined {
  const bytes = Buffer.byteLength(svg);
  if (bytes > SVG_BYTES_MAX) return `it has ${bytes} bytes, and the limit is ${SVG_BYTES_MAX}`;
  if (!DOCUMENT.test(svg)) return "it is not a complete SVG document, from <svg to </svg>";
  const refused = REFUSED.find(([, found]) => found.test(svg));
  return refused && `it has ${refused[0]}`;
}

/**
 * Requests a picture and checks that it is safe. Never rejects. An error in the environment's own code does not mark
 * the environment as down, because scoring needs no pictures.
 */
export async function drawn(
  {
    provider,
    described,
    resource,
  }: { readonly provider: Provider; readonly described: Described; readonly resource: string },
  instance: Uint8Array,
  answer: string | undefined,
  signal: AbortSignal,
): Promise<MountedDrawing | Failed> {
  const found = await provider.draw(described.asked, { instance, answer }, { signal });
  if (found.kind === "failure") {
    const words = `drawing failed (${found.failure}): ${onOneLine(found.detail)}`;
    return found.failure === "unavailable" ? unavailable(resource, words) : { kind: "undrawn", why: words };
  }
  const problem = problemOfSvg(found.svg);
  return problem === undefined ? found : { kind: "undrawn", why: `its picture is not shown: ${problem}` };
}
