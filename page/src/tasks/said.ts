/** The words of a picture. */

const ENTITIES: Readonly<Record<string, string>> = { "&lt;": "<", "&gt;": ">", "&quot;": '"', "&amp;": "&" };

/**
 * What the picture says of itself, for those who do not see it; `otherwise` where it says nothing. A parser would apply
 * the picture's style, which the page's policy refuses.
 */
export function saidBy(svg: string, otherwise: string): string {
  const words = ["title", "desc"].map((tag) => new RegExp(`<${tag}>([^<]*)<`).exec(svg)?.[1] ?? "");
  const said = words.join(" ").replace(/&(lt|gt|quot|amp);/g, (entity) => ENTITIES[entity] ?? entity);
  return said.trim() || otherwise;
}
