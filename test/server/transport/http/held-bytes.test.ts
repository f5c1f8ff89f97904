/** Tests that the bodies of unfinished requests are bounded together, on this port too. */
import { request } from "node:http";
import { text } from "node:stream/consumers";
import { create } from "@bufbuild/protobuf";
import { afterEach, expect, test } from "vitest";
import { StepResponseSchema } from "../../../../proto/gen/gradus/v1/environment_pb.js";
import { start, stopAll } from "../fixture.ts";

afterEach(stopAll);

const MiB = 1024 ** 2;
const step = () => create(StepResponseSchema, { outcome: { sampleIndex: 7 } });

/** Sends most of a body, and waits for an answer. */
async function half(port: number): Promise<{ readonly status: number | undefined; readonly body: string }> {
  const headers = { "content-type": "application/json", "content-length": `${4 * MiB}` };
  const sent = request({ port, method: "POST", path: "/gradus.v1.EnvironmentService/Step", headers });
  sent.on("error", () => undefined);
  sent.write(Buffer.alloc(3 * MiB, " "));
  return new Promise((resolve) => {
    sent.on("response", (response) => {
      void text(response).then((body) => {
        sent.destroy();
        resolve({ status: response.statusCode, body });
      });
    });
  });
}

test("the largest is refused where there are too many, and others are answered", async () => {
  const server = await start({ step }, { maxHeldBytes: "8MiB", maxMessageBytes: "4MiB", maxCompletionBytes: "4MiB" });
  const refused = await Promise.race(Array.from({ length: 3 }, () => half(server.httpPort)));
  expect(refused.status).toBe(429);
  expect(JSON.parse(refused.body)).toMatchObject({
    code: "resource_exhausted",
    message: expect.stringContaining("--max-held-bytes") as string,
  });
  expect((await server.json().step({})).outcome?.sampleIndex).toBe(7);
});
