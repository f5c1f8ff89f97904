/** Colours of series, for light and for dark grounds: hue by family, lightness by place within it. */
import * as Plot from "@observablehq/plot";

export interface Colour {
  readonly light: string;
  readonly dark: string;
}

/** As many families as are told apart by hues that were chosen for it; of more each has a place on the wheel. */
const HUES = [
  ...["#0b5f6b", "#d9983a", "#6a5acd", "#b5473c", "#5b8c3a"],
  ...["#c05c9a", "#7a7d83", "#3a6fb0", "#8c5a2b", "#3aa6a0"],
] as const;

/** From white by way of the family's colour to black, and the parts of it that show on each ground. */
const ON_LIGHT = { from: 0.28, alone: 0.5, to: 0.74 } as const;
const ON_DARK = { from: 0.14, alone: 0.36, to: 0.56 } as const;

function huesOf(count: number): readonly string[] {
  if (count <= HUES.length) return HUES;
  const wheel = Plot.scale({ color: { type: "cyclical", scheme: "sinebow", domain: [0, 1] } });
  return Array.from({ length: count }, (_, i) => wheel.apply(i / count) as string);
}

/** The colour of each series by the family it is of, in the families' order of appearance. */
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

/** Ground and ink of a picture that stands for itself. */
export const GROUND: Colour = { light: "#fbfbfa", dark: "#15171a" };
export const INK: Colour = { light: "#1c1d1f", dark: "#e8e9eb" };

/**
 * A style by which a picture in light colours is one in dark colours where its reader has a dark ground. Programs that
 * show pictures and know no such thing show the light one.
 */
export function darkStyle(colours: readonly Colour[]): string {
  const rules = [...new Map(colours.map(({ light, dark }) => [light, dark]))].flatMap(([light, dark]) => [
    `[fill="${light}"]{fill:${dark}}`,
    `[stroke="${light}"]{stroke:${dark}}`,
  ]);
  const root = `:root{color:${INK.dark}}`;
  return `<style>@media (prefers-color-scheme: dark){${root}${rules.join("")}}</style>`;
}
