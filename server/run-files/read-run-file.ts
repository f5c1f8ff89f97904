/** Reads run files: a run's configuration in YAML or JSON, as people write it. Each problem names its line. Pure. */
import type { DescField, JsonObject } from "@bufbuild/protobuf";
import { isMap, isNode, isScalar, LineCounter, type Node, parseDocument } from "yaml";
import { changed, NOWHERE } from "./apply-changes.ts";
import { aliasesOf, NODES_MAX, type Reading, readFields } from "./read-fields.ts";

/** The contents of a run file, as plain data. */
export interface RunText {
  /** Undefined: the file has no id, and the person who starts the run gives one. */
  readonly runId: string | undefined;
  /** The configuration in ProtoJSON. */
  readonly config: JsonObject;
  /** Lines of the fields in the file, by their names in the contract; "" has the first line. */
  readonly lines: ReadonlyMap<string, number>;
}

export interface LineProblem {
  readonly line: number;
  /** "": the whole file. */
  readonly field: string;
  readonly message: string;
}

export type RunTextResult =
  | { readonly kind: "read"; readonly text: RunText }
  /** In the order of the file. */
  | { readonly kind: "invalid"; readonly problems: readonly LineProblem[] };

/**
 * Reads a run file. `fields` are run_id and the fields of the contract's RunConfig. `changes` are applied before the
 * file is read, each as "path=value", for example "arms.easy.weight=2"; their values have line 0.
 */
export function readRunText(
  text: string,
  fields: readonly DescField[],
  changes: readonly string[] = [],
): RunTextResult {
  const counter = new LineCounter();
  // Integers are read as bigints, because seeds have 64 bits.
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
    reading.problems.push({ offset: 0, field: "", message: "there is nothing in it; a run file has arms, policy, …" });
    return undefined;
  }
  return readFields(reading, fields, contents, { offset: startOf(contents), field: "" });
}

function startOf(contents: unknown): number {
  if (!isNode(contents)) return 0;
  // For fields, the first key: the range of the whole begins there too, unless a comment precedes it.
  const first = isMap(contents) ? contents.items[0]?.key : contents;
  return (isNode(first) ? first : contents).range?.[0] ?? 0;
}

/** The last step of a path: ".alpha", "[3]" or the key of a map, which may hold any of these characters. */
const LAST_STEP = /(?:\.?\w+|\[\d+\]|\["[^"]*"\])$/;

/** Returns the line of a field such as "policy.bandit.epsilon", or of the nearest enclosing field in the file. */
export function lineIn({ lines }: Pick<RunText, "lines">, field: string): number {
  for (let path = field; path !== ""; path = path.replace(LAST_STEP, "")) {
    const line = lines.get(path);
    if (line !== undefined) return line;
    if (!LAST_STEP.test(path)) break;
  }
  return lines.get("") ?? 1;
}

/** Start of a message about a field of CreateRun, UpdatePolicy or UpdateShape. */
const OF_FILE = /^(?:config\.)?(\w+)((?:\.\w+|\[\d+\]|\["[^"]*"\])*): /;

/**
 * Returns the field of a run file that a refusal is about, by the start of its message; undefined: it is about no
 * field.
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
