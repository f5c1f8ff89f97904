/** The limits that the contract's comments state are those that the server checks. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { type DescField, ScalarType } from "@bufbuild/protobuf";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { expect, test } from "vitest";
import { CurriculumService } from "../../../proto/gen/gradus/v1/curriculum_pb.js";
import { EnvironmentService } from "../../../proto/gen/gradus/v1/environment_pb.js";
import { EvaluationService } from "../../../proto/gen/gradus/v1/evaluation_pb.js";
import { type Limit, LIMITS } from "../../../proto/limits.ts";
import { openServer } from "../../support/in-process.ts";
import { EVALUATION_SAMPLES_MAX, OPEN_SAMPLES_MAX } from "../../../server/curriculum/state.ts";

const proto = ["curriculum", "environment", "evaluation", "outcome", "task"]
  .map((name) => readFileSync(resolve(import.meta.dirname, `../../../proto/gradus/v1/${name}.proto`), "utf8"))
  .join("\n");

function commentOf(message: string, field: string): string {
  const body = new RegExp(String.raw`^message ${message} \{\n([\s\S]*?)^\}`, "m").exec(proto)?.[1] ?? "";
  const found = new RegExp(String.raw`((?:^ +//.*\n)+) +(?:repeated |optional )?[\w.]+ ${field} = \d+;`, "m").exec(
    body,
  );
  return (found?.[1] ?? "").replaceAll(/\s*\/\/\s*/g, " ");
}

/** Factors of the units behind numbers: to bytes, or to milliseconds. */
const UNITS: Readonly<Record<string, number>> = { KiB: 1024, s: 1000, minutes: 60_000, days: 24 * 60 * 60 * 1000 };

/** Numbers in a text, with or without commas, each in its unit's smallest part. */
const numbersIn = (text: string): readonly number[] =>
  [...text.matchAll(/(\d[\d,]*(?:\.\d+)?(?:e\d+)?)(?: (KiB|s|minutes|days)\b)?/g)].map(
    ([, number = "", unit = ""]) => Number(number.replaceAll(",", "")) * (UNITS[unit] ?? 1),
  );

const stated = Object.entries(LIMITS).flatMap(([message, fields]) =>
  Object.entries(fields as Readonly<Record<string, Limit>>).flatMap(([field, { max, default: byDefault }]) =>
    [max, ...(byDefault === undefined ? [] : [byDefault])].map((limit) => [message, field, limit] as const),
  ),
);

test.each([
  ...stated,
  ["RunConfig", "prompts_per_update", OPEN_SAMPLES_MAX] as const,
  ["RunConfig", "evaluation_arms", EVALUATION_SAMPLES_MAX] as const,
])("%s.%s: %d", (message, field, limit) => {
  expect(numbersIn(commentOf(message, field))).toContain(limit);
});

test("how many arms a run may have is said once", () => {
  const said = [...proto.matchAll(/(?:[^\n]*\/\/[^\n]*\n)+/g)].filter(([text]) => /\b(?:1,?024|256) arms\b/.test(text));
  expect(said.map(([text]) => text)).toEqual([]);
  expect(commentOf("RunConfig", "arms")).toContain("1 to 1,024");
});

/** Returns a request whose one field is just above its limit. */
function exceeding({ localName, fieldKind, scalar, oneof }: DescField, { max }: Limit): object {
  const value =
    fieldKind === "list"
      ? Array.from({ length: max + 1 }, () => (scalar === ScalarType.STRING ? "a" : {}))
      : fieldKind === "message"
        ? { seconds: BigInt(Math.ceil((max + 1) / 1000)), nanos: 0 }
        : scalar === ScalarType.STRING
          ? "a".repeat(max + 1)
          : max + 1;
  return oneof === undefined ? { [localName]: value } : { [oneof.localName]: { case: localName, value } };
}

test("a request whose field exceeds its limit is refused, with the field and the limit", async () => {
  await using server = await openServer({ store: "memory" });
  const transport = createGrpcTransport({ baseUrl: `http://${server.address}` });
  const tried: string[] = [];
  for (const service of [CurriculumService, EnvironmentService, EvaluationService]) {
    const client = createClient(service, transport) as Record<string, (request: object) => unknown>;
    for (const { localName, input, methodKind } of service.methods) {
      const limits = (LIMITS as Readonly<Record<string, Readonly<Record<string, Limit>>>>)[input.name] ?? {};
      for (const [name, limit] of Object.entries(methodKind === "bidi_streaming" ? {} : limits)) {
        const field = input.fields.find((each) => each.name === name);
        if (field === undefined) throw new Error(`${input.name} has no field ${name}`);
        const call = async (): Promise<void> => {
          const answer = client[localName]?.(exceeding(field, limit));
          if (methodKind === "unary") await answer;
          else await (answer as AsyncIterable<unknown>)[Symbol.asyncIterator]().next();
        };
        const error = ConnectError.from(await call().catch((refused: unknown) => refused));
        expect([error.code, error.rawMessage], `${localName} ${name}`).toEqual([
          Code.InvalidArgument,
          expect.stringMatching(new RegExp(`^${name}: .*${limit.max}`)),
        ]);
        tried.push(`${input.name}.${name}`);
      }
    }
  }
  expect(tried).toContain("GetHistoryRequest.merge_batches");
});
