/** How shapes look, by class: on light and dark ground, told apart by people who are colour-blind. */

/** How many fills tell groups apart; groups beyond that repeat them, with another outline, and bear their number. */
export const FILLS = 7;

/** The fill of a group by its number, from 0. Letters on it are dark or light, whichever can be read: see onFill. */
export function fillClass(group: number): string {
  return `gd-f${group % FILLS}${group >= FILLS ? " gd-again" : ""}`;
}

/** The class of a label on such a fill. */
export function onFill(group: number): string {
  return group % FILLS === 0 ? "gd-on-dark" : "gd-on-light";
}

/**
 * Fills: the set of Okabe and Ito ("Color universal design", 2008) without vermilion and black. Red is kept for what is
 * wrong, which is always dashed, hatched or ringed too, so that no one needs to see the red.
 */
const FILL_COLOURS = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#f0e442", "#9aa3ad"];

interface Theme {
  readonly paper: string;
  readonly ink: string;
  readonly soft: string;
  readonly faint: string;
  readonly band: string;
  readonly wrong: string;
  readonly good: string;
  readonly pick: string;
  readonly cut: string;
}

const LIGHT: Theme = {
  ...{ paper: "#ffffff", ink: "#1b1f24", soft: "#5c6570", faint: "#d3d8de", band: "#eef1f4" },
  ...{ wrong: "#c81e1e", good: "#00744f", pick: "#0072b2", cut: "#b87700" },
};
const DARK: Theme = {
  ...{ paper: "#15181d", ink: "#e8eaed", soft: "#a3abb6", faint: "#39414b", band: "#22272e" },
  ...{ wrong: "#ff6b6b", good: "#35c796", pick: "#4da8e0", cut: "#e8a317" },
};

/** Colours without custom properties, which some renderers of SVG do not know. */
function themed({ paper, ink, soft, faint, band, wrong, good, pick, cut }: Theme): string {
  return [
    `.gd-paper{fill:${paper}}`,
    `.gd-title,.gd-text,.gd-label,.gd-end,.gd-mid{fill:${ink}}`,
    `.gd-soft{fill:${soft}}`,
    `.gd-good{fill:${good}}`,
    `.gd-bad{fill:${wrong}}`,
    `.gd-plain{fill:${paper};stroke:${soft}}`,
    `.gd text.gd-halo{stroke:${paper}}`,
    `.gd-band{fill:${band}}`,
    `.gd-cell{fill:${faint}}`,
    `.gd-edge,.gd-grid{stroke:${faint}}`,
    `.gd-axis{stroke:${soft}}`,
    `.gd-link{stroke:${soft}}`,
    `.gd-chosen{stroke:${pick}}`,
    `.gd-cut,.gd-other{stroke:${cut}}`,
    `.gd-best{stroke:${soft}}`,
    `.gd-hint{stroke:${good}}`,
    `.gd-limit{stroke:${ink}}`,
    `.gd-wrong,.gd-missing,.gd-ring,.gd-hatch{stroke:${wrong}}`,
    `.gd-again{stroke:${ink}}`,
  ].join("");
}

const FORMS = [
  ".gd text{font-family:ui-sans-serif,system-ui,'DejaVu Sans',sans-serif;font-size:12px}",
  ".gd text.gd-title{font-size:15px;font-weight:600}",
  ".gd text.gd-label,.gd text.gd-mid,.gd text.gd-on-dark,.gd text.gd-on-light{text-anchor:middle}",
  ".gd text.gd-label,.gd text.gd-on-dark,.gd text.gd-on-light{font-size:10px}",
  ".gd text.gd-end{text-anchor:end}",
  ".gd text.gd-tiny{font-size:7px}",
  ".gd text.gd-halo{stroke-width:3px;paint-order:stroke;font-weight:600}",
  ".gd-on-dark{fill:#ffffff}.gd-on-light{fill:#101418}",
  ".gd-edge,.gd-grid,.gd-axis,.gd-link,.gd-chosen,.gd-cut,.gd-other,.gd-best,.gd-hint,.gd-limit,.gd-wrong,.gd-missing,.gd-ring,.gd-hatch{fill:none}",
  ".gd-edge{stroke-width:1}.gd-link{stroke-width:1.2}.gd-chosen,.gd-other{stroke-width:2.5}.gd-limit{stroke-width:2}",
  ".gd-best{stroke-width:1.8;stroke-dasharray:2 3}.gd-hint{stroke-width:1.8;stroke-dasharray:1 3;stroke-linecap:round}",
  ".gd-wrong{stroke-width:3}.gd-missing{stroke-width:2.5;stroke-dasharray:6 4}.gd-ring{stroke-width:2.5}",
  ".gd-hatch{stroke-width:1.5}.gd-again{stroke-width:1.5}",
  ...FILL_COLOURS.map((colour, i) => `.gd-f${i}{fill:${colour}}`),
];

/** The style sheet of every picture. Its classes begin with gd-, so that it disturbs no page that holds a picture. */
export const STYLE_SHEET = `${FORMS.join("")}${themed(LIGHT)}@media (prefers-color-scheme:dark){${themed(DARK)}}`;
