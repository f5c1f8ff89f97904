/** Statements of test files. */
import {
  type Expression,
  isWord,
  peek,
  readerOf,
  readExpression,
  type Reader,
  stop,
  takes,
  takesName,
  takesWord,
} from "./syntax.ts";

export type Statement =
  | { readonly kind: "assert"; readonly test: Expression }
  /** One name, or several that a tuple or a list is taken apart into. */
  | { readonly kind: "assign"; readonly names: readonly string[]; readonly value: Expression }
  | { readonly kind: "expression"; readonly value: Expression }
  | Definition
  | { readonly kind: "class"; readonly name: string; readonly body: readonly Statement[] }
  | { readonly kind: "with"; readonly manager: Expression; readonly body: readonly Statement[] }
  | {
      readonly kind: "for";
      readonly names: readonly string[];
      readonly items: Expression;
      readonly body: readonly Statement[];
    }
  /** Names that a module gives. */
  | { readonly kind: "import"; readonly module: string; readonly names: readonly string[] }
  /** "pass", docstrings, modules by their names. */
  | { readonly kind: "nothing" }
  | { readonly kind: "unread"; readonly reason: string; readonly line: number };

export interface Definition {
  readonly kind: "def";
  readonly name: string;
  readonly parameters: readonly string[];
  readonly decorators: readonly Expression[];
  readonly body: readonly Statement[];
}

const BLOCKS_MAX = 16;

/** The statements of a text. Never throws. */
export function readStatements(source: string): readonly Statement[] {
  const reader = readerOf(source);
  const statements: Statement[] = [];
  while (peek(reader).kind !== "end") {
    // Indentation that belongs to no block.
    if (takes(reader, "indent") || takes(reader, "dedent")) continue;
    statements.push(readStatement(reader, 0));
  }
  return statements;
}

function readStatement(reader: Reader, blocks: number): Statement {
  const { line } = peek(reader);
  reader.problem = undefined;
  reader.depth = 0;
  const statement = blocks > BLOCKS_MAX ? stop(reader, "blocks in blocks") : readKind(reader, blocks);
  if (statement !== undefined) return statement;
  const reason = reader.problem ?? "it is not read";
  skipStatement(reader);
  return { kind: "unread", reason, line };
}

/** Past the end of the line, and past the block that follows it. */
function skipStatement(reader: Reader): void {
  while (peek(reader).kind !== "newline" && peek(reader).kind !== "end") reader.next++;
  takes(reader, "newline");
  if (takes(reader, "indent")) skipBlock(reader);
}

/** Past the dedent that closes the block that was opened. */
function skipBlock(reader: Reader): void {
  for (let depth = 1; depth > 0 && peek(reader).kind !== "end"; reader.next++) {
    const { kind } = peek(reader);
    if (kind === "indent") depth++;
    if (kind === "dedent") depth--;
  }
}

function readKind(reader: Reader, blocks: number): Statement | undefined {
  if (isWord(reader, "@") || isWord(reader, "def")) return readDefinition(reader, blocks);
  if (takesWord(reader, "class")) return readClass(reader, blocks);
  if (takesWord(reader, "with")) return readWith(reader, blocks);
  if (takesWord(reader, "for")) return readFor(reader, blocks);
  if (isWord(reader, "import") || isWord(reader, "from")) return readImport(reader);
  const simple = readSimple(reader);
  if (simple === undefined) return undefined;
  return takes(reader, "newline") || takesWord(reader, ";") ? simple : stop(reader, "more on a line than is read");
}

/** "from module import a, b as c" */
function readImport(reader: Reader): Statement {
  const module: string[] = [];
  const names: string[] = [];
  const isFrom = takesWord(reader, "from");
  for (let list = module; !["newline", "end"].includes(peek(reader).kind);) {
    if (takesWord(reader, "import")) list = names;
    else if (takesWord(reader, "as")) list.pop();
    const name = takesName(reader);
    if (name !== undefined) list.push(name);
    else if (!isWord(reader, "import") && !isWord(reader, "as")) reader.next++;
  }
  takes(reader, "newline");
  return isFrom ? { kind: "import", module: module.join("."), names } : { kind: "nothing" };
}

function readSimple(reader: Reader): Statement | undefined {
  if (takesWord(reader, "pass")) return { kind: "nothing" };
  if (takesWord(reader, "assert")) {
    const test = readExpression(reader);
    if (test === undefined) return undefined;
    // What an assertion says when it fails is of no account.
    if (takesWord(reader, ",")) while (!["newline", "end"].includes(peek(reader).kind)) reader.next++;
    return { kind: "assert", test };
  }
  const names = readTargets(reader);
  const value = readTuple(reader);
  if (value === undefined) return undefined;
  if (names !== undefined) return { kind: "assign", names, value };
  return value.kind === "value" ? { kind: "nothing" } : { kind: "expression", value };
}

