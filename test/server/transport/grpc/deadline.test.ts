/** Tests of deadlines that pass while a request is still arriving. */
import { afterEach, expect, test } from "vitest";
import { echo } from "../handlers.ts";
import { start, stopAll } from "../fixture.ts";
import { callRaw, connectRaw, frame } from "./raw.ts";

afterEach(stopAll);

test("a call whose deadline passed before its request was whole gives its place back", async () => {
  const server = await start({ step: async (request) => echo(request) }, { maxInflightCalls: "1" });
  const session = await connectRaw(server.grpcPort);
  for (let i = 0; i < 3; i++) {
    const { stream, ended } = callRaw(session, "Step", { "grpc-timeout": "10m" });
    stream.resume();
    stream.write(frame(new Uint8Array()));
    // The server has answered; only now the request ends, and its handler begins.
    await new Promise((resolve) => stream.once("end", resolve));
    stream.end();
    expect((await ended)["grpc-status"]).toBe("4");
  }
  const next = callRaw(session, "Step");
  next.stream.resume();
  next.stream.end(frame(new Uint8Array()));
  expect((await next.ended)["grpc-status"]).toBe("0");
  session.destroy();
});
