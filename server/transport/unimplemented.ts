/** Handlers for methods that have none. */
import type { DescMethod } from "@bufbuild/protobuf";
import { RpcError } from "../rpc/rpc-error.ts";

export function unimplemented(method: DescMethod): () => Promise<never> {
  return () => Promise.reject(refusal(method));
}

export function unimplementedStream(method: DescMethod): () => AsyncIterable<never> {
  return () => ({ [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(refusal(method)) }) });
}

function refusal({ parent, name }: DescMethod): RpcError {
  return new RpcError("UNIMPLEMENTED", `${parent.typeName}/${name} is part of the contract, but not served yet`);
}
