/** Reads run files, in which people write a run's configuration as YAML or JSON. Each problem names its line. */
import type { DescField, JsonObject } from "@bufbuild/protobuf";
import { isMap, isNode, isScalar, LineCounter, type Node, parseDocument } from "yaml";
import { changed, NOWHERE } from "./apply-changes.ts";
import { aliasesOf, NODES_MAX, type Reading, readFields } from "./read-fields.ts";

/** Content of a run file, converted to ProtoJSON. */
export interface RunText {
  /** Id of the run. Undefined: the file has none, and the person who starts the run gives it. */
  readonly runId: string | undefined;
  /** Configuration of the run in ProtoJSON. */
  readonly config: JsonObject;
  /** Line of each field, by its name in the contract. The name "" has the first line. */
  readonly lines: ReadonlyMap<string, number>;
}

export interface LineProblem {
  readonly line: number;
  /** Name of the field. Empty: the whole file. */
  readonly field: string;
  readonly message: string;
}

export type RunTextResult =
  | { readonly kind: "read"; readonly text: RunText }
  /** Problems in the order of the file. */
  | { readonly kind: "invalid"; readonly problems: readonly LineProblem[] };

/**
 * Reads a run file. `fields` are the fields that it may have. Each of `changes`, a text such as "arms.easy.weight=2",
 * is applied to the file first; values from changes have line 0.
 */
export function readRunText(
  text: string,
  fields: readonly DescField[],
  changes: readonly string[] = [],
): RunTextResult {
  const counter = new LineCounter();
  // Integers are read as bigints, because seeds have 64 bits and would be rounded otherwise.
  const document = parseDocument(text, { lineCounter: counter, intAsBigInt: true, prettyErrors: false });
  const lineAt = (offset: number): number => (offset === NOWHERE ? 0 : counter.linePos(offset).line);
  const syntax = [...document.errors, ...document.warnings];
  if (syntax.length > 0)
    return {
      kind: "invalid",
      problems: syntax.map(({ pos: [at], message }) => ({ line: lineAt(at), field: "", message })),
    };
  const reading: Reading = {
    aliases: aliasesOf(document),
    problems: [],
    offsets: new Map(),
    nodesLeft: NODES_MAX,
    top: fields,
  };
  const contents = changes.reduce<Node | null>(
    (tree, change) => changed(reading, tree, change) ?? tree,
    document.contents,
  );
  const json = readTop(reading, fields, contents);
  if (json === undefined || reading.problems.length > 0) {
    const problems = reading.problems.toSorted((a, b) => a.offset - b.offset);
    return {
      kind: "invalid",
      problems: problems.map(({ offset, field, message }) => ({ line: lineAt(offset), field, message })),
    };
  }
  const { run_id: runId, ...config } = json;
  const lines = new Map([...reading.offsets].map(([field, offset]) => [field, lineAt(offset)] as const));
  lines.set("", lineAt(startOf(contents)));
  return { kind: "read", text: { runId: typeof runId === "string" ? runId : undefined, config, lines } };
}

function readTop(reading: Reading, fields: readonly DescField[], contents: Node | null): JsonObject | undefined {
  if (contents === null || (isScalar(contents) && contents.value === null)) {
    reading.problems.push({ offset: 0, field: "", message: "the file is empty; a run file has arms, policy, …" });
    return undefined;
  }
  return readFields(reading, fields, contents, { offset: startOf(contents), field: "" });
}

function startOf(contents: unknown): number {
  if (!isNode(contents)) return 0;
  // The file's first key is used, because the range of the whole map also covers a comment before it.
  const first = isMap(contents) ? contents.items[0]?.key : contents;
  return (isNode(first) ? first : contents).range?.[0] ?? 0;
}

/**
 * Last step of a path: ".alpha", "[3]", or a map's key, as in `["easy"]`, where the key may contain dots and brackets.
 */
const LAST_STEP = /(?:\.?\w+|\[\d+\]|\["[^"]*"\])$/;

/**
 * Returns the line of a field, e.g. "policy.bandit.epsilon". If the file does not have it, the line of the nearest
 * enclosing field is returned.
 */
export function lineIn({ lines }: Pick<RunText, "lines">, field: string): number {
  for (let path = field; path !== ""; path = path.replace(LAST_STEP, "")) {
    const line = lines.get(path);
    if (line !== undefined) return line;
    if (!LAST_STEP.test(path)) break;
  }
  return lines.get("") ?? 1;
}

/**
 * Start of an error message that names a field of CreateRun, UpdatePolicy or UpdateShape, e.g. "config.policy.kind: ".
 */
const OF_FILE = /^(?:config\.)?(\w+)((?:\.\w+|\[\d+\]|\["[^"]*"\])*): /;

/**
 * Returns the run file's field that a server's error message begins with, and the rest of the message. Undefined: the
 * message names no field.
 */
export function fieldIn(
  message: string,
  fields: readonly DescField[],
): { readonly field: string; readonly rest: string } | undefined {
  const [whole = "", first = "", rest = ""] = OF_FILE.exec(message) ?? [];
  const top = first.replace(/^add_/, "");
  if (!fields.some(({ name }) => name === top)) return undefined;
  return { field: top + rest, rest: message.slice(whole.length) };
}
