/** Tests the command line's replies to wrong use. */
import { execFile } from "node:child_process";
import { cpSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, describe, expect, test } from "vitest";
import { startChatServer } from "../support/chat-server.ts";
import { openServer } from "../support/in-process.ts";
import { temporaryFolder } from "../support/server-process.ts";
import packageJson from "../../package.json" with { type: "json" };
import { gradus, gradusAlone, launcher } from "./gradus.ts";

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());
const here = { cwd: folder.path };

describe("where the system's Node is old", () => {
  const old = join(folder.path, "old");
  mkdirSync(old);
  writeFileSync(join(old, "node"), "#!/bin/sh\necho v20.19.0\n", { mode: 0o755 });
  const withOld = { ...here, env: { PATH: `${old}:/usr/bin:/bin` } };

  test("the package's own runs it", async () => {
    const { code, out } = await gradusAlone(withOld, "--version");
    expect([code, out]).toEqual([0, `${packageJson.version}\n`]);
  });

  test("and there is no other, it says what it needs", async () => {
    mkdirSync(join(folder.path, "alone/cli"), { recursive: true });
    cpSync(launcher, join(folder.path, "alone/cli/gradus"));
    const failed = promisify(execFile)(join(folder.path, "alone/cli/gradus"), ["--version"], withOld);
    await expect(failed).rejects.toMatchObject({
      code: 1,
      stderr: "gradus: this needs Node 24 or newer, and there is v20.19.0: run npm install, or npm rebuild node\n",
    });
  });
});

test("help lists the commands, on standard output", async () => {
  const { code, out, err } = await gradus(here, "--help");
  expect([code, err]).toEqual([0, ""]);
  const commands = ["serve", "envs", "reset", "step", "solve", "draw", "eval", "export", "calibrate"];
  for (const command of commands) expect(out).toContain(command);
  expect(out).toContain("Exit codes: 0 done, 1 failed, 2 wrong use, 3 something named does not exist");
});

test.each([["eval"], ["step"], ["run", "start"]])(
  "help of %s %s says where judge and sandbox come from",
  async (...command) => {
    const { out } = await gradus(here, ...command, "--help");
    for (const name of ["GRADUS_JUDGE_URL", "GRADUS_JUDGE_MODEL", "GRADUS_JUDGE_KEY", "GRADUS_SANDBOX"])
      expect(out).toContain(name);
  },
);

describe("wrong command lines end with 2 and say what was meant", () => {
  test.each([
    [[], "Usage: gradus"],
    [["evs"], "Did you mean envs?"],
    [["reset"], "missing required argument 'environment'"],
    [["reset", "np/tsp", "--splt", "eval"], "Did you mean --split?"],
    [["reset", "np/tsp", "--split", "test"], "Allowed choices are train, eval, bench"],
    [["reset", "np/tsp", "--param", "cities_min"], "Want name=number"],
    [["reset", "np/tsp", "--param", "cities_min=5", "--level", "easy"], "cannot be used with option '--level"],
    [["reset", "np/tsp", "--param", "cities_mni=5"], "--param: unknown parameter 'cities_mni'; did you mean"],
    [["reset", "np/tsp", "--count", "0"], "Want a whole number from 1"],
    [["reset", "np/tsp", "--seed", "one"], "seed: want a whole number from 0 to 2^64 - 1, got one"],
    [["export", "--solver", "--out", "a.csv"], "--out must end in .jsonl or .parquet; got 'a.csv'"],
    [["reset", "np/tsp", "--level", "eazy"], "--level: np/tsp has no level 'eazy'; did you mean 'easy'?"],
    [["reset", "np/tsp", "--scheme", "qualty"], "did you mean 'quality'?"],
    [
      ["reset", "countdown", "--level", "OOD"],
      "--split: level 'OOD' of countdown is for evaluation: ask for eval or bench",
    ],
    [["reset", "np/tsp", "--scheme-param", "a=1"], "--scheme-param: unknown parameter 'a'"],
    [
      ["envs", "--category", "pn"],
      "--category: there is no category 'pn'; there are: code, countdown, games, math, np, qa, sequence, tools, writing",
    ],
    [["envs", "--server", "http://localhost:50051"], "Want host:port of the gRPC port"],
    [["envs", "--server", "http://localhost:50051"], "it has a scheme: write 'localhost:50051'"],
    [["envs", "--server", "localhost:50051/x"], "it has a path: write 'localhost:50051'"],
    [["envs", "--server", "localhost"], "it has no port: write 'localhost:50051'"],
    [["envs", "--environment-version", "1"], "--environment-version needs one environment"],
    [["envs", "np/tsp", "--category", "np"], "give either an id or --category"],
    [["step", "id", "--completion", "a", "--file", "b"], "cannot be used with option"],
    ...(["--tls-ca", "--tls-cert", "--tls-key", "--token-file"] as const).map((flag): [string[], string] => [
      ["step", "id", "--completion", "a", "--server", "localhost:1", flag, "/dev/zero"],
      `${flag} must be a file that can be read; got '/dev/zero' (not a regular file)`,
    ]),
    [["step", "id", "--file", "/dev/zero"], "--file must be a file that can be read; got '/dev/zero' (not a regular"],
    [["calibrate", "--report", "/dev/zero"], "--report must be a file that can be read; got '/dev/zero' (not a"],
    [["solve"], "give either an environment or --task-id"],
    [["solve", "np/tsp", "--task-id", "x"], "give either an environment or --task-id"],
    [["serve", "--port", "99999"], "--port must be a whole number from 0 to 65535; got '99999'"],
    [["serve", "--host", "0.0.0.0"], "--host '0.0.0.0' is not a loopback address"],
  ])("gradus %j", async (args, words) => {
    const { code, out, err } = await gradus(here, ...args);
    expect(err).toContain(words);
    expect([code, out]).toEqual([2, ""]);
    expect(err).not.toMatch(/^ +at /m);
  });
});

