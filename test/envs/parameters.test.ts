import { describe, expect, test } from "vitest";
import { tsp } from "../../envs/np/tsp/index.ts";
import { findLevel, resolveParameters } from "../../envs/parameters.ts";

describe("findLevel", () => {
  test("finds a level by its name", () => {
    expect(findLevel(tsp, "hard")).toEqual({ kind: "found", level: tsp.levels[2] });
  });
  test("suggests the nearest name, and gives all", () => {
    const message =
      "np/tsp has no level 'esay'; did you mean 'easy'?; it has: easy, medium, hard, benchmark, reference";
    expect(findLevel(tsp, "esay")).toEqual({ kind: "unknown", message });
  });
});

describe("resolveParameters", () => {
  test("fills in defaults", () => {
    const parameters = { cities_min: 5, cities_max: 20, distance_min: 1, distance_max: 100 };
    expect(resolveParameters(tsp, { cities_min: 5 })).toEqual({ kind: "ok", parameters });
  });

  test.each([
    [{ cities_min: 30 }, { cities_min: 30, cities_max: 30 }],
    [{ cities_max: 5 }, { cities_min: 5, cities_max: 5 }],
    [{ cities_max: 15 }, { cities_min: 10, cities_max: 15 }],
    [{ distance_min: 101 }, { distance_min: 101, distance_max: 101 }],
    [
      { cities_min: 7, cities_max: 9 },
      { cities_min: 7, cities_max: 9 },
    ],
  ])("one end of a range moves the other's default along: %o", (values, expected) => {
    const parameters = { cities_min: 10, cities_max: 20, distance_min: 1, distance_max: 100, ...expected };
    expect(resolveParameters(tsp, values)).toEqual({ kind: "ok", parameters });
  });

  test("says of each end of a range that the other follows", () => {
    const said = tsp.generator?.parameters.map(({ description }) => description);
    expect(said?.slice(0, 2)).toEqual([
      "Fewest cities. Given alone, it raises cities_max as needed.",
      "Most cities. Given alone, it lowers cities_min as needed.",
    ]);
  });

  test.each([
    [{ citis_min: 5 }, "parameters", "unknown parameter 'citis_min'; did you mean 'cities_min'?"],
    [{ constructor: 5 }, "parameters", "unknown parameter 'constructor'"],
    [{ cities_min: 2 }, "parameters.cities_min", "cities_min must be from 3 to 200; got 2"],
    [{ cities_max: 201 }, "parameters.cities_max", "cities_max must be from 3 to 200; got 201"],
    [{ cities_max: NaN }, "parameters.cities_max", "cities_max must be from 3 to 200; got NaN"],
    [{ cities_max: 10.5 }, "parameters.cities_max", "cities_max must be a whole number; got 10.5"],
    [{ cities_max: 2 }, "parameters.cities_max", "cities_max must be from 3 to 200; got 2"],
    [{ cities_min: 30, cities_max: 20 }, "parameters", "cities_min must not be above cities_max: 30 > 20"],
    [{ distance_max: 5, distance_min: 6 }, "parameters", "distance_min must not be above distance_max: 6 > 5"],
  ])("refuses %o", (values, field, message) => {
    expect(resolveParameters(tsp, values as Readonly<Record<string, number>>)).toEqual({
      kind: "invalid",
      field,
      message,
    });
  });
});
