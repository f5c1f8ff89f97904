/**
 * Shortens the comments of generated types (.d.ts), so that the repository does not hold each comment of the contract
 * twice. Lines that repeat the declaration go. Types that no package publishes keep no comments: proto/ has them.
 *
 * ```
 * node scripts/trim-types.ts FOLDER
 * ```
 */
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const [folder = "proto/gen"] = process.argv.slice(2);
/** Files whose types only the server itself reads. */
const UNPUBLISHED = /^(gradus\/internal\/|google\/|gradus\/v1\/provider_)/;
/** Documentation comment with its indentation and the line break after it. */
const COMMENT = /^[ \t]*\/\*\*\n[\s\S]*?\*\/\n/gm;
/** Lines that repeat the declaration below them. */
const REPEATED = /^ \*( @generated from .*| Describes the (message|enum|file) .*| Use `create\(.*)?$/;

function trimmed(comment: string): string {
  const [indent = ""] = /^[ \t]*/.exec(comment) ?? [];
  const lines = comment.split("\n").slice(1, -2);
  const texts = lines.map((line) => ` ${line.trim()}`);
  const kept = texts.filter((line) => line === " *" || !REPEATED.test(line));
  while (kept.at(-1) === " *") kept.pop();
  while (kept[0] === " *") kept.shift();
  const [first = ""] = kept;
  if (kept.length === 0) return "";
  if (kept.length === 1) return `${indent}/** ${first.slice(3)} */\n`;
  return `${indent}/**\n${kept.map((line) => `${indent}${line}\n`).join("")}${indent} */\n`;
}

for (const file of globSync("**/*.d.ts", { cwd: folder })) {
  const path = join(folder, file);
  const text = readFileSync(path, "utf8");
  writeFileSync(
    path,
    text.replaceAll(COMMENT, (comment) => (UNPUBLISHED.test(file) ? "" : trimmed(comment))),
  );
}
