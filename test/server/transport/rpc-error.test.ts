import { expect, test } from "vitest";
import { RpcError } from "../../../server/base/rpc.ts";

test("a message that quotes half a surrogate pair can be sent", () => {
  const cut = "\u{1f600}".slice(0, 1);
  const { message, field } = new RpcError("INVALID_ARGUMENT", `no such name '${cut}'`, { field: `names["${cut}"]` });
  expect(message).toBe("no such name '\\u{d83d}'");
  expect(field).toBe('names["\\u{d83d}"]');
  // grpc-js calls encodeURI on the message.
  expect(() => encodeURI(message)).not.toThrow();
});

test("a long message is cut between characters, so that headers stay small", () => {
  const { message, field } = new RpcError("INVALID_ARGUMENT", "\u00e9".repeat(5000), { field: "x".repeat(5000) });
  expect(message).toBe("\u00e9".repeat(512));
  expect(field).toHaveLength(256);
});
