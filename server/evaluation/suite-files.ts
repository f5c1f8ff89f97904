/**
 * Reads suites that an operator writes as JSON, e.g. {"id": "tsp-sweep", "version": 1, "parts": [{"environment":
 * "np/tsp", "level": "easy", "tasks": 50, "split": "eval"}]}. A part gives "level", or "parameters" such as
 * {"cities_min": 8, "cities_max": 8}. With "heuristic": true, the report has heuristic_ratio too, for parts whose
 * environments have a heuristic. A part with a "pool" uses rows of that pool ("" is the one that ships), as many as
 * "tasks" says, or "all". A "category" may be a name; {"metadata": "category"}, for a value of the tasks' metadata; or
 * {"count_of": "numbers"}, for the number of values in a list of that metadata. In a part whose tasks have turns,
 * "calls" is their maximum number, and "tools" lists the tools that the model may call.
 *
 * The suite's overall statistics are means over its categories, or with "overall": "tasks" over its tasks. Defaults of
 * a part: the newest version of its environment, the environment as category, split bench, its position as name, and
 * the environment's default reward_scheme. Give the version if the suite must outlast an update of the server: if a
 * newer version of an environment has other tasks, evaluations of the suite are refused rather than continued.
 */
import type { Split } from "../../envs/environment.ts";
import { repeatedKey } from "../../envs/lib/exact-json.ts";
import type { Registry } from "../../envs/registry.ts";
import { readTextFile } from "../runtime/files.ts";
import { openSuite, type SuiteDefinition, type SuitePart, type SuiteSources } from "./open-suite.ts";
import { suiteDefinitions } from "./shipped-suites.ts";
import { splitWords } from "../../envs/lib/words.ts";

export type SuiteFileResult =
  | { readonly kind: "ok"; readonly definition: SuiteDefinition }
  | { readonly kind: "invalid"; readonly message: string };

const PARTS_MAX = 1000;
const TASKS_MAX = 100_000;
/** Pattern of a name, and the same rule in words, for errors. */
interface NameRule {
  readonly pattern: RegExp;
  readonly rule: string;
}

const NAME: NameRule = {
  pattern: /^[a-zA-Z0-9._ /-]{1,128}$/,
  rule: "1 to 128 characters of a-z A-Z 0-9 . _ / - and space",
};
const TITLE: NameRule = { pattern: /^.{1,128}$/, rule: "one line of 1 to 128 characters" };
const POOL: NameRule = { pattern: /^[\w.-]{0,64}$/, rule: "at most 64 characters of a-z A-Z 0-9 . _ -" };

/** Error in a suite file, with a message for the file's author. */
class Problem extends Error {}

type Fields = Readonly<Record<string, unknown>>;

export function readSuite(registry: Registry, text: string): SuiteFileResult {
  try {
    // Editors on Windows may put a byte order mark at the start of the file.
    const json: unknown = JSON.parse(text.replace(/^\ufeff/, ""));
    const twice = repeatedKey(text);
    if (twice !== undefined) throw new Problem(`it has the field '${twice}' twice in one object: remove one`);
    return { kind: "ok", definition: suiteOf(registry, json) };
  } catch (error) {
    if (error instanceof SyntaxError) return { kind: "invalid", message: `it is not JSON: ${error.message}` };
    if (error instanceof Problem) return { kind: "invalid", message: error.message };
    throw error;
  }
}

function suiteOf(registry: Registry, json: unknown): SuiteDefinition {
  const fields = fieldsOf(json, "the suite", ["id", "version", "description", "overall", "heuristic", "parts"]);
  const { parts, overall = "categories", heuristic = false } = fields;
  if (overall !== "categories" && overall !== "tasks") throw new Problem('overall must be "categories" or "tasks"');
  if (typeof heuristic !== "boolean") throw new Problem("heuristic must be true or false");
  if (!Array.isArray(parts) || parts.length < 1 || parts.length > PARTS_MAX)
    throw new Problem(`parts must be a list of 1 to ${PARTS_MAX}`);
  const read = parts.map((part, i) => partOf(registry, part, `parts[${i}]`));
  const names = read.map(({ name }) => name);
  const repeated = names.find((name, i) => names.indexOf(name) !== i);
  if (repeated !== undefined) throw new Problem(`two parts have the name '${repeated}': rename one`);
  return {
    id: nameOf(fields, "id", "the suite"),
    version: countOf(fields, "version", "the suite", 1, 2 ** 31),
    description: typeof fields["description"] === "string" ? fields["description"] : "",
    overall,
    ...(heuristic && { heuristic }),
    parts: read,
  };
}

