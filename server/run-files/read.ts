/** Run files: a run's configuration in YAML or JSON, as people write it. What is wrong is said with its line. Pure. */
import type { DescField, JsonObject } from "@bufbuild/protobuf";
import { isMap, isNode, isScalar, LineCounter, type Node, parseDocument } from "yaml";
import { changed, NOWHERE } from "./changes.ts";
import { aliasesOf, NODES_MAX, type Reading, readFields } from "./fields.ts";

/** A run file that was read. Plain data. */
export interface RunText {
  /** Undefined: the file leaves it to whoever starts the run. */
  readonly runId: string | undefined;
  /** In ProtoJSON. */
  readonly config: JsonObject;
  /** The lines of the fields that the file gives, by their names in the contract; of "" the first. */
  readonly lines: ReadonlyMap<string, number>;
}

export interface LineProblem {
  readonly line: number;
  /** "": the whole. */
  readonly field: string;
  readonly message: string;
}

export type RunTextResult =
  | { readonly kind: "read"; readonly text: RunText }
  /** In the order of the file. */
  | { readonly kind: "invalid"; readonly problems: readonly LineProblem[] };

/**
 * `fields`: run_id, and those of the contract's RunConfig. `changes`: made before the file is read, each as "path=value",
 * e.g. "arms.easy.weight=2"; what they set stands in line 0.
 */
export function readRunText(
  text: string,
  fields: readonly DescField[],
  changes: readonly string[] = [],
): RunTextResult {
  const counter = new LineCounter();
  // Seeds have 64 bits.
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
  // Of fields the first; the range of all begins there too, but for a comment before it.
  const first = isMap(contents) ? contents.items[0]?.key : contents;
  return (isNode(first) ? first : contents).range?.[0] ?? 0;
}

/** The last step of a path: ".alpha", "[3]" or the key of a map, which may hold any of these characters. */
const LAST_STEP = /(?:\.?\w+|\[\d+\]|\["[^"]*"\])$/;

/** The line of a field, or of the nearest one around it that the file gives, e.g. of "policy.bandit.epsilon". */
export function lineIn({ lines }: Pick<RunText, "lines">, field: string): number {
  for (let path = field; path !== ""; path = path.replace(LAST_STEP, "")) {
    const line = lines.get(path);
    if (line !== undefined) return line;
    if (!LAST_STEP.test(path)) break;
  }
  return lines.get("") ?? 1;
}

/** Of what is handed in by CreateRun, UpdatePolicy and UpdateShape. */
const OF_FILE = /^(?:config\.)?(\w+)((?:\.\w+|\[\d+\]|\["[^"]*"\])*): /;

/** Which field of a run file a refusal speaks of, by how its message begins; undefined: of none. */
export function fieldIn(
  message: string,
  fields: readonly DescField[],
): { readonly field: string; readonly rest: string } | undefined {
  const [whole = "", first = "", rest = ""] = OF_FILE.exec(message) ?? [];
  const top = first.replace(/^add_/, "");
  if (!fields.some(({ name }) => name === top)) return undefined;
  return { field: top + rest, rest: message.slice(whole.length) };
}
