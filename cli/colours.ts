/**
 * Colours of chart series for light and dark backgrounds: a hue for each family (e.g. the arms of one environment), and
 * a lightness for each series within the family.
 */
import * as Plot from "@observablehq/plot";

export interface Colour {
  readonly light: string;
  readonly dark: string;
}

/**
 * Hues that readers can tell apart. If there are more families of series, their hues are spread evenly over the colour
 * wheel.
 */
const HUES = [
  ...["#0b5f6b", "#d9983a", "#6a5acd", "#b5473c", "#5b8c3a"],
  ...["#c05c9a", "#7a7d83", "#3a6fb0", "#8c5a2b", "#3aa6a0"],
] as const;

/**
 * Ranges of lightness for the chart series of a family, on light and on dark backgrounds. The value `alone` is for a
 * family of one series. White is 0, the family's hue 0.5, and black 1.
 */
const ON_LIGHT = { from: 0.28, alone: 0.5, to: 0.74 } as const;
const ON_DARK = { from: 0.14, alone: 0.36, to: 0.56 } as const;

function huesOf(count: number): readonly string[] {
  if (count <= HUES.length) return HUES;
  const wheel = Plot.scale({ color: { type: "cyclical", scheme: "sinebow", domain: [0, 1] } });
  return Array.from({ length: count }, (_, i) => wheel.apply(i / count) as string);
}

/** Returns the colour of each series. `families` names the family of each series. */
export function coloursOf(families: readonly string[]): readonly Colour[] {
  const names = [...new Set(families)];
  const hues = huesOf(names.length);
  const shades = names.map((_, i) =>
    Plot.scale({
      color: { type: "linear", domain: [0, 0.5, 1], range: ["#fff", hues[i] ?? "#000", "#000"], interpolate: "lab" },
    }),
  );
  const sizes = names.map((name) => families.filter((family) => family === name).length);
  const seen = names.map(() => 0);
  return families.map((family) => {
    const at = names.indexOf(family);
    const place = seen[at]!++;
    const shade = ({ from, alone, to }: typeof ON_LIGHT | typeof ON_DARK): string => {
      const size = sizes[at] ?? 1;
      return shades[at]?.apply(size === 1 ? alone : from + ((to - from) * place) / (size - 1)) as string;
    };
    return { light: shade(ON_LIGHT), dark: shade(ON_DARK) };
  });
}

/** Background and text colour of a stand-alone picture. */
export const GROUND: Colour = { light: "#fbfbfa", dark: "#15171a" };
export const INK: Colour = { light: "#1c1d1f", dark: "#e8e9eb" };

/**
 * Returns a style that replaces the light colours of an SVG by dark ones for readers with a dark background. Programs
 * that do not know the media query show the light colours.
 */
export function darkStyle(colours: readonly Colour[]): string {
  const rules = [...new Map(colours.map(({ light, dark }) => [light, dark]))].flatMap(([light, dark]) => [
    `[fill="${light}"]{fill:${dark}}`,
    `[stroke="${light}"]{stroke:${dark}}`,
  ]);
  const root = `:root{color:${INK.dark}}`;
  return `<style>@media (prefers-color-scheme: dark){${root}${rules.join("")}}</style>`;
}