/** "a =", "a, b =" or "a: list[int] ="; undefined, and nothing taken: there is no assignment here. */
function readTargets(reader: Reader): readonly string[] | undefined {
  const start = reader.next;
  const names = readNames(reader);
  if (names.length === 1 && takesWord(reader, ":"))
    while (!isWord(reader, "=") && !["newline", "end"].includes(peek(reader).kind)) reader.next++;
  if (names.length > 0 && takesWord(reader, "=")) return names;
  reader.next = start;
  return undefined;
}

function readNames(reader: Reader): readonly string[] {
  const names: string[] = [];
  const bracketed = takesWord(reader, "(");
  do {
    const name = takesName(reader);
    if (name !== undefined) names.push(name);
  } while (takesWord(reader, ","));
  if (bracketed) takesWord(reader, ")");
  return names;
}

/** An expression, or several with commas between them. */
function readTuple(reader: Reader): Expression | undefined {
  const first = readExpression(reader);
  if (first === undefined || !isWord(reader, ",")) return first;
  const items = [first];
  while (takesWord(reader, ",")) {
    if (isWord(reader, ":") || peek(reader).kind === "newline") break;
    const next = readExpression(reader);
    if (next === undefined) return undefined;
    items.push(next);
  }
  return { kind: "tuple", items };
}

/** ":" and the block that it opens, or what follows it on its line. */
function readBlock(reader: Reader, blocks: number): readonly Statement[] | undefined {
  if (!takesWord(reader, ":")) return stop(reader, "a block without a colon");
  if (!takes(reader, "newline")) return [readStatement(reader, blocks + 1)];
  if (!takes(reader, "indent")) return stop(reader, "a block that is empty");
  const body: Statement[] = [];
  while (!takes(reader, "dedent") && peek(reader).kind !== "end")
    if (!takes(reader, "indent")) body.push(readStatement(reader, blocks + 1));
  return body;
}

function readDefinition(reader: Reader, blocks: number): Statement | undefined {
  const decorators: Expression[] = [];
  while (takesWord(reader, "@")) {
    const decorator = readExpression(reader);
    if (decorator === undefined || !takes(reader, "newline")) return stop(reader, "a decorator");
    decorators.push(decorator);
  }
  if (takesWord(reader, "class")) return readClass(reader, blocks);
  if (!takesWord(reader, "def")) return stop(reader, "a decorator of something else than a function");
  const name = takesName(reader);
  const parameters = name === undefined ? undefined : readParameters(reader);
  if (name === undefined || parameters === undefined) return stop(reader, "the head of a function");
  const body = readBlock(reader, blocks);
  return body && { kind: "def", name, parameters, decorators, body };
}

/** Names, with their types and defaults left out. */
function readParameters(reader: Reader): readonly string[] | undefined {
  if (!takesWord(reader, "(")) return undefined;
  const names: string[] = [];
  while (!takesWord(reader, ")")) {
    const name = takesName(reader);
    if (name === undefined) return undefined;
    names.push(name);
    passOver(reader, [",", ")"]);
    takesWord(reader, ",");
  }
  passOver(reader, [":"]);
  return names;
}

/** Moves to one of these words outside of brackets, or to the end of the line. */
function passOver(reader: Reader, words: readonly string[]): void {
  for (let depth = 0; !["newline", "end"].includes(peek(reader).kind); reader.next++) {
    if (depth === 0 && words.some((word) => isWord(reader, word))) return;
    if (["(", "[", "{"].some((word) => isWord(reader, word))) depth++;
    if ([")", "]", "}"].some((word) => isWord(reader, word))) depth--;
  }
}

function readClass(reader: Reader, blocks: number): Statement | undefined {
  const name = takesName(reader);
  if (name === undefined) return stop(reader, "a class without a name");
  passOver(reader, [":"]);
  const body = readBlock(reader, blocks);
  return body && { kind: "class", name, body };
}

function readWith(reader: Reader, blocks: number): Statement | undefined {
  const manager = readExpression(reader);
  if (manager === undefined) return undefined;
  if (takesWord(reader, "as")) takesName(reader);
  const body = readBlock(reader, blocks);
  return body && { kind: "with", manager, body };
}

function readFor(reader: Reader, blocks: number): Statement | undefined {
  const names = readNames(reader);
  if (names.length === 0 || !takesWord(reader, "in")) return stop(reader, "a loop over something else than names");
  const items = readTuple(reader);
  if (items === undefined) return undefined;
  const body = readBlock(reader, blocks);
  return body && { kind: "for", names, items, body };
}
