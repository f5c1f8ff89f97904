/** Tests of flags and environment variables: they give a configuration, or a refusal in words. */
import { Command } from "commander";
import { execFileSync } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { addServeOptions, type Config, describeConfig, readConfig } from "../../../server/runtime/config.ts";
import { configOptions } from "../../../server/runtime/options.ts";

type Env = Readonly<Record<string, string>>;

const pemFile = (name: string): string => join(import.meta.dirname, "../transport/tls", name);
const textOf = (name: string): string => readFileSync(pemFile(name), "utf8");

function parse(args: readonly string[], env: Env = {}): ReturnType<typeof readConfig> {
  const command = addServeOptions(new Command()).exitOverride();
  return readConfig(command.parse(args, { from: "user" }).opts(), env);
}

function configOf(args: readonly string[], env: Env = {}): Config {
  const result = parse(args, env);
  if (result.kind === "invalid") throw new Error(result.message);
  return result.config;
}

function refusalOf(args: readonly string[], env: Env = {}): string {
  const result = parse(args, env);
  if (result.kind === "ok") throw new Error("it was accepted");
  return result.message;
}

test("with no flags at all there is a configuration, on loopback", () => {
  expect(configOf([])).toMatchObject({
    host: "127.0.0.1",
    port: 50051,
    httpPort: 8080,
    store: "sqlite",
    token: undefined,
    tls: undefined,
    insecure: false,
    pools: [],
    suiteFiles: [],
    corsOrigins: [],
    limits: { maxMessageBytes: 67108864, maxGroups: 1024, maxCompletions: 1024, maxCompletionBytes: 262144 },
  });
});

test("each option is known to commander under its name in the table", () => {
  for (const [name, spec] of Object.entries(configOptions)) {
    const options = addServeOptions(new Command()).options.filter((option) => option.attributeName() === name);
    expect(options.map(({ long }) => long)).toEqual([`--${spec.flag}`]);
  }
});

test("a flag wins over its variable, and the variable over the default", () => {
  expect(configOf([], { GRADUS_MAX_GROUPS: "7" }).limits.maxGroups).toBe(7);
  expect(configOf(["--max-groups", "9"], { GRADUS_MAX_GROUPS: "7" }).limits.maxGroups).toBe(9);
  expect(configOf([], { GRADUS_MAX_GROUPS: "" }).limits.maxGroups).toBe(1024);
});

test("options that may be given several times take all, in the environment with commas", () => {
  const pools = [
    { name: "a", path: "x=y.jsonl" },
    { name: "b", path: "z" },
  ];
  expect(configOf(["--pool", "a=x=y.jsonl", "--pool", "b=z"]).pools).toEqual(pools);
  expect(configOf([], { GRADUS_POOL: "a=x=y.jsonl,b=z" }).pools).toEqual(pools);
  expect(configOf(["--cors-origin", "http://localhost:5173"]).corsOrigins).toEqual(["http://localhost:5173"]);
});

test("programs are run here, elsewhere or nowhere", () => {
  expect(configOf([]).sandbox).toMatchObject({ kind: "embedded", python: "python3" });
  const flags = ["--sandbox", "embedded", "--sandbox-concurrency", "3", "--python", "/usr/bin/python3"];
  expect(configOf(flags).sandbox).toEqual({ kind: "embedded", python: "/usr/bin/python3", concurrency: 3 });
  const url = "http://fusion:8080";
  expect(configOf(["--sandbox", url, "--sandbox-concurrency", "9"]).sandbox).toEqual({
    kind: "remote",
    url,
    concurrency: 9,
  });
  expect(configOf([], { GRADUS_SANDBOX: "off" }).sandbox).toBeUndefined();
  for (const wrong of ["on", "ftp://x", "http://me:secret@x"])
    expect(refusalOf(["--sandbox", wrong])).toMatch(/^--sandbox must be embedded, off, or an http or https URL/);
});

