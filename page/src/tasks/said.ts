/** Extracts the alternative text of a picture. */

const ENTITIES: Readonly<Record<string, string>> = { "&lt;": "<", "&gt;": ">", "&quot;": '"', "&amp;": "&" };

/**
 * Returns the title and description of the SVG for people who cannot see it, or `otherwise` if it has none. Uses a
 * regular expression, because the browser's parser would apply the picture's style, which the page's content security
 * policy refuses.
 */
export function saidBy(svg: string, otherwise: string): string {
  const words = ["title", "desc"].map((tag) => new RegExp(`<${tag}>([^<]*)<`).exec(svg)?.[1] ?? "");
  const said = words.join(" ").replace(/&(lt|gt|quot|amp);/g, (entity) => ENTITIES[entity] ?? entity);
  return said.trim() || otherwise;
}
