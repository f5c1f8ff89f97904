/**
 * Tests of what the callers of each role may do, of tokens that change while the server runs, and of limits of one
 * token.
 */
import { create } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, renameSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { CurriculumService } from "../../../proto/gen/gradus/v1/curriculum_pb.js";
import { EnvironmentService, ListEnvironmentsResponseSchema } from "../../../proto/gen/gradus/v1/environment_pb.js";
import { EvaluationService } from "../../../proto/gen/gradus/v1/evaluation_pb.js";
import { readConfig } from "../../../server/runtime/config.ts";
import { roles, tokensProblem } from "../../../server/runtime/tokens.ts";
import { roleOf } from "../../../server/transport/roles.ts";
import { eventually, until } from "../../support/patience.ts";
import { type Fixture, type Handlers, start, stopAll, withHeader } from "./fixture.ts";
import { checkHealth } from "./grpc/health-client.ts";
import { echo, failureOf, latch } from "./handlers.ts";

afterEach(stopAll);

const folder = mkdtempSync(join(tmpdir(), "gradus-tokens-"));
const path = join(folder, "tokens.yaml");
const tokenOf = (name: string): string => `${name}-correct-horse-battery-staple`;
const as = (name: string) => ({ interceptors: [withHeader("authorization", `Bearer ${tokenOf(name)}`)] });

/** Written as an operator's tools do: a new file in the place of the old one. */
function write(...entries: readonly object[]): void {
  writeFileSync(join(folder, "next"), JSON.stringify(entries), { mode: 0o600 });
  renameSync(join(folder, "next"), path);
}

const everyRole = roles.map((role) => ({ name: `a-${role}`, role, token: tokenOf(`a-${role}`) }));
const handlers: Handlers = {
  step: async (message) => echo(message),
  listEnvironments: () => create(ListEnvironmentsResponseSchema),
};

test.each([EnvironmentService, CurriculumService, EvaluationService])(
  "each method of $typeName has a role",
  (service) => {
    const every = service.methods.map((method) => [method.name, roleOf(method)] as const);
    expect(every.filter(([, role]) => !roles.includes(role))).toEqual([]);
    // A viewer may call the methods that only read; the name of such a method begins with one of these verbs, and no
    // other's does.
    const reads = /^(List|Get|Watch|Draw)/;
    for (const [name, role] of every) expect([name, role === "viewer"]).toEqual([name, reads.test(name)]);
  },
);

test("a method that the table does not name is an operator's", () => {
  expect(roleOf({ parent: { ...CurriculumService, typeName: "other.v1.Service" }, localName: "getRun" })).toBe(
    "operator",
  );
});

describe.each(["grpc", "json", "web"] as const)("roles over %s", (port) => {
  test("a trainer may step, and a viewer is told whose it is", async () => {
    write(...everyRole);
    const server = await start(handlers, { tokensFile: path });
    for (const name of ["a-trainer", "a-operator"])
      expect((await server[port](as(name)).step({ sampleIndex: 4 })).outcome?.sampleIndex).toBe(4);
    expect(await server[port](as("a-viewer")).step({}).catch(failureOf)).toMatchObject({
      code: Code.PermissionDenied,
      rawMessage:
        "gradus.v1.EnvironmentService/Step needs a token with the role trainer, and 'a-viewer' has the role viewer",
    });
    expect(await server[port](as("nobody")).step({}).catch(failureOf)).toMatchObject({ code: Code.Unauthenticated });
    await server[port](as("a-viewer")).listEnvironments({});
  });

  test("calls of a token beyond its limit come again, and others' are not held up", async () => {
    write({ ...everyRole[1], max_inflight_calls: 2 }, { name: "other", role: "trainer", token: tokenOf("other") });
    const hold = latch();
    const server = await start(
      {
        step: async (message) => {
          if (message.sampleIndex === 1) await hold.opened;
          return echo(message);
        },
      },
      { tokensFile: path },
    );
    const limited = server[port](as("a-trainer"));
    const held = [limited.step({ sampleIndex: 1 }), limited.step({ sampleIndex: 1 })];
    const refused = await eventually(() =>
      limited.step({ sampleIndex: 2 }).then(() => Promise.reject(new Error("it was let in")), failureOf),
    );
    expect(refused).toMatchObject({ code: Code.ResourceExhausted });
    expect(refused.rawMessage).toMatch(/'a-trainer' already has 2 calls/);
    expect(Number(refused.metadata.get("retry-delay-ms"))).toBeGreaterThan(0);
    await server[port](as("other")).step({ sampleIndex: 2 });
    hold.open();
    await Promise.all(held);
    await limited.step({ sampleIndex: 2 });
  });

  test("a call that is open ends with its token, and others' go on", async () => {
    const other = { name: "other", role: "trainer", token: tokenOf("other") };
    write({ ...everyRole[1], max_inflight_calls: 7 }, everyRole[2] ?? {}, other);
    const hold = latch();
    let begun = 0;
    const step: Handlers["step"] = async (message, { signal }) => {
      begun++;
      await Promise.race([hold.opened, once(signal, "abort")]);
      signal.throwIfAborted();
      return echo(message);
    };
    const server = await start({ ...handlers, step }, { tokensFile: path });
    const [trainer, operator, others] = ["a-trainer", "a-operator", "other"].map((name) =>
      server[port](as(name))
        .step({})
        .then(() => "OK" as const, failureOf),
    );
    await until(() => begun === 3);
    // One token is gone, one has another secret, and one has other limits.
    write(
      { ...everyRole[2], token: tokenOf("another") },
      { ...other, max_inflight_calls: 3, max_calls_per_second: 100 },
    );
    expect(await trainer).toMatchObject({
      code: Code.Unauthenticated,
      rawMessage: "the token 'a-trainer' was withdrawn, or has another role now",
    });
    expect(await operator).toMatchObject({ code: Code.Unauthenticated });
    hold.open();
    expect(await others).toBe("OK");
  });
});

