/**
 * Encrypts (seals) secrets for a store by a key that is not in the store. Uses AES-256-GCM, with a key derived from a
 * task key by HKDF.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";

const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const CIPHER = "aes-256-gcm";

/**
 * Derives the encryption key. `purpose` is the use of the secret; a secret sealed for one purpose cannot be opened for
 * another.
 */
const keyOf = (by: Buffer, purpose: string): Buffer =>
  Buffer.from(hkdfSync("sha256", by, Buffer.alloc(0), `gradus/sealed/${purpose}`, 32));

export function sealSecret(by: Buffer, purpose: string, secret: Buffer): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, keyOf(by, purpose), nonce);
  const body = Buffer.concat([cipher.update(secret), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), body]);
}

/** Decrypts a secret. Throws if it was sealed by another key, for another purpose, or was changed. */
export function openSecret(by: Buffer, purpose: string, sealed: Buffer): Buffer {
  const nonce = sealed.subarray(0, NONCE_BYTES);
  const decipher = createDecipheriv(CIPHER, keyOf(by, purpose), nonce, { authTagLength: TAG_BYTES });
  decipher.setAuthTag(sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
  return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]);
}
