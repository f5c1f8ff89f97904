import { afterEach, expect, test } from "vitest";
import { start, stopAll } from "../fixture.ts";
import { echo } from "../handlers.ts";

afterEach(stopAll);

test("a deadline that is longer than a timer can be is refused, and does not pass at once", async () => {
  const { httpPort } = await start({ step: async (request) => echo(request) });
  const step = async (timeoutMs: string): Promise<unknown> => {
    const response = await fetch(`http://127.0.0.1:${httpPort}/gradus.v1.EnvironmentService/Step`, {
      method: "POST",
      headers: { "content-type": "application/json", "connect-timeout-ms": timeoutMs },
      body: '{"sampleIndex":7}',
    });
    return response.json();
  };
  expect(await step("2147483647")).toEqual({ outcome: { sampleIndex: 7 } });
  expect(await step("2147483648")).toEqual({
    code: "invalid_argument",
    message: "timeout 2147483648ms must be <= 2147483647",
  });
});
