import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { ReportSchema } from "../../clients/ts/src/index.ts";
import type { Report } from "../../clients/ts/src/index.ts";
import { calibrate, settingsOf } from "../../cli/research/calibrate/calibrate.ts";

/** A report of np/tsp by number of cities: success rate and tasks. */
function report(
  rates: Readonly<Record<number, readonly [rate: number, tasks: number]>>,
  figure = "success_rate",
): Report {
  const entries = Object.entries(rates);
  return create(ReportSchema, {
    suite: {
      parts: entries.map(([cities]) => ({
        name: `${cities} cities`,
        environment: "np/tsp",
        version: 2,
        parameters: { values: { cities_min: Number(cities), cities_max: Number(cities) } },
      })),
    },
    parts: entries.map(([cities, [rate, tasks]]) => ({
      name: `${cities} cities`,
      tasks: BigInt(tasks),
      figures: { [figure]: rate },
    })),
  });
}

const citiesOf = (setting: { readonly parameters: Readonly<Record<string, number>> } | undefined) =>
  setting?.parameters["cities_max"];

test("takes for each level the setting in its band that is nearest to the middle", () => {
  const found = calibrate(
    settingsOf([report({ 5: [1, 50], 10: [0.88, 50], 12: [0.79, 50], 20: [0.55, 50], 40: [0.2, 50] })]),
  );
  expect(found.map(({ band, setting }) => [band.level, citiesOf(setting)])).toEqual([
    ["easy", 12],
    ["medium", 20],
    ["hard", 40],
  ]);
});

test("where no setting is in a band, says between which to look", () => {
  const [easy, medium, hard] = calibrate(settingsOf([report({ 5: [0.98, 50], 10: [0.95, 50], 30: [0.05, 50] })]));
  expect([easy?.setting, medium?.setting, hard?.setting]).toEqual([undefined, undefined, undefined]);
  expect([citiesOf(medium?.easier), citiesOf(medium?.harder)]).toEqual([10, 30]);
  expect(calibrate(settingsOf([report({ 5: [0.02, 9] })]))[0]).toMatchObject({ easier: undefined });
});

test("one setting in several reports is one, its tasks together", () => {
  const settings = settingsOf([report({ 9: [1, 30] }), report({ 9: [0.5, 10] })]);
  expect(settings).toEqual([
    { environment: "np/tsp", parameters: { cities_max: 9, cities_min: 9 }, tasks: 40, successRate: 0.875 },
  ]);
});

test("where an answer is right or not, the rate is that of right ones; parts without samples say nothing", () => {
  expect(settingsOf([report({ 4: [0.5, 10] }, "exact_rate")])[0]?.successRate).toBe(0.5);
  expect(settingsOf([report({ 4: [0.5, 0] }, "other")])).toEqual([]);
});