describe("a command that there is not ends with 2 beside every word for help, too", () => {
  test.each([
    [["evs", "--help"], "unknown command 'evs'\n(Did you mean envs?)"],
    [["-h", "evs"], "unknown command 'evs'\n(Did you mean envs?)"],
    [["help", "evs"], "unknown command 'evs'\n(Did you mean envs?)"],
    [["chess", "--help"], "unknown command 'chess'"],
    [["run", "waatch", "--help"], "unknown command 'waatch'\n(Did you mean watch?)"],
    [["run", "help", "waatch"], "unknown command 'waatch'\n(Did you mean watch?)"],
    [["help", "pools", "chek"], "unknown command 'chek'\n(Did you mean check?)"],
    [["eval", "lst", "-h"], "too many arguments for 'eval'. Expected 0 arguments but got 1: lst."],
  ])("gradus %j", async (args, words) => {
    const { code, out, err } = await gradus(here, ...args);
    expect(err).toContain(words);
    expect([code, out]).toEqual([2, ""]);
  });

  test.each([
    [["draw", "chess", "--help"], "Usage: gradus draw"],
    [["run", "watch", "adsc", "--help"], "Usage: gradus run watch"],
    [["help", "run"], "Usage: gradus run"],
    [["eval", "delete", "help", "--help"], "Usage: gradus eval delete"],
  ])("an argument is no command: gradus %j", async (args, words) => {
    const { code, out } = await gradus(here, ...args);
    expect([code, out]).toEqual([0, expect.stringContaining(words)]);
  });
});

describe("a file that is named and not there ends with 3", () => {
  test.each([
    [
      ["step", "id", "--file", "nowhere.txt"],
      "--file must be a file that can be read; got 'nowhere.txt': it does not exist (ENOENT)",
    ],
    [["serve", "--key-file", "/proc/nope/key"], "key file /proc/nope/key: ENOENT"],
    [["serve", "--key-file", "nowhere/key"], "key file nowhere/key: ENOENT"],
    [["envs", "--pool", "a=nowhere.jsonl"], "--pool a=nowhere.jsonl: the file cannot be read (ENOENT)"],
    [["serve", "--suite-file", "no.json"], "--suite-file no.json: the file cannot be read (ENOENT)"],
    [["serve", "--pool", "a=/proc/nope/pool"], "--pool a=/proc/nope/pool: the file cannot be read (ENOENT)"],
    [["step", "id", "--completion", "a", "--server", "localhost:1", "--tls-ca", "no.pem"], "--tls-ca must be a file"],
    [["serve", "--key-file", "/proc/nope/key"], "; repair it, or give another --key-file\n"],
    [["serve", "--data-dir", "/proc/nope/data"], "; repair it, or give another --data-dir or --key-file\n"],
  ])("gradus %j", async (args, words) => {
    rmSync(join(folder.path, "nowhere"), { force: true });
    symlinkSync("nothing", join(folder.path, "nowhere"));
    const { code, out, err } = await gradus({ ...here, env: { GRADUS_LOG_LEVEL: "silent" } }, ...args);
    expect(err).toContain(words);
    expect([code, out]).toEqual([3, ""]);
    expect(err).not.toMatch(/^ +at /m);
  });
});

