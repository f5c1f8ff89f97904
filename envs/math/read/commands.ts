/** LaTeX commands that say how something looks, or what its argument is. */

/** Commands that say how something looks, and take no argument. */
export const SKIPPED: ReadonlySet<string> = new Set([
  ...["displaystyle", "textstyle", "scriptstyle", "limits", "nolimits", "quad", "qquad", "left", "right", "middle"],
  ...["big", "Big", "bigg", "Bigg", "bigl", "bigr", "Bigl", "Bigr", "biggl", "biggr", "Biggl", "Biggr", "bigm"],
  ...["rm", "bf", "it", "sf", "tt", "mathstrut", "strut", "hfill", "noindent", "nonumber", "thinspace", "enspace"],
  ...["mathop", "mathrel", "mathbin", "mathopen", "mathclose", "large", "Large", "small", "normalsize", "null"],
]);

/** Commands whose argument says how something looks. */
export const SKIPPED_WITH_ARGUMENT: ReadonlySet<string> = new Set([
  "hspace",
  "vspace",
  "phantom",
  "hphantom",
  "vphantom",
  "color",
  "textcolor",
  "tag",
  "label",
]);

/** Commands whose argument is words. */
export const TEXTS: ReadonlySet<string> = new Set([
  "text",
  "textbf",
  "textit",
  "textrm",
  "texttt",
  "textsf",
  "mbox",
  "textnormal",
  "hbox",
  "emph",
  "textup",
  "textsc",
]);

/** Commands whose argument is letters that count as they stand. */
export const UPRIGHTS: ReadonlySet<string> = new Set([
  "mathrm",
  "operatorname",
  "mathit",
  "mathsf",
  "mathtt",
  "operatorname*",
  "mathnormal",
  "rm",
]);

/** Those of them that only say how a formula looks. */
export const PLAIN_LOOKS: ReadonlySet<string> = new Set(["underline", "mathbf", "boldsymbol", "bm"]);

/** Commands that make a name of their argument, e.g. of a vector or a line segment. */
export const DECORATIONS: ReadonlySet<string> = new Set([
  ...[
    "vec",
    "overrightarrow",
    "hat",
    "widehat",
    "tilde",
    "widetilde",
    "bar",
    "overline",
    "underline",
    "mathbf",
    "boldsymbol",
    "bm",
    "overleftrightarrow",
    "dot",
    "ddot",
    "wideparen",
    "overparen",
    "overarc",
  ],
]);

/** Environments that only say how equations stand below each other. */
export const EQUATIONS: ReadonlySet<string> = new Set(
  "aligned align align* gathered gather gather* split equation equation* displaymath math".split(" "),
);
