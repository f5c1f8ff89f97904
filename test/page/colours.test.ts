/** Measures the colours of the charts' lines: people with colour blindness can tell them apart on both backgrounds. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { pensOf } from "../../page/src/ui/colours.ts";

const css = readFileSync(new URL("../../page/src/style/base.css", import.meta.url), "utf8");

type Rgb = readonly [number, number, number];

/** A colour of the page's style on a light or a dark ground, in linear light. */
function colour(name: string, ground: "light" | "dark"): Rgb {
  const [, light = "", dark = ""] = new RegExp(`${name}: light-dark\\(#(\\w{6}), #(\\w{6})\\)`).exec(css) ?? [];
  const hex = ground === "light" ? light : dark;
  const channel = (at: number): number => {
    const value = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  };
  return [channel(0), channel(2), channel(4)];
}

/**
 * Matrices from linear light to the light seen with all three cones, or without one of them (Machado and others, 2009).
 */
const seen: Readonly<Record<string, readonly Rgb[]>> = {
  all: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  "no green": [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  "no red": [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  "no blue": [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
};

function luminance([red, green, blue]: Rgb): number {
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** CIE L*a*b*, in which a distance of 2 is just seen. */
function lab(light: Rgb): Rgb {
  const [red, green, blue] = light.map((value) => Math.min(1, Math.max(0, value))) as unknown as Rgb;
  const f = (t: number): number => (t > 0.008856 ? Math.cbrt(t) : 7.787 * t + 16 / 116);
  const x = f((0.4124 * red + 0.3576 * green + 0.1805 * blue) / 0.9505);
  const y = f(0.2126 * red + 0.7152 * green + 0.0722 * blue);
  const z = f((0.0193 * red + 0.1192 * green + 0.9505 * blue) / 1.089);
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

const inks = [...new Set(pensOf(100).map(({ ink }) => ink.slice(4, -1)))];

test("thirty lines, as many as a chart has, look different", () => {
  const looks = pensOf(30).map(({ ink, dash }) => `${ink} ${dash}`);
  expect(new Set(looks).size).toBe(30);
});

test.each(["light", "dark"] as const)("on a %s ground each line stands out, and none looks like another", (ground) => {
  const panel = luminance(colour("--panel", ground));
  const colours = inks.map((name) => colour(name, ground));
  for (const [at, each] of colours.entries()) {
    const [dark, bright] = [luminance(each), panel].sort((a, b) => a - b) as [number, number];
    expect((bright + 0.05) / (dark + 0.05), inks[at]).toBeGreaterThan(3);
  }
  for (const [who, matrix] of Object.entries(seen)) {
    const labs = colours.map((each) =>
      lab(matrix.map((row) => row.reduce((sum, part, at) => sum + part * each[at]!, 0)) as unknown as Rgb),
    );
    for (const [at, one] of labs.entries())
      for (const [other, two] of labs.slice(0, at).entries())
        expect(
          Math.hypot(...one.map((part, axis) => part - two[axis]!)),
          `${inks[at]} and ${inks[other]}, ${who}`,
        ).toBeGreaterThan(20);
  }
});