function partOf(registry: Registry, json: unknown, at: string): SuitePart {
  const known = splitWords(
    "name environment version level parameters split tasks pool category reward_scheme calls tools",
  );
  const fields = fieldsOf(json, at, known);
  const environment = nameOf(fields, "environment", at);
  const { level, parameters } = fields;
  if ((level === undefined) === (parameters === undefined)) throw new Problem(`${at} needs a level or parameters`);
  return {
    name: fields["name"] === undefined ? `${environment} ${at}` : nameOf(fields, "name", at, TITLE),
    environment,
    version: countOf(fields, "version", at, 1, 2 ** 31, newestVersion(registry, environment)),
    ...(level === undefined ? { parameters: numbersOf(parameters, at) } : { level: nameOf(fields, "level", at) }),
    split: splitOf(fields["split"], at),
    tasks: fields["tasks"] === "all" ? "all" : countOf(fields, "tasks", at, 1, TASKS_MAX),
    ...(fields["pool"] !== undefined && { pool: nameOf(fields, "pool", at, POOL) }),
    category: categoryOf(fields, environment, at),
    ...(fields["reward_scheme"] !== undefined && { rewardScheme: nameOf(fields, "reward_scheme", at) }),
    ...(fields["calls"] !== undefined && { calls: countOf(fields, "calls", at, 1, 2 ** 31) }),
    ...(fields["tools"] !== undefined && { tools: toolsOf(fields["tools"], at) }),
  };
}

/** Reads the field "category" of a part: a name, "metadata" or "count_of". Defaults to the environment's id. */
function categoryOf(fields: Fields, environment: string, at: string): SuitePart["category"] {
  const { category } = fields;
  if (category === undefined) return environment;
  if (typeof category !== "object" || category === null) return nameOf(fields, "category", at);
  const within = `${at}: category`;
  const given = fieldsOf(category, within, ["metadata", "count_of"]);
  if (Object.keys(given).length !== 1)
    throw new Problem(`${within} must be a name, or an object with either metadata or count_of`);
  if (given["metadata"] !== undefined) return { metadata: nameOf(given, "metadata", within) };
  return { countOf: nameOf(given, "count_of", within) };
}

/**
 * Returns the newest version of an environment. For an unknown environment it returns 1, because the suite is refused
 * later anyway.
 */
function newestVersion(registry: Registry, environment: string): number {
  const found = registry.find(environment);
  return found.kind === "found" ? found.environment.version : 1;
}

function fieldsOf(json: unknown, at: string, known: readonly string[]): Fields {
  if (typeof json !== "object" || json === null || Array.isArray(json)) throw new Problem(`${at} must be an object`);
  const other = Object.keys(json).find((key) => !known.includes(key));
  if (other !== undefined)
    throw new Problem(`${at} has the unknown field '${other}'; known fields: ${known.join(", ")}`);
  return json as Fields;
}

function nameOf(fields: Fields, field: string, at: string, { pattern, rule }: NameRule = NAME): string {
  const value = fields[field];
  if (typeof value === "string" && pattern.test(value)) return value;
  throw new Problem(`${at}: ${field} must be ${rule}`);
}

function countOf(fields: Fields, field: string, at: string, min: number, max: number, byDefault?: number): number {
  const value = fields[field] ?? byDefault;
  if (typeof value === "number" && Number.isInteger(value) && value >= min && value <= max) return value;
  throw new Problem(`${at}: ${field} must be a whole number from ${min} to ${max}`);
}

function numbersOf(json: unknown, at: string): Readonly<Record<string, number>> {
  const given = Object.entries(typeof json === "object" && json !== null ? json : {});
  if (given.length > 0 && given.every(([, value]) => typeof value === "number" && Number.isFinite(value)))
    return Object.fromEntries(given);
  throw new Problem(`${at}: parameters must be an object of numbers`);
}

function toolsOf(json: unknown, at: string): readonly string[] {
  if (Array.isArray(json) && json.length > 0 && json.every((name) => typeof name === "string")) return json;
  throw new Problem(`${at}: tools must be a list of names of tools`);
}

function splitOf(value: unknown, at: string): Split {
  if (value === undefined) return "bench";
  if (value === "train" || value === "eval" || value === "bench") return value;
  throw new Problem(`${at}: split must be train, eval or bench`);
}

// Functions that load suites from files that the operator names.

export type SuitesResult =
  | { readonly kind: "ok"; readonly suites: readonly SuiteDefinition[] }
  | { readonly kind: "invalid"; readonly message: string };

/**
 * Returns the suites that ship with the server and those in the files. A file whose suite this server cannot open is an
 * error.
 */
export function loadSuites(registry: Registry, paths: readonly string[], sources?: SuiteSources): SuitesResult {
  const suites = [...suiteDefinitions];
  for (const path of paths) {
    const read = readFile(registry, path, sources);
    if (typeof read === "string") return { kind: "invalid", message: `--suite-file ${path}: ${read}` };
    const taken = suites.some(({ id, version }) => id === read.id && version === read.version);
    if (taken) {
      const message = `--suite-file ${path}: suite '${read.id}' version ${read.version} already exists: change the file's id or version`;
      return { kind: "invalid", message };
    }
    suites.push(read);
  }
  return { kind: "ok", suites };
}

/** Returns the suite in a file, or an error message. */
function readFile(registry: Registry, path: string, sources: SuiteSources | undefined): SuiteDefinition | string {
  let text: string;
  try {
    text = readTextFile(path);
  } catch (error) {
    return `the file cannot be read (${(error as NodeJS.ErrnoException).code ?? "unknown error"})`;
  }
  const read = readSuite(registry, text);
  if (read.kind === "invalid") return read.message;
  const opened = openSuite(registry, read.definition, sources);
  return opened.kind === "open" ? read.definition : opened.message;
}
