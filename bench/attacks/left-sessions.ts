/**
 * Opens sessions of OpenReward with one token and leaves them, and then plays sessions that another token opened
 * before. Ends with 1 if one of those is lost, or if the first token keeps more sessions than a caller may have.
 *
 * ```
 * node bench/attacks/left-sessions.ts [--sessions 10000]
 * ```
 */
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { parseArgs } from "node:util";
import { startOurs } from "../transport/processes.ts";

const { values: options } = parseArgs({ options: { sessions: { type: "string", default: "10000" } } });
const TOKENS = { attacker: "an-attacker-who-leaves-sessions", other: "another-caller-who-plays-tasks" } as const;
/** Maximum number of sessions of a caller, as in server/transport/compat/openreward/sessions.ts. */
const CALLER_MAX = 4096;
const OTHERS = 100;
const AT_ONCE = 32;
const MiB = 1024 ** 2;

const folder = mkdtempSync(join(tmpdir(), "gradus-left-"));
const tokens = join(folder, "tokens.json");
const listed = Object.entries(TOKENS).map(([name, token]) => ({ name, role: "trainer", token }));
writeFileSync(tokens, JSON.stringify(listed), { mode: 0o600 });
const server = await startOurs(folder, [], ["--tokens-file", tokens, "--sandbox", "off"]);

async function ask(caller: keyof typeof TOKENS, path: string, body: object, sid?: string): Promise<string> {
  const session = sid === undefined ? {} : { "x-session-id": sid };
  const headers = { "content-type": "application/json", "x-deployment": "countdown", "x-api-key": TOKENS[caller] };
  const sent = { method: "POST", headers: { ...headers, ...session }, body: JSON.stringify(body) };
  const response = await fetch(`http://127.0.0.1:${server.httpPort}${path}`, sent);
  const text = await response.text();
  if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`);
  return text;
}

async function open(caller: keyof typeof TOKENS, index: number): Promise<string> {
  const [, sid = ""] = /data: (\w+)/.exec(await ask(caller, "/create_session", {})) ?? [];
  await ask(caller, "/create", { split: "train", index }, sid);
  return sid;
}

async function openAll(caller: keyof typeof TOKENS, count: number): Promise<readonly string[]> {
  const opened: string[] = [];
  for (let i = 0; i < count; i += AT_ONCE)
    opened.push(
      ...(await Promise.all(Array.from({ length: Math.min(AT_ONCE, count - i) }, (_, k) => open(caller, i + k)))),
    );
  return opened;
}

const theirs = await openAll("other", OTHERS);
const before = server.rssBytes();
const start = performance.now();
await openAll("attacker", Number(options.sessions));
const seconds = (performance.now() - start) / 1000;
const grown = server.rssBytes() - before;
let played = 0;
for (const sid of theirs) {
  const answer = await ask("other", "/call", { name: "submit_answer", input: { answer: "1" } }, sid).catch(() => "");
  if (answer.includes('"finished":true')) played++;
}
const file = new DatabaseSync(join(folder, "sessions.sqlite"), { readOnly: true });
const kept = Number(
  file.prepare("SELECT count(*) AS count FROM sessions WHERE caller LIKE '%attacker'").get()?.["count"],
);
file.close();
const bytes = statSync(join(folder, "sessions.sqlite")).size + statSync(join(folder, "sessions.sqlite-wal")).size;
await server.stop();
rmSync(folder, { recursive: true });
console.log(
  `${options.sessions} sessions in ${seconds.toFixed(0)} s: ${kept} kept, ${(bytes / MiB).toFixed(1)} MiB on disk, ` +
    `${(grown / MiB).toFixed(0)} MiB more memory; ${played} of ${OTHERS} sessions of the other caller played`,
);
if (played < OTHERS || kept > CALLER_MAX) process.exitCode = 1;