test("a durability of files is no durability of a database, and is warned of there", () => {
  const full = ["--store-durability", "full"];
  expect(configOf(full).warnings).toEqual([]);
  for (const store of ["memory", "postgres://me@host/gradus"])
    expect(configOf([...full, "--store", store]).warnings).toEqual([
      expect.stringContaining("--store-durability is for --store sqlite"),
    ]);
});

test("bytes may be given in KiB, MiB and GiB", () => {
  expect(configOf(["--max-message-bytes", "8MiB"]).limits.maxMessageBytes).toBe(8 * 1024 ** 2);
  expect(configOf(["--max-completion-bytes", "100"]).limits.maxCompletionBytes).toBe(100);
});

describe("a refusal names the flag, the limit and what came", () => {
  test.each([
    [["--port", "65536"], "--port must be a whole number from 0 to 65535; got '65536'"],
    [["--port", "1e3"], "--port must be a whole number from 0 to 65535; got '1e3'"],
    [["--max-groups", "0"], "--max-groups must be a whole number from 1 to 65536; got '0'"],
    [
      ["--store", "postgres"],
      "--store must be sqlite, memory or the address of a database, postgres://user@host/database",
    ],
    [
      ["--max-message-bytes", "1KB"],
      "--max-message-bytes must be a number of bytes from 4096 to 1073741824, e.g. 1048576 or 1MiB; got '1KB'",
    ],
    [
      ["--column", "answer=a", "--column", "p:answer=b", "--column", "answer=c"],
      "--column must be given once for each name; got 'answer=a,p:answer=b,answer=c'",
    ],
    [
      ["--pool", "a b=c"],
      "--pool must be name=path, where the name has 1 to 64 characters of a-z A-Z 0-9 . _ -; got 'a b=c'",
    ],
    [["--data-dir", ""], "--data-dir must be a text that is not empty; got ''"],
    [
      ["--cors-origin", "example.org"],
      "--cors-origin must be an origin such as https://example.org, or * for any; got 'example.org'",
    ],
    [["--port", "8080"], "--port and --http-port must differ; both are 8080"],
    [
      ["--max-completion-bytes", "8192", "--max-message-bytes", "4096"],
      "--max-completion-bytes must be at most --max-message-bytes, 4096; got 8192",
    ],
    [["--max-held-bytes", "32MiB"], "--max-held-bytes must be at least --max-message-bytes, 67108864; got 33554432"],
  ])("%j", (args, message) => {
    expect(refusalOf(args)).toBe(message);
  });

  test("and the variable that it came from", () => {
    expect(refusalOf([], { GRADUS_LOG_LEVEL: "loud" })).toMatch(/; got 'loud' \(from GRADUS_LOG_LEVEL\)$/);
  });
});

describe("off loopback", () => {
  const token = "correct-horse-battery-staple";
  const open = /^--host '.*' is not a loopback address: give --token-file or --tls-client-ca/;

  test.each(["0.0.0.0", "::", "10.1.2.3", "gym.example", "128.0.0.1", "::ffff:10.0.0.1"])(
    "%s wants a guard",
    (host) => {
      expect(refusalOf(["--host", host])).toMatch(open);
      expect(configOf(["--host", host, "--insecure"]).insecure).toBe(true);
      expect(configOf(["--host", host, "--token", token]).token).toBe(token);
    },
  );

  test.each(["127.0.0.1", "127.9.9.9", "::1", "localhost"])("%s is not", (host) => {
    expect(configOf(["--host", host]).host).toBe(host);
  });

  test("TLS says who the server is, not who may call: mutual TLS does", () => {
    const tls = ["--tls-cert", pemFile("server.crt"), "--tls-key", pemFile("server.key")];
    expect(refusalOf(["--host", "0.0.0.0", ...tls])).toMatch(open);
    const config = configOf(["--host", "0.0.0.0", ...tls, "--tls-client-ca", pemFile("ca.crt")]);
    expect(config.tls).toEqual({ cert: textOf("server.crt"), key: textOf("server.key"), clientCa: textOf("ca.crt") });
  });

  test("--insecure in the environment counts", () => {
    expect(configOf(["--host", "0.0.0.0"], { GRADUS_INSECURE: "1" }).insecure).toBe(true);
    expect(refusalOf(["--host", "0.0.0.0"], { GRADUS_INSECURE: "false" })).toMatch(open);
  });
});

