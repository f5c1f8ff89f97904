/** The page's words for times. */
import { expect, test } from "vitest";
import { clock } from "../../page/src/words.ts";

test("a time of another day has the date that it has where it is read", () => {
  const before = process.env["TZ"];
  process.env["TZ"] = "Asia/Tokyo";
  try {
    expect(clock(new Date("2020-01-01T20:00:00Z"))).toBe("2020-01-02 05:00:00");
  } finally {
    if (before === undefined) delete process.env["TZ"];
    else process.env["TZ"] = before;
  }
});
