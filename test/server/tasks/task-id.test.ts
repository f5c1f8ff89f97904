import { createHmac } from "node:crypto";
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { tsp } from "../../../envs/np/tsp/index.ts";
import { type Keyring, open, seal, signingKey } from "../../../server/tasks/keyring.ts";
import { TaskTokenSchema } from "../../../proto/gen/gradus/internal/v1/task_key_pb.js";
import { encodeSettings, mintTaskId, mintTurnId, openTaskId, type TaskToken } from "../../../server/tasks/task-id.ts";
import { registry } from "../../support/registry.ts";

const one: Keyring = [signingKey(Buffer.alloc(32, 1))];
const two: Keyring = [signingKey(Buffer.alloc(32, 2))];

const hash = "00112233445566ff";
const generated: TaskToken = {
  environment: "np/tsp",
  version: 2,
  key: {
    origin: { kind: "generated", parameters: { b: 2.5, a: 1 }, seed: 2n ** 64n - 1n, attempt: 3 },
    hash,
    baseline: { value: 80, bound: 80, proven: true },
  },
  level: "",
  split: "eval",
  answerFormat: "boxed",
  thinking: "stripped",
  rewardScheme: "quality",
  rewardParameters: {},
  run: { runId: "r", incarnation: "i", arm: 1, cursor: 2 ** 40, numGenerations: 8, feedback: true },
  inline: Uint8Array.of(0, 127, 128, 255),
};
const row: TaskToken = {
  environment: "countdown",
  version: 1,
  key: { origin: { kind: "row", pool: "mine", row: 7, contentHash: hash }, hash },
  level: "",
  split: "train",
  answerFormat: "think_answer",
  thinking: "required",
  rewardScheme: "graded",
  rewardParameters: { format_score: 0.1 },
};
const leveled: TaskToken = {
  ...generated,
  level: "hard",
  key: {
    origin: {
      kind: "generated",
      parameters: tsp.levels.find(({ name }) => name === "hard")?.parameters ?? {},
      seed: 1n,
      attempt: 0,
    },
    hash,
  },
};
const inline: TaskToken = { ...row, key: { origin: { kind: "inline", instance: Uint8Array.of(1, 2, 3) }, hash } };
const played: TaskToken = {
  ...leveled,
  calls: 10,
  tools: [1],
  episode: {
    calls: 3,
    state: Uint8Array.from({ length: 150 }, (_, i) => i),
    log: [{ number: 2, tool: 1, text: '{"code": [1]}' }],
    standing: { value: 0.5, verdict: "feasible", objective: 4, quality: 0.5, solved: false },
    digest: "00112233ff44",
    sample: { index: 3 },
  },
};
const begun: TaskToken = {
  ...row,
  calls: 2,
  episode: { calls: 1, state: undefined, log: [], standing: undefined, digest: "001122334455", sample: { key: "k" } },
};

describe.each([
  ["generated", generated],
  ["played", played],
  ["begun", begun],
  ["level's", leveled],
  ["row", row],
  ["inline", inline],
])("a %s task's id", (_, token) => {
  test("carries the whole token", () => {
    const minted = mintTaskId(one, token);
    const opened = openTaskId(one, registry, minted.taskId);
    if (opened.kind !== "ok") throw new Error(opened.detail);
    expect(opened.groupId).toBe(minted.groupId);
    expect(JSON.parse(plain(opened.token))).toEqual(JSON.parse(plain(token)));
  });

  test("is the same for equal tokens, whatever the order of their parameters", () => {
    const reordered = structuredClone(token);
    if (reordered.key.origin.kind === "generated")
      Object.assign(reordered.key.origin, {
        parameters: Object.fromEntries(Object.entries(reordered.key.origin.parameters).reverse()),
      });
    expect(mintTaskId(one, reordered)).toEqual(mintTaskId(one, token));
  });

  test("is refused with any character changed, dropped or added", () => {
    const { taskId } = mintTaskId(one, token);
    for (let i = 0; i < taskId.length; i++) {
      const other = taskId[i] === "A" ? "B" : "A";
      expect(openTaskId(one, registry, taskId.slice(0, i) + other + taskId.slice(i + 1)).kind).toBe("invalid");
      expect(openTaskId(one, registry, taskId.slice(0, i) + taskId.slice(i + 1)).kind).toBe("invalid");
      expect(openTaskId(one, registry, `${taskId.slice(0, i)} ${taskId.slice(i)}`).kind).toBe("invalid");
    }
  });

  test("is accepted with a key that no longer signs, and refused without it", () => {
    const { taskId } = mintTaskId(one, token);
    expect(openTaskId([...two, ...one] as unknown as Keyring, registry, taskId).kind).toBe("ok");
    expect(openTaskId(two, registry, taskId)).toEqual({
      kind: "invalid",
      detail: "task_id: it was made with a key that this server does not have",
    });
  });
});

test.each([played, begun])("an episode follows its settings as protobuf encodes the whole token: %#", (token) => {
  const { taskId } = mintTaskId(one, token);
  const opened = open(one, "task", Buffer.from(taskId, "base64url"));
  if (opened.kind !== "ok" || token.episode === undefined) throw new Error("it is not open");
  const whole = toBinary(TaskTokenSchema, fromBinary(TaskTokenSchema, opened.payload));
  expect(Buffer.from(opened.payload).equals(whole)).toBe(true);
  expect(mintTurnId(one, encodeSettings(token), token.episode)).toBe(taskId);
});

test.each(["task", "run"] as const)("the MAC is an HMAC-SHA256 as OpenSSL computes it, of a %s", (purpose) => {
  fc.assert(
    fc.property(
      fc.uint8Array({ minLength: 32, maxLength: 32 }),
      fc.uint8Array({ maxLength: 300 }),
      (secret, payload) => {
        const sealed = seal([signingKey(Buffer.from(secret))], purpose, payload);
        const mac = createHmac("sha256", secret).update(`gradus/${purpose}/1:`).update(payload).digest();
        expect(sealed.subarray(5, 21).equals(mac.subarray(0, 16))).toBe(true);
      },
    ),
  );
});

test("any text is an id or is refused in words", () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.base64String(), fc.string({ unit: "binary" })), (text) => {
      const opened = openTaskId(one, registry, text);
      expect(opened.kind === "invalid" && opened.detail.length > 0).toBe(true);
    }),
  );
  expect(openTaskId(one, registry, "A".repeat(100_000))).toMatchObject({ kind: "invalid" });
});

test("what is sealed for one purpose is refused for another", () => {
  const sealed = seal(one, "run", Buffer.from("state"));
  expect(open(one, "run", sealed).kind).toBe("ok");
  expect(open(one, "task", sealed)).toMatchObject({ kind: "invalid" });
});

test("a level stands for its parameters, so that ids stay short", () => {
  expect(mintTaskId(one, leveled).taskId.length).toBeLessThan(mintTaskId(one, { ...leveled, level: "" }).taskId.length);
});

function plain(token: TaskToken): string {
  const sortNames = (value: unknown): unknown => {
    if (typeof value === "bigint") return String(value);
    if (value instanceof Uint8Array) return Buffer.from(value).toString("hex");
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(
      Object.entries(value)
        .filter(([name]) => name !== "$typeName")
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([k, v]) => [k, sortNames(v)]),
    );
  };
  return JSON.stringify(sortNames(token));
}
