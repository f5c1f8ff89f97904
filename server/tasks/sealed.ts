/** Bytes that clients carry and cannot forge: base64url of version, key id, MAC and payload. */
import { createHmac, timingSafeEqual } from "node:crypto";
import type { Keyring, SigningKey } from "./keyring.ts";

const VERSION = 1;
const KEY_ID_END = 5;
/** 128 bits of an HMAC-SHA256. */
const MAC_BYTES = 16;
const HEADER_BYTES = KEY_ID_END + MAC_BYTES;

export type Opened =
  | { readonly kind: "ok"; readonly payload: Uint8Array; readonly mac: Uint8Array }
  | { readonly kind: "invalid"; readonly detail: string };

/** What the bytes are for. It is part of the MAC, so that one kind never passes for another. */
export type Purpose = "task" | "run";

function macOf(key: SigningKey, purpose: Purpose, payload: Uint8Array): Buffer {
  const mac = createHmac("sha256", key.handle);
  mac.update(purpose === "task" ? "gradus/task/1:" : "gradus/run/1:");
  return mac.update(payload).digest().subarray(0, MAC_BYTES);
}

export function seal(keyring: Keyring, purpose: Purpose, payload: Uint8Array): Buffer {
  const [key] = keyring;
  return Buffer.concat([Buffer.from([VERSION]), key.id, macOf(key, purpose, payload), payload]);
}

/** Opens what seal made; says what is wrong with anything else. */
export function open(keyring: Keyring, purpose: Purpose, bytes: Uint8Array): Opened {
  if (bytes.length <= HEADER_BYTES) return { kind: "invalid", detail: "it is too short to be one" };
  if (bytes[0] !== VERSION) return { kind: "invalid", detail: "it is not of a version that this server knows" };
  const id = bytes.subarray(1, KEY_ID_END);
  const key = keyring.find((candidate) => candidate.id.equals(id));
  if (key === undefined) return { kind: "invalid", detail: "it was made with a key that this server does not have" };
  const mac = bytes.subarray(KEY_ID_END, HEADER_BYTES);
  const payload = bytes.subarray(HEADER_BYTES);
  if (!timingSafeEqual(mac, macOf(key, purpose, payload)))
    return { kind: "invalid", detail: "it was changed after it was issued" };
  return { kind: "ok", payload, mac };
}
