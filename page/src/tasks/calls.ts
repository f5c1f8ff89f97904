/** Builds example code that requests a task and scores a completion, in several languages. */
import type { ChosenTask } from "./choice.ts";

export interface Call {
  readonly name: string;
  readonly language: "bash" | "python" | "typescript";
  readonly text: string;
}

/**
 * Returns the chosen fields in the order of the protobuf message TaskSpec. The server fills in defaults for other
 * fields.
 */
function specOf({ environment, level, split, source, pool, answerFormat, calls, tools }: ChosenTask) {
  const given = { environment, level, split, source, pool, answerFormat, calls, tools };
  return Object.entries(given).filter(([, value]) => value !== undefined);
}

/** Prefixes of the contract's enum names in JSON, e.g. SPLIT_EVAL. */
const prefixes: Readonly<Record<string, string>> = { split: "SPLIT", source: "SOURCE", answerFormat: "ANSWER_FORMAT" };

function curl(chosen: ChosenTask, origin: string): string {
  const spec = specOf(chosen).map(([name, value]) => {
    const prefix = prefixes[name];
    return [name, prefix === undefined ? value : `${prefix}_${String(value).toUpperCase()}`];
  });
  const body = JSON.stringify({ spec: Object.fromEntries(spec) as object, seed: String(chosen.seed) }, undefined, 2);
  return [
    `curl ${origin}/gradus.v1.EnvironmentService/Reset \\`,
    `  -H 'content-type: application/json' \\`,
    `  -d '${body.replaceAll("'", "'\\''")}'`,
  ].join("\n");
}

/**
 * Matches characters that a shell or a terminal may act on. JSON contains them only in strings, where Unicode escapes
 * can replace them.
 */
const UNSAFE = /[^ -~]|['!]/g;

/**
 * Returns a command that scores a completion again, without recording the score in a run. The command reads the
 * completion from its standard input, because an argument of a command may have at most 128 KiB.
 */
export function scoreCall(body: { readonly taskId: string; readonly completion: string }, hasToken: boolean): string {
  const json = JSON.stringify(body).replace(UNSAFE, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
  return [
    `curl ${location.origin}/gradus.v1.EnvironmentService/TryAnswer \\`,
    `  -H 'content-type: application/json' \\`,
    ...(hasToken ? [`  -H "authorization: Bearer $GRADUS_TOKEN" \\`] : []),
    "  --data-binary @- <<'JSON'",
    json,
    "JSON",
  ].join("\n");
}

function python(chosen: ChosenTask, host: string): string {
  const named = specOf(chosen)
    .slice(1)
    .map(([name, value]) => {
      return `${name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}=${JSON.stringify(value)}`;
    });
  return [
    "import gradus",
    "",
    `with gradus.connect("${host}:50051") as client:`,
    `    task = client.reset(${[JSON.stringify(chosen.environment), ...named, `seed=${chosen.seed}`].join(", ")})`,
    '    outcome = client.step(task, "<answer>…</answer>")',
    "    print(outcome.reward)",
  ].join("\n");
}

function typescript(chosen: ChosenTask, origin: string): string {
  const fields = specOf(chosen).map(([name, value]) => `  ${name}: ${JSON.stringify(value)},`);
  return [
    'import { createClient, rewardOf } from "@gradus/client/web";',
    "",
    `const gradus = createClient(${JSON.stringify(origin)});`,
    "const task = await gradus.reset({",
    ...fields,
    `  seed: ${chosen.seed}n,`,
    "});",
    'const outcome = await gradus.step(task, "<answer>…</answer>");',
    "console.log(rewardOf(outcome));",
  ].join("\n");
}

export function callsOf(chosen: ChosenTask): readonly Call[] {
  return [
    { name: "curl", language: "bash", text: curl(chosen, location.origin) },
    { name: "Python", language: "python", text: python(chosen, location.hostname) },
    { name: "TypeScript", language: "typescript", text: typescript(chosen, location.origin) },
  ];
}
