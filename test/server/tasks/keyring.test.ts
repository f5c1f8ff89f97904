import { execFileSync } from "node:child_process";
import { chmodSync, chownSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { changeKeyFile, keyName, rotate } from "../../../server/tasks/rotate-keys.ts";
import { followKeyring, followStoredKeys, loadKeyring, parseKeyring } from "../../../server/tasks/keyring.ts";
import { eventually } from "../../support/patience.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "gradus-keys-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

test("the first start makes a key that only its owner can read, and the next start finds it", () => {
  const place = { keyFile: undefined, dataDir: join(folder, "data") };
  const file = join(place.dataDir, "task-keys");
  const first = loadKeyring(place);
  const second = loadKeyring(place);
  if (first.kind !== "ok" || second.kind !== "ok") throw new Error("no keyring");
  expect([first.created, second.created]).toEqual([true, false]);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(second.keyring[0].secret).toEqual(first.keyring[0].secret);
  expect(first.keyring[0].secret).toHaveLength(32);
  // The secret never stands in the id.
  expect(readFileSync(file, "utf8")).not.toContain(first.keyring[0].id.toString("hex"));
  expect(readdirSync(join(folder, "data"))).toEqual(["task-keys"]);
});

test("a key file that was named must be there: a new key would refuse the tasks of the right one", () => {
  const keyFile = join(folder, "mounted");
  expect(loadKeyring({ keyFile, dataDir: folder })).toEqual({
    kind: "invalid",
    message: expect.stringMatching(/^key file .*mounted: ENOENT.*; repair it, or give another --key-file$/) as string,
  });
  expect(readdirSync(folder)).toEqual([]);
});

test.each([
  [0o600, false],
  [0o400, false],
  [0o640, true],
  [0o644, true],
])("a key file of mode %o is used, and where others can read it, a warning says how to mend that", (mode, warns) => {
  const keyFile = join(folder, "keys");
  writeFileSync(keyFile, "a1".repeat(32));
  chmodSync(keyFile, mode);
  const read = loadKeyring({ keyFile, dataDir: folder });
  if (read.kind !== "ok") throw new Error(read.message);
  expect(read.warning === undefined).toBe(!warns);
  if (warns) expect(read.warning).toMatch(new RegExp(`mode is 0${mode.toString(8)}.*: chmod 600 ${keyFile}$`));
});

test("a FIFO is refused at once, and not waited for", () => {
  const keyFile = join(folder, "fifo");
  execFileSync("mkfifo", [keyFile]);
  expect(loadKeyring({ keyFile, dataDir: folder })).toEqual({
    kind: "invalid",
    message: expect.stringContaining("not a regular file (a FIFO, a device or a socket)") as string,
  });
});

test("several keys are read in order; what is no key is refused and named", () => {
  const [a, b] = ["a".repeat(64), "B".repeat(64)];
  const parsed = parseKeyring(`# two\n${a}\n\n  ${b}\n`);
  expect(parsed.kind === "ok" && parsed.keyring.map((key) => key.secret.toString("hex"))).toEqual([a, b.toLowerCase()]);
  expect(parseKeyring(`${a}\nxyz`)).toEqual({ kind: "invalid", message: "key 2 is not 64 hex digits" });
  expect(parseKeyring(`${a}\n${"0".repeat(64)}`)).toEqual({
    kind: "invalid",
    message: "key 2 is all zeros, which is no secret",
  });
  expect(parseKeyring("# none\n")).toEqual({ kind: "invalid", message: "it contains no key" });
});

test("a key that came after the file was read and before it was followed is taken all the same: pools take minutes", async () => {
  const place = { keyFile: undefined, dataDir: folder };
  const read = loadKeyring(place);
  if (read.kind !== "ok") throw new Error(read.message);
  const { keyring } = read;
  const changed = changeKeyFile(place, rotate);
  if (changed.kind !== "changed") throw new Error(changed.message);
  const told: string[] = [];
  const end = followKeyring(place, keyring, ({ kind }) => void told.push(kind), { pollMs: 20, settleMs: 20 });
  await eventually(() => expect(keyring.map(keyName)).toEqual(changed.keyring.map(keyName)));
  end();
  expect(told).toEqual(["ok"]);
});

test.runIf(process.getuid?.() === 0)("keys that the superuser rotates stay those of the server's account", () => {
  const place = { keyFile: undefined, dataDir: folder };
  loadKeyring(place);
  const file = join(folder, "task-keys");
  chownSync(file, 65534, 65534);
  expect(changeKeyFile(place, rotate).kind).toBe("changed");
  const { uid, gid, mode } = statSync(file);
  expect([uid, gid, mode & 0o777]).toEqual([65534, 65534, 0o600]);
});

test("a store's keys that cannot be opened are told once, and those of a store that is away are not", async () => {
  const parsed = parseKeyring("a1".repeat(32));
  if (parsed.kind !== "ok") throw new Error(parsed.message);
  const answers = [undefined, new Error("sealed by others"), new Error("sealed by others")];
  const read = async (): Promise<string | undefined> => {
    if (answers.length === 0) return "b2".repeat(32);
    const next = answers.shift();
    if (next !== undefined) throw next;
    return next;
  };
  const told: unknown[] = [];
  const end = followStoredKeys({ text: "", read }, parsed.keyring, (result) => void told.push(result), { pollMs: 5 });
  await eventually(() => expect(told.at(-1)).toMatchObject({ kind: "ok" }));
  end();
  expect(told).toMatchObject([{ kind: "invalid", message: "sealed by others" }, { kind: "ok" }]);
});
