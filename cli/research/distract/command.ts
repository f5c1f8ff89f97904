/**
 * `gradus pools distract`: asks a teacher model for wrong options to questions, and lets it check that they are wrong.
 */
import { type Command, Option } from "commander";
import { createHash } from "node:crypto";
import { appendFileSync, createReadStream, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { type Bar, createBar } from "../../bar.ts";
import type { Account, Distracted } from "./distract.ts";
import { checkOut, refuseSame } from "../../out.ts";
import { fields, print, printJson } from "../../print.ts";
import { CliProblem, fileProblem } from "../../problem.ts";
import { wholeNumber } from "../../task-options.ts";

interface Flags {
  readonly out: string;
  readonly teacherUrl: string;
  readonly teacherModel: string;
  readonly count: number;
  readonly concurrency: number;
  readonly timeoutMs: number;
  readonly json?: boolean;
}

export function addDistract(group: Command): void {
  group
    .command("distract")
    .description("ask a teacher for wrong options of each question of a file, and check that only one option is right")
    .argument("<file>", "JSONL or Parquet, with columns question and answer")
    .requiredOption("-o, --out <file>", "JSONL file to write; finished rows are kept beside it until all are done")
    .addOption(
      new Option("--teacher-url <url>", "OpenAI-compatible endpoint; its key is GRADUS_TEACHER_KEY")
        .env("GRADUS_TEACHER_URL")
        .makeOptionMandatory(),
    )
    .addOption(
      new Option("--teacher-model <name>", "model at the endpoint of --teacher-url")
        .env("GRADUS_TEACHER_MODEL")
        .makeOptionMandatory(),
    )
    .option("-n, --count <n>", "number of wrong options for each question", wholeNumber(1, 24), 15)
    .option("--concurrency <n>", "number of questions in progress at a time", wholeNumber(1, 256), 8)
    .option("--timeout-ms <n>", "maximum time for one reply, in milliseconds", wholeNumber(1, 3_600_000), 120_000)
    .option("--json", "print the account as JSON")
    .action(distract);
}

interface Done {
  readonly row: number;
  readonly result: Distracted;
}

async function distract(path: string, flags: Flags): Promise<void> {
  const { out, count, concurrency, teacherUrl: url, teacherModel: model, timeoutMs } = flags;
  const [
    { distractAll, newAccount, TeacherDown },
    { createEndpoint },
    { openSource, problemText },
    { fileRows, valueOf },
  ] = await Promise.all([
    import("./distract.ts"),
    import("../../../server/outside/chat-endpoint.ts"),
    import("../../../server/rows/pool-files.ts"),
    import("../../pools/stream.ts"),
  ]);
  if (!existsSync(path)) throw new CliProblem("missing", `${path}: there is no such file`);
  refuseSame("--out", path, out);
  checkOut("--out", out);
  const refuse = (error: unknown): never => {
    throw fileProblem(`${path}: ${problemText(error)}`);
  };
  const source = await openSource(path).catch(refuse);
  const kept = await openKept(`${out}.partial`, { file: await digestOf(path), model, count });
  let total = 0;
  for await (const row of fileRows(source)) if (row.json?.trim() !== "") total++;
  const bar: Bar = createBar({
    done: kept.done.size,
    total,
    format: "{bar} {value}/{total} rows  {left}",
  });
  const account = newAccount();
  const stop = new AbortController();
  const ask = createEndpoint({ url, model, key: process.env["GRADUS_TEACHER_KEY"], timeoutMs });
  async function* missing() {
    for await (const raw of fileRows(source))
      if (raw.json?.trim() !== "" && !kept.done.has(raw.row)) yield { row: raw.row, value: valueOf(raw) };
  }
  try {
    await distractAll(missing(), { ask, count, account, concurrency, signal: stop.signal }, (row, result) => {
      kept.add({ row, result });
      bar.update(1);
    });
  } catch (error) {
    if (!(error instanceof TeacherDown)) throw error;
    const message = `the teacher cannot be asked: ${error.message}; ${kept.done.size} of ${total} rows are done: repeat the command to continue`;
    throw new CliProblem("failure", message);
  } finally {
    bar.stop();
  }
  const report = finish(out, kept, account);
  if (flags.json) printJson(report);
  else print(shown(out, report));
  if (report.accepted === 0)
    throw new CliProblem("failure", `${path}: no row got enough wrong options: lower --count or ask another teacher`);
}

async function digestOf(path: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const part of createReadStream(path)) hash.update(part as Buffer);
  return hash.digest("hex");
}

/**
 * Reads the results that an earlier command kept for the same file, model and count. A row whose line was cut off is
 * done again.
 */
async function openKept(path: string, of: object) {
  const header = JSON.stringify(of);
  const done = new Map<number, Distracted>();
  if (existsSync(path)) {
    const [first, ...lines] = readFileSync(path, "utf8").split("\n");
    if (first !== header)
      throw new CliProblem(
        "usage",
        `${path} belongs to another file, model or count: remove it, or give another --out`,
      );
    for (const line of lines) {
      const read = parsed(line);
      if (read !== undefined) done.set(read.row, read.result);
    }
  }
  // Rewrite the file without a line that was cut off.
  const text = [...done].map(([row, result]) => `${JSON.stringify({ row, result })}\n`);
  writeFileSync(path, `${header}\n${text.join("")}`);
  return {
    path,
    done,
    add({ row, result }: Done): void {
      appendFileSync(path, `${JSON.stringify({ row, result })}\n`);
      done.set(row, result);
    },
  };
}

function parsed(line: string): Done | undefined {
  try {
    return JSON.parse(line) as Done;
  } catch {
    return undefined;
  }
}

function finish(out: string, { path, done }: Awaited<ReturnType<typeof openKept>>, account: Account) {
  const inOrder = [...done].sort(([a], [b]) => a - b);
  const rows = inOrder.flatMap(([, result]) => (result.kind === "row" ? [result.row] : []));
  const reasons = new Map<string, number>();
  for (const [, result] of inOrder)
    if (result.kind === "rejected") reasons.set(result.reason, (reasons.get(result.reason) ?? 0) + 1);
  writeFileSync(`${out}.new`, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  renameSync(`${out}.new`, out);
  rmSync(path);
  const { tokensIn, tokensOut, repliesWithoutUsage } = account;
  return {
    accepted: rows.length,
    rejected: done.size - rows.length,
    reasons: Object.fromEntries(reasons),
    // Number of requests of this command only. Requests of an earlier command that it resumes are not counted.
    requests: Object.fromEntries(account.requests),
    options: Object.fromEntries(account.options),
    tokensIn,
    tokensOut,
    repliesWithoutUsage,
  };
}

function shown(out: string, report: ReturnType<typeof finish>): string {
  const listed = (counts: Readonly<Record<string, number>>): string =>
    Object.entries(counts)
      .map(([name, count]) => `${count} ${name}`)
      .join(", ");
  return fields([
    ["rows", `${report.accepted} in ${out}`],
    ["rejected", report.rejected === 0 ? undefined : `${report.rejected}: ${listed(report.reasons)}`],
    ["requests", listed(report.requests)],
    ["options", listed(report.options)],
    ["tokens", `${report.tokensIn} in, ${report.tokensOut} out`],
  ]);
}
