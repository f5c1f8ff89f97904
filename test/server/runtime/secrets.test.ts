/** Tests that a secret is cut out of texts in every form in which it is quoted, and that nothing else is cut. */
import { expect, test } from "vitest";
import { keyCutter, secretCutter } from "../../../server/runtime/secrets.ts";

const KEY = 'sk-proj/Ab+9=&"x<';
const cut = secretCutter([undefined, "none", KEY]);
const base64 = (text: string, encoding: "base64" | "base64url" = "base64") => Buffer.from(text).toString(encoding);
const coded = (form: (code: number) => string) => Array.from(KEY, (each) => form(each.charCodeAt(0))).join("");

test.each([
  ["as it is", `Incorrect API key provided: ${KEY}.`],
  ["as it was sent", `Authorization: Bearer ${KEY}`],
  ["in other cases", KEY.toUpperCase()],
  ["in a URL", `https://host/?key=${encodeURIComponent(KEY)}`],
  ["in a form", new URLSearchParams({ key: KEY }).toString()],
  ["byte for byte", [...Buffer.from(KEY)].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join("")],
  ["in JSON", JSON.stringify({ key: KEY })],
  ["in JSON that was put into JSON twice", JSON.stringify(JSON.stringify(JSON.stringify({ key: KEY })))],
  ["in JSON that writes slashes as they need not be", JSON.stringify({ key: KEY }).replaceAll("/", "\\/")],
  ["in JSON, by the codes of its characters", coded((code) => `\\u${code.toString(16).padStart(4, "0")}`)],
  ["in a URL within a URL", encodeURIComponent(encodeURIComponent(KEY))],
  ["in HTML, by the codes of its characters", coded((code) => `&#${code};`)],
  ["in HTML, by hexadecimal codes", coded((code) => `&#x${code.toString(16)};`)],
  ["in HTML within HTML", "sk-proj/Ab+9=&amp;amp;&amp;quot;x&amp;lt;"],
  ["in HTML", "sk-proj/Ab+9=&amp;&quot;x&lt;"],
  ["in hex", Buffer.from(KEY).toString("hex")],
  ["in base64", base64(KEY)],
  ["in base64, with a user before it", base64(`u:${KEY}`)],
  ["in base64, in the middle", base64(`Bearer ${KEY}, and more`)],
  ["in base64 for URLs", base64(`me@host:${KEY}`, "base64url")],
  ["twice", `${KEY} ${KEY}`],
])("%s", (_name, words) => {
  const left = cut(words);
  expect(left).toContain("[a secret]");
  // No six characters of the key are left, from which one could begin to guess.
  for (let at = 0; at + 6 <= KEY.length; at++)
    expect(left.toLowerCase()).not.toContain(KEY.slice(at, at + 6).toLowerCase());
});

test("words without it stay as they are, and so do all where a key is none", () => {
  expect(cut("none of the keys is here: sk-proj")).toBe("none of the keys is here: sk-proj");
  expect(secretCutter(["none", "", undefined])("none")).toBe("none");
});

test("a word that stands in for an endpoint's key is not cut out of what a model wrote", () => {
  for (const key of ["anything", "not-needed", "123456"]) expect(keyCutter(key)(`It is ${key}.`)).toBe(`It is ${key}.`);
  expect(keyCutter(KEY)(`It is ${KEY}.`)).toBe("It is [a secret].");
  expect(keyCutter("gsk-4f0c22aa")("It is gsk-4f0c22aa.")).toBe("It is [a secret].");
});

test.each(["\\", "&amp;", "%25", "\\u0073", "s"])(
  "a megabyte of %s, with which its forms begin, stays as it is",
  (beginning) => {
    const words = beginning.repeat(2 ** 20 / beginning.length);
    expect(cut(words)).toBe(words);
  },
);
