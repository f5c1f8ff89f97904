/** Tests of failures, as both kinds of client see them. */
import { createRegistry } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { afterEach, describe, expect, test } from "vitest";
import { StoreDamaged, StoreUnavailable } from "../../../server/stores/store.ts";
import { type CodeName, codes, RpcError } from "../../../server/base/rpc.ts";
import { type Fixture, type Handlers, start, stopAll } from "./fixture.ts";
import { callRaw, connectRaw, frame } from "./grpc/raw.ts";
import { failureOf } from "./handlers.ts";

afterEach(stopAll);

const ports = ["grpc", "json"] as const;

/** Returns the error with which a call of Step fails. */
async function failure(server: Fixture, port: (typeof ports)[number], completion = ""): Promise<ConnectError> {
  const outcome = await server[port]().step({ completion }).catch(failureOf);
  if (!(outcome instanceof ConnectError)) throw new Error("the call succeeded");
  return outcome;
}

const throwing = (error: Error): Handlers => ({ step: () => Promise.reject(error) });

describe.each(ports)("over %s", (port) => {
  test("each code arrives with its message", async () => {
    const names = Object.keys(codes).filter((name) => name !== "OK") as CodeName[];
    const server = await start({
      step: ({ completion }) => Promise.reject(new RpcError(completion as CodeName, `it was ${completion} — truly`)),
    });
    for (const name of names) {
      const error = await failure(server, port, name);
      expect([error.code, error.rawMessage]).toEqual([codes[name], `it was ${name} — truly`]);
    }
  });

  test("a retry delay arrives as google.rpc.RetryInfo and as plain metadata", async () => {
    const server = await start(throwing(new RpcError("UNAVAILABLE", "later", { retryDelayMs: 2250 })));
    const error = await failure(server, port);
    expect(error.metadata.get("retry-delay-ms")).toBe("2250");
    expect(error.details).toEqual([
      // Duration retry_delay = 1 { int64 seconds = 1: 2; int32 nanos = 2: 250,000,000 }, written by hand.
      { type: "google.rpc.RetryInfo", value: Uint8Array.of(0x0a, 7, 0x08, 2, 0x10, 0x80, 0xe5, 0x9a, 0x77) },
    ]);
    expect(error.findDetails(createRegistry())).toEqual([]);
  });

  test("a reason to wait arrives as google.rpc.ErrorInfo and as plain metadata", async () => {
    const wait = { reason: "PAUSED", metadata: { paused_by: "ö" } } as const;
    const server = await start(throwing(new RpcError("UNAVAILABLE", "later", { retryDelayMs: 1, wait })));
    const { details, metadata } = await failure(server, port);
    expect(metadata.get("wait-reason")).toBe("PAUSED");
    const info = details.find((detail) => "type" in detail && detail.type === "google.rpc.ErrorInfo");
    // ErrorInfo { string reason = 1; string domain = 2; map<string, string> metadata = 3 }, written by hand.
    const entry = [0x0a, 9, ...Buffer.from("paused_by"), 0x12, 2, ...Buffer.from("ö")];
    const value = [0x0a, 6, ...Buffer.from("PAUSED"), 0x12, 6, ...Buffer.from("gradus"), 0x1a, entry.length, ...entry];
    expect(info).toEqual({ type: "google.rpc.ErrorInfo", value: Uint8Array.from(value) });
  });

  test("a field at fault arrives as google.rpc.BadRequest", async () => {
    const server = await start(throwing(new RpcError("INVALID_ARGUMENT", "no", { field: "a.b" })));
    const { details } = await failure(server, port);
    const violation = [0x0a, 9, 0x0a, 3, ...Buffer.from("a.b"), 0x12, 2, ...Buffer.from("no")];
    expect(details).toEqual([{ type: "google.rpc.BadRequest", value: Uint8Array.from(violation) }]);
  });

  test("a store that is full is UNAVAILABLE with a delay; why goes to the log only", async () => {
    const server = await start(throwing(new StoreUnavailable("secret path")));
    const error = await failure(server, port);
    expect([error.code, error.metadata.get("retry-delay-ms")]).toEqual([Code.Unavailable, "1000"]);
    expect(error.rawMessage).toMatch(/^the server's store is unavailable, .* \(request id .*\): try again$/);
    const logged = server.lines().find(({ msg }) => msg === "the store is unavailable");
    expect(logged).toMatchObject({ level: 50, err: { message: "secret path" } });
  });

  test("a store that is damaged is DATA_LOSS; where goes to the log only", async () => {
    const server = await start(throwing(new StoreDamaged("secret path")));
    const error = await failure(server, port);
    expect(error.code).toBe(Code.DataLoss);
    expect(error.rawMessage).toMatch(
      /^the server's store is damaged: ask its operator to read the server's log \(request id .*\)$/,
    );
    expect(server.lines().find(({ msg }) => msg === "the store is damaged")).toMatchObject({ level: 50 });
  });

  test("a bug is INTERNAL with the request's id; its message and stack go to the log only", async () => {
    const server = await start(throwing(new Error("secret path")));
    const error = await failure(server, port);
    expect(error.code).toBe(Code.Internal);
    const logged = server.lines().find(({ msg }) => msg === "internal error");
    expect(error.rawMessage).toBe(`internal error (request id ${String(logged?.["requestId"])})`);
    expect(logged?.["err"]).toMatchObject({ message: "secret path" });
    expect((logged?.["err"] as Error).stack).toContain("errors.test.ts");
  });

  test("what is thrown need not be an Error", async () => {
    const error = await failure(await start(throwing("text" as unknown as Error)), port);
    expect(error.code).toBe(Code.Internal);
  });

  test("a handler that throws before it returns a promise is no different", async () => {
    const step = () => {
      throw new Error("at once");
    };
    expect((await failure(await start({ step }), port)).code).toBe(Code.Internal);
  });

  test("a method without a handler is UNIMPLEMENTED", async () => {
    const error = await failure(await start({}), port);
    expect([error.code, error.rawMessage]).toEqual([
      Code.Unimplemented,
      "gradus.v1.EnvironmentService/Step is part of the contract, but this server does not implement it",
    ]);
  });
});

test("bytes that are no message are the caller's fault", async () => {
  const server = await start({});
  const session = await connectRaw(server.grpcPort);
  const { stream, ended } = callRaw(session, "Step");
  stream.resume().end(frame(Uint8Array.of(0xff, 0xff, 0xff)));
  expect(await ended).toMatchObject({
    "grpc-status": "3",
    "grpc-message": encodeURI("the request's 3 bytes are not a gradus.v1.StepRequest message: premature EOF"),
  });
  session.destroy();
});
