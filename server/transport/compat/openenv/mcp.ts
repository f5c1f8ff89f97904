/**
 * Answers OpenEnv's JSON-RPC requests at /mcp: a client makes a session, resets it over a socket, and calls the tools
 * of its task. A reply contains the reward when the episode is over.
 */
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { type CodeName, RpcError } from "../../../base/rpc.ts";
import type { HttpCall } from "../../http/call.ts";
import { answered } from "../call.ts";
import { INVALID_PARAMS, INVALID_REQUEST, PARSE_ERROR, readRequest, type RpcRequest } from "./message.ts";
import type { Player } from "./play.ts";
import type { Sessions } from "./sessions.ts";

const METHOD_NOT_FOUND = -32601;
const SERVER_ERROR = -32000;

/** JSON-RPC error code of each gRPC status. All other statuses become SERVER_ERROR. */
const CODES: Partial<Record<CodeName, number>> = {
  INVALID_ARGUMENT: INVALID_PARAMS,
  NOT_FOUND: INVALID_PARAMS,
  UNIMPLEMENTED: METHOD_NOT_FOUND,
};

/** Answers a JSON-RPC request. `newPlayer` makes the player of a new session. */
export async function answerMcp(
  sessions: Sessions,
  newPlayer: () => Player,
  call: HttpCall,
  body: Buffer,
): Promise<JsonObject> {
  let id: JsonValue = null;
  try {
    const request = readRequest(body);
    if (request === PARSE_ERROR) return failed(id, request, "the body is not JSON");
    if (request === INVALID_REQUEST) return failed(id, request, 'a request has jsonrpc "2.0" and a method');
    ({ id } = request);
    const result = await answered(call, () => resultOf(request, sessions, newPlayer, call));
    return { jsonrpc: "2.0", id, result };
  } catch (thrown) {
    const { code, message, retryDelayMs } = call.failure(thrown);
    const delay = retryDelayMs === undefined ? {} : { retry_delay_ms: retryDelayMs };
    return failed(id, CODES[code] ?? SERVER_ERROR, message, { grpc_code: code, ...delay });
  }
}

function failed(id: JsonValue, code: number, message: string, data?: JsonObject): JsonObject {
  return { jsonrpc: "2.0", id, error: { code, message, ...(data !== undefined && { data }) } };
}

async function resultOf(
  { method, params }: RpcRequest,
  sessions: Sessions,
  newPlayer: () => Player,
  call: HttpCall,
): Promise<JsonObject> {
  const { caller } = call.party;
  const { session_id: id = null } = params;
  if (method === "openenv/session/create") return { session_id: sessions.create(caller, newPlayer()) };
  if (method === "tools/list" && id === null) return (await newPlayer().list_tools({}, call)).data.observation;
  if (!["openenv/session/close", "tools/list", "tools/call"].includes(method))
    throw new RpcError("UNIMPLEMENTED", `/mcp has no method ${method.slice(0, 100)}`);
  const { seat, player } = sessions.find(id, caller);
  if (method === "openenv/session/close") {
    seat.leave();
    seat.closeSocket(1000, "the session was closed over /mcp");
    return { session_id: id, closed: true };
  }
  seat.begin();
  try {
    if (method === "tools/list") return (await player.list_tools({}, call)).data.observation;
    const { observation, reward, done } = (await player.call_tool(params, call)).data;
    const { result = "", outcome } = observation;
    // OpenEnv's client passes only the field `data` of this result to its user, so `data` repeats the reply.
    const data = done ? { reply: result, done, reward, outcome: outcome ?? null } : { reply: result, done };
    return { content: [{ type: "text", text: result }], data, isError: false };
  } finally {
    seat.finish();
  }
}