async function ended(code: number, args: readonly string[], words: string): Promise<void> {
  writeFileSync(join(folder.path, "file"), "not a key");
  writeFileSync(join(folder.path, "empty"), "");
  writeFileSync(join(folder.path, "short"), "abc\n");
  writeFileSync(join(folder.path, "key"), "a1".repeat(32), { mode: 0o600 });
  rmSync(join(folder.path, "nowhere"), { force: true });
  symlinkSync("nothing", join(folder.path, "nowhere"));
  mkdirSync(join(folder.path, "damaged"), { recursive: true });
  writeFileSync(join(folder.path, "damaged", "runs.sqlite"), "not a database".repeat(100));
  const { code: found, out, err } = await gradus({ ...here, env: { GRADUS_LOG_LEVEL: "silent" } }, ...args);
  expect(err).toContain(words);
  expect([found, out]).toEqual([code, ""]);
  expect(err).not.toMatch(/^ +at /m);
}

describe("a file whose content is wrong ends with 2", () => {
  test.each([
    [["reset", "countdown", "--key-file", "file"], "key 1 is not 64 hex digits"],
    [["serve", "--key-file", "empty"], "key file empty: it contains no key; repair it"],
    [["serve", "--key-file", "short"], "key file short: key 1 is not 64 hex digits"],
    // A wrong file gives one exit code, whether a server or this process reads it.
    [["serve", "--pool", "a=damaged"], "--pool a=damaged: it is a folder, and none that datasets' save_to_disk wrote"],
    [["serve", "--pool", "a=empty"], "--pool a=empty: it is empty"],
  ])("gradus %j", async (args, words) => {
    await ended(2, args, words);
  });
});