describe("the file of tokens", () => {
  const step = (server: Fixture, name: string) =>
    server
      .json(as(name))
      .step({})
      .then(
        () => "OK" as const,
        (error: unknown) => Code[failureOf(error).code],
      );

  test("is read again when it changes, and one that does not read leaves those from before", async () => {
    write(...everyRole);
    const server = await start(handlers, { tokensFile: path });
    expect(await step(server, "a-trainer")).toBe("OK");
    const sha256 = createHash("sha256").update(tokenOf("new")).digest("hex");
    write({ name: "new", role: "trainer", sha256 });
    await until(async () => (await step(server, "new")) === "OK");
    expect(await step(server, "a-trainer")).toBe("Unauthenticated");
    writeFileSync(path, `- name: broken\n  token: "${tokenOf("secret")}\n`);
    await until(() => server.lines().some(({ problem }) => problem !== undefined));
    expect(await step(server, "new")).toBe("OK");
    expect(JSON.stringify(server.lines())).not.toContain("correct-horse");
    expect(server.lines()).toContainEqual(expect.objectContaining({ caller: "new", code: "OK" }));
  });

  test("bounds how many calls of a token begin, and holds up nobody else", async () => {
    // One token is valid now, and the next one in a quarter of an hour.
    write(
      { ...everyRole[1], max_calls_per_second: 0.001 },
      { name: "other", role: "trainer", token: tokenOf("other") },
    );
    const server = await start(handlers, { tokensFile: path });
    expect(await step(server, "a-trainer")).toBe("OK");
    const refused = failureOf(
      await server
        .json(as("a-trainer"))
        .step({})
        .catch((error: unknown) => error),
    );
    expect(refused).toMatchObject({
      code: Code.ResourceExhausted,
      rawMessage: "the token 'a-trainer' began more than 0.001 calls a second, its limit (max_calls_per_second)",
    });
    expect(await step(server, "other")).toBe("OK");
    expect(await step(server, "other")).toBe("OK");
  });

  test("stands beside a token of its own, which is an operator's", async () => {
    write(...everyRole);
    const server = await start(handlers, { tokensFile: path, token: tokenOf("mine") });
    for (const name of ["mine", "a-trainer"]) expect(await step(server, name)).toBe("OK");
    expect(await checkHealth(server.grpcPort)).toBe("SERVING");
  });

  test.each([
    ["[]", "a list of 1 to 64"],
    ["{}", "a list of 1 to 64"],
    ["[1]", "token 1 needs a name"],
    ["- {name: a b}", "token 1 needs a name"],
    ["- {name: a, role: root}", "('a') needs a role: viewer, trainer, operator"],
    ["- {name: a, role: viewer, token: short-secret}", "needs either a token of 16 to 4096"],
    ["- {name: a, role: viewer, sha256: abc}", "its sha256 in 64"],
    ["- {name: a, role: viewer, token: long-enough-to-be-secret, rights: all}", "has an unknown field; known fields: "],
    ["- {name: a, role: viewer, token: long-enough-to-be-secret, max_inflight_calls: 0}", "max_inflight_calls"],
    ["- {name: a, role: viewer, token: long-enough-to-be-secret, max_calls_per_second: .inf}", "max_calls_per_second"],
    [
      "- {name: a, role: viewer, token: long-enough-to-be-secret}\n- {name: a, role: viewer, token: long-enough-to-be-secre2}",
      "two tokens have the same name: give each its own",
    ],
    [
      "- {name: a, role: viewer, token: long-enough-to-be-secret}\n- {name: b, role: viewer, token: long-enough-to-be-secret}",
      "is listed twice",
    ],
    ['- {name: a}\n- {name: "long-enough-to-be-secret}', "line 2 is neither valid YAML nor valid JSON"],
    ["long-enough-to-be-secret\n", "give it to --token-file"],
  ])("that holds %s is refused in words without a secret", (text, words) => {
    writeFileSync(path, text);
    const problem = tokensProblem(path);
    expect(problem).toContain("--tokens-file must be a file of tokens");
    expect(problem).toContain(words);
    expect(problem).not.toContain("secre");
  });

  test("that is away is refused, and is enough to listen on all addresses", () => {
    expect(tokensProblem(join(folder, "none"))).toContain("it cannot be read (ENOENT)");
    write(...everyRole);
    expect(readConfig({ tokensFile: path, host: "0.0.0.0" }, {})).toMatchObject({ kind: "ok" });
  });
});