describe("secrets", () => {
  const folder = mkdtempSync(join(tmpdir(), "gradus-config-"));
  const token = "correct-horse-battery-staple";

  test("a token file is read without the line's end", () => {
    writeFileSync(join(folder, "token"), `${token}\n`);
    expect(configOf(["--token-file", join(folder, "token")]).token).toBe(token);
  });

  test("a secret that others can read is used, with a warning that says how to mend that", () => {
    const file = (name: string, mode: number, text = token) => {
      writeFileSync(join(folder, name), text);
      chmodSync(join(folder, name), mode);
      return join(folder, name);
    };
    expect(configOf(["--token-file", file("own", 0o600)]).warnings).toEqual([]);
    const tls = ["--tls-cert", pemFile("server.crt"), "--tls-key", file("key", 0o640, textOf("server.key"))];
    const config = configOf(["--token-file", file("open", 0o604), ...tls]);
    expect(config.warnings).toEqual([
      `others can read ${join(folder, "key")} (its mode is 0640), which is a secret: chmod 600 ${join(folder, "key")}`,
      `others can read ${join(folder, "open")} (its mode is 0604), which is a secret: chmod 600 ${join(folder, "open")}`,
    ]);
    expect(describeConfig(config)).not.toHaveProperty("warnings");
  });

  test.each(["token-file", "tls-client-ca"])("a FIFO as --%s is refused at once, and not waited for", (flag) => {
    const fifo = join(folder, `fifo-${flag}`);
    execFileSync("mkfifo", [fifo]);
    const pem = ["--tls-cert", pemFile("server.crt"), "--tls-key", pemFile("server.key")];
    const refusal = refusalOf([...(flag === "token-file" ? [] : pem), `--${flag}`, fifo]);
    expect(refusal).toBe(`--${flag} must be a file that can be read; got '${fifo}' (not a regular file)`);
  });

  test("a key of another certificate, and files without one, are refused by name", () => {
    const tls = (cert: string, key: string) => ["--tls-cert", pemFile(cert), "--tls-key", pemFile(key)];
    expect(refusalOf(tls("server.crt", "client.key"))).toBe(
      `--tls-key '${pemFile("client.key")}' is the key of another certificate than --tls-cert '${pemFile("server.crt")}'`,
    );
    expect(refusalOf(tls("server.key", "server.key"))).toMatch(/^--tls-cert must be a file of certificates in PEM/);
    expect(refusalOf(tls("server.crt", "server.crt"))).toMatch(/^--tls-key '.*' must be the certificate's private key/);
    expect(refusalOf([...tls("server.crt", "server.key"), "--tls-client-ca", pemFile("make.sh")])).toMatch(
      /^--tls-client-ca must be a file of certificates in PEM/,
    );
    expect(configOf(["--token", ` ${token}\n`]).token).toBe(token);
  });

  test("a token that is too short or has spaces is refused without being shown", () => {
    expect(refusalOf(["--token", "short"])).toBe(
      "--token must hold 16 to 4096 visible ASCII characters without spaces; got 5 characters",
    );
    expect(refusalOf(["--token", "a token with spaces in it"])).not.toContain("a token");
  });

  test("two tokens, half of a TLS pair, and files that are not there are refused", () => {
    expect(refusalOf(["--token", token, "--token-file", "x"])).toMatch(/--token and --token-file/);
    expect(refusalOf(["--tls-cert", "x"])).toMatch(/--tls-cert and --tls-key must be given together/);
    expect(refusalOf(["--token-file", join(folder, "no")])).toMatch(/--token-file must be a file .* \(ENOENT\)$/);
  });

  test("what is printed holds none", () => {
    const tls = ["--tls-cert", pemFile("server.crt"), "--tls-key", pemFile("server.key")];
    const printed = JSON.stringify(describeConfig(configOf(["--token", token, ...tls])));
    expect(printed).not.toContain(token);
    expect(printed).not.toContain("PRIVATE KEY");
    expect(printed).toContain('"token":"[redacted]"');
    expect(printed).toContain('"maxGroups":1024');
  });

  test("is printed without the password of a database", () => {
    for (const store of [
      "postgres://me:pass-of-mine@host/gradus",
      "postgresql://me@host/gradus?password=pass-of-mine",
    ]) {
      const config = configOf(["--store", store]);
      expect(config.store).toBe(store);
      const printed = JSON.stringify(describeConfig(config));
      expect(printed).not.toContain("pass-of-mine");
      expect(printed).toContain("host/gradus");
    }
    expect(refusalOf(["--store", "postgres:pass-of-mine"])).not.toContain("pass-of-mine");
  });
});

describe("a teacher", () => {
  const url = "http://localhost:8000/v1";

  test("is a URL and a model, and its key is never printed", () => {
    expect(configOf([]).teacher).toBeUndefined();
    const config = configOf(["--teacher-url", url, "--teacher-model", "m"], { GRADUS_TEACHER_KEY: "hush-hush" });
    expect(config.teacher).toEqual({ url, model: "m", key: "hush-hush", timeoutMs: 60_000 });
    expect(JSON.stringify(describeConfig(config))).not.toContain("hush");
    expect(describeConfig(config)["teacher"]).toMatchObject({ url, key: "[redacted]" });
  });

  test.each([
    [["--teacher-url", url], "must be given together"],
    [["--teacher-model", "m"], "must be given together"],
    [["--teacher-url", "localhost:8000", "--teacher-model", "m"], "--teacher-url must be an http or https URL"],
    [["--teacher-url", "http://a:b@c/v1", "--teacher-model", "m"], "without a password"],
  ])("is refused: %j", (args, words) => {
    expect(refusalOf(args)).toContain(words);
  });
});

describe("a judge", () => {
  const url = "http://localhost:8000/v1";
  const given = ["--judge-url", url, "--judge-model", "m"];

  test("is a URL and a model, with the paper's temperature, and its key is never printed", () => {
    expect(configOf([]).judge).toBeUndefined();
    const config = configOf(given, { GRADUS_JUDGE_KEY: "hush-hush" });
    const defaults = { timeoutMs: 60_000, concurrency: 16, temperature: 0.4, prices: undefined };
    expect(config.judge).toEqual({ url, model: "m", key: "hush-hush", ...defaults });
    expect(JSON.stringify(describeConfig(config))).not.toContain("hush");
    const more = ["--judge-temperature", "0", "--judge-price-in", "0.4", "--judge-price-out", "1.6"];
    expect(configOf([...given, ...more]).judge).toMatchObject({ temperature: 0, prices: { input: 0.4, output: 1.6 } });
  });

  test.each([
    [["--judge-url", url], "must be given together"],
    [["--judge-url", "localhost:8000", "--judge-model", "m"], "--judge-url must be an http or https URL"],
    [[...given, "--judge-temperature", "-1"], "--judge-temperature must be a number from 0 to 2; got '-1'"],
    [[...given, "--judge-temperature", "1e1"], "--judge-temperature must be a number from 0 to 2; got '1e1'"],
    [[...given, "--judge-price-in", "1"], "--judge-price-in and --judge-price-out must be given together"],
  ])("is refused: %j", (args, words) => {
    expect(refusalOf(args)).toContain(words);
  });
});