describe("what cannot be done ends with 1", () => {
  test.each([
    [["solve", "--task-id", "AAAA"], "task_id: it is too short"],
    [["reset", "countdown", "--data-dir", "file/data"], "ENOTDIR"],
    [["reset", "countdown", "--key-file", "damaged"], "key file damaged: EISDIR"],
    [["serve", "--key-file", "file/key"], "key file file/key: "],
    [["serve", "--key-file", "/dev/zero"], "key file /dev/zero: not a regular file (a FIFO, a device or a socket)"],
    [["serve", "--pool", "a=/dev/zero"], "--pool a=/dev/zero: the file cannot be read (not a regular file)"],
    [
      ["envs", "--environment-file", "/dev/zero"],
      "--environment-file /dev/zero: the module cannot be loaded (not a regular",
    ],
    [["serve", "--suite-file", "/dev/zero"], "--suite-file /dev/zero: the file cannot be read (not a regular file)"],
    [["serve", "--data-dir", "nowhere/data"], "key file nowhere/data/task-keys: "],
    [["serve", "--data-dir", "/proc", "--key-file", "key"], "cannot open /proc/runs.sqlite: unable to open"],
    [
      ["serve", "--data-dir", "damaged"],
      "damaged/runs.sqlite: file is not a database; repair it, or give another --data",
    ],
  ])("gradus %j", async (args, words) => {
    await ended(1, args, words);
  });

  test.each([
    [["envs", "--server", "localhost:1"], 4, "gradus: no server at localhost:1: start one with `gradus serve`\n"],
    [["reset", "countdown", "--server", "nowhere.invalid:1"], 4, "no server at nowhere.invalid:1"],
    [["reset", "countdwn"], 3, "did you mean 'countdown'?"],
    [["reset", "np/tps"], 3, "unknown environment 'np/tps'; did you mean 'np/tsp'?"],
    [["reset", "chess"], 3, "gradus: unknown environment 'chess'; gradus envs lists what there is\n"],
    [["envs", "np/tps"], 3, "did you mean 'np/tsp'?"],
    [["reset", "countdown", "--level", "T9"], 2, "--level: "],
    [["reset", "countdown", "--nonsense"], 2, "unknown option '--nonsense'"],
    [["nonsense"], 2, "unknown command 'nonsense'"],
    [["export", "--evaluation-id", "none", "--out", "a.jsonl"], 3, 'there is no evaluation "none"'],
  ])("gradus %j ends with %d", async (args, expected, words) => {
    const { code, err } = await gradus(here, ...args);
    expect([code, err]).toEqual([expected, expect.stringContaining(words)]);
  });

  test("what answers, but is no gRPC server or speaks no TLS, is told from no server", async () => {
    await using other = await startChatServer(() => ({ kind: "silence" }));
    const server = new URL(other.url).host;
    for (const tls of [[], ["--tls"]]) {
      const { code, err } = await gradus(here, "envs", "--server", server, ...tls);
      expect([code, err]).toEqual([
        4,
        expect.stringContaining(
          `gradus: ${server} answers HTTP/1.1, as web servers do, and is no Gradus server's gRPC port: ` +
            "give the server's gRPC port, 50051 by default\n",
        ),
      ]);
    }
  });

  test("each mistake in the flags for a server has its own words", async () => {
    const certificates = join(import.meta.dirname, "../server/transport/tls");
    const files = { tlsCert: join(certificates, "server.crt"), tlsKey: join(certificates, "server.key") };
    await using plain = await openServer();
    await using secure = await openServer(files);
    const [http, grpc, grpcTls] = [new URL(plain.http).host, plain.address, secure.address];
    for (const [server, flags, words] of [
      [http, [], `${http} is the HTTP port of a Gradus server: --server wants its gRPC port, 50051 by default`],
      [grpcTls, [], `${grpcTls} speaks TLS: give --tls, or --tls-ca with the certificates that vouch for it`],
      [grpc, ["--tls"], `${grpc} speaks no TLS: leave out --tls, --tls-ca, --tls-cert and --tls-key`],
      [grpcTls, ["--tls"], "the server's certificate is not accepted ("],
    ] as const) {
      const { code, out, err } = await gradus(here, "envs", "--server", server, ...flags);
      expect(err).toContain(words);
      expect([code, out]).toEqual([4, ""]);
    }
  });

  test("a token is taken as files have it, and what is none is refused without being shown", async () => {
    const token = "let-me-in-if-you-please";
    await using server = await openServer({ token });
    writeFileSync(join(folder.path, "token"), `${token}\r\n`);
    writeFileSync(join(folder.path, "two"), "se cret\n");
    const at = ["envs", "--server", server.address] as const;
    for (const flags of [
      ["--token", `${token}\n`],
      ["--token-file", "token"],
    ]) {
      expect(await gradus(here, ...at, ...flags)).toMatchObject({ code: 0, err: "" });
    }
    const exported = { ...here, env: { GRADUS_TOKEN: "one-for-another-server" } };
    expect(await gradus(exported, ...at, "--token-file", "token")).toMatchObject({ code: 0, err: "" });
    expect((await gradus({ ...here, env: { GRADUS_TOKEN_FILE: "token" } }, ...at)).code).toBe(0);
    const { code, out, err } = await gradus(here, ...at, "--token-file", "two");
    expect([code, out]).toEqual([2, ""]);
    expect(err).toContain(
      "--token-file 'two': want visible ASCII characters without blanks; character 3 of 7 is U+0020",
    );
    expect(err).not.toContain("cret");
    const asked = await gradus({ ...here, env: { GRADUS_TOKEN: "" } }, ...at);
    expect(asked.err).toContain("this server requires a token");
  });

  test("the server's address may come from the environment", async () => {
    const { code, err } = await gradus({ ...here, env: { GRADUS_SERVER: "localhost:2" } }, "envs");
    expect([code, err]).toEqual([4, "gradus: no server at localhost:2: start one with `gradus serve`\n"]);
  });
});
