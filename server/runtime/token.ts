/** Form of a bearer token, which clients send to identify themselves. */

export const TOKEN_WORDS = "16 to 4096 visible ASCII characters without spaces";

export function isToken(text: string): boolean {
  return /^[\x21-\x7e]{16,4096}$/.test(text);
}
