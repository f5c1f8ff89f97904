/** The names that answers are written with: LaTeX's commands, Unicode's signs and plain words, and what each stands for. */

/** Functions by each of their names. */
export const FUNCTIONS: ReadonlyMap<string, string> = new Map([
  ...["sin", "cos", "tan", "cot", "sec", "csc", "sinh", "cosh", "tanh", "arcsin", "arccos", "arctan", "arccot"].map(
    (name) => [name, name] as const,
  ),
  ...["ln", "log", "exp", "gcd", "lcm", "max", "min", "abs", "floor", "ceil", "sqrt", "cbrt", "sgn", "det"].map(
    (name) => [name, name] as const,
  ),
  ...([
    ["asin", "arcsin"],
    ["acos", "arccos"],
    ["atan", "arctan"],
    ["arctg", "arctan"],
    ["tg", "tan"],
    ["ctg", "cot"],
    ["cosec", "csc"],
    ["lg", "log10"],
    ["round", "round"],
    ["sign", "sgn"],
    ["binom", "binom"],
    ["ceiling", "ceil"],
    ["hcf", "gcd"],
  ] as const),
]);

/** Functions that may stand within a run of letters, as in "xsinx". */
export const INFIXES: readonly string[] = [
  "arcsin",
  "arccos",
  "arctan",
  "sqrt",
  "sin",
  "cos",
  "tan",
  "cot",
  "log",
  "ln",
  "exp",
  "pi",
];

/** Signs that stand for a symbol of their own. */
export const SYMBOLS: ReadonlyMap<string, string> = new Map([
  ...([
    ["alpha", "α"],
    ["beta", "β"],
    ["gamma", "γ"],
    ["delta", "δ"],
    ["epsilon", "ε"],
    ["varepsilon", "ε"],
    ["zeta", "ζ"],
    ["eta", "η"],
    ["theta", "θ"],
    ["vartheta", "θ"],
    ["kappa", "κ"],
    ["lambda", "λ"],
    ["mu", "μ"],
    ["nu", "ν"],
    ["xi", "ξ"],
    ["pi", "π"],
    ["rho", "ρ"],
    ["varrho", "ρ"],
    ["sigma", "σ"],
    ["tau", "τ"],
    ["upsilon", "υ"],
    ["phi", "φ"],
    ["varphi", "φ"],
    ["chi", "χ"],
    ["psi", "ψ"],
    ["omega", "ω"],
    ["Gamma", "Γ"],
    ["Delta", "Δ"],
    ["Theta", "Θ"],
    ["Lambda", "Λ"],
    ["Pi", "Π"],
    ["Sigma", "Σ"],
    ["Phi", "Φ"],
    ["Psi", "Ψ"],
    ["Omega", "Ω"],
    ["infty", "∞"],
    ["infinity", "∞"],
    ["inf", "∞"],
    ["emptyset", "∅"],
    ["varnothing", "∅"],
    ["ell", "ℓ"],
    ["angle", "∠"],
    ["triangle", "△"],
    ["hbar", "ħ"],
    ["imath", "i"],
    ["partial", "∂"],
    ["nabla", "∇"],
  ] as const),
]);

/** Sets of numbers by their letter in \mathbb. */
export const NUMBER_SETS: Readonly<Record<string, string>> = { R: "ℝ", Z: "ℤ", N: "ℕ", Q: "ℚ", C: "ℂ" };

/** Operators by each of their spellings; commands without the backslash. */
export const OPERATORS: ReadonlyMap<string, string> = new Map([
  ...(["cdot", "times", "ast", "bullet"] as const).map((name) => [name, "*"] as const),
  ...(["le", "leq", "leqslant", "leqq"] as const).map((name) => [name, "≤"] as const),
  ...(["ge", "geq", "geqslant", "geqq"] as const).map((name) => [name, "≥"] as const),
  ...(["approx", "simeq", "sim", "cong", "thickapprox", "doteq"] as const).map((name) => [name, "≈"] as const),
  ...(["mid", "vert", "lvert", "rvert"] as const).map((name) => [name, name === "mid" ? "mid" : "|"] as const),
  ...(["land", "wedge"] as const).map((name) => [name, "and"] as const),
  ...(["lor", "vee"] as const).map((name) => [name, "or"] as const),
  ...(["dots", "ldots", "cdots", "dotsc", "dotsb"] as const).map((name) => [name, "…"] as const),
  ...([
    ["div", "/"],
    ["pm", "±"],
    ["mp", "∓"],
    ["lt", "<"],
    ["gt", ">"],
    ["ne", "≠"],
    ["neq", "≠"],
    ["equiv", "≡"],
    ["in", "∈"],
    ["cup", "∪"],
    ["cap", "∩"],
    ["setminus", "∖"],
    ["backslash", "∖"],
    ["lbrace", "\\{"],
    ["rbrace", "\\}"],
    ["lbrack", "["],
    ["rbrack", "]"],
    ["lparen", "("],
    ["rparen", ")"],
    ["langle", "⟨"],
    ["rangle", "⟩"],
    ["lfloor", "⌊"],
    ["rfloor", "⌋"],
    ["lceil", "⌈"],
    ["rceil", "⌉"],
    ["colon", ":"],
    ["prime", "'"],
    ["degree", "°"],
    ["circ", "∘"],
    ["bigcup", "∪"],
    ["propto", "∝"],
    ["bmod", "mod"],
    ["pmod", "pmod"],
    ["to", "→"],
    ["Rightarrow", "→"],
    ["implies", "→"],
    ["rightarrow", "→"],
    ["iff", "→"],
    ["Leftrightarrow", "→"],
    ["over", "over"],
    ["choose", "choose"],
    ["euro", "€"],
    ["pounds", "£"],
  ] as const),
]);

/** One character for another, where that is all the difference. */
export const CHARACTERS: Readonly<Record<string, string>> = {
  "−": "-",
  "–": "-",
  "—": "-",
  "‐": "-",
  "‑": "-",
  "⁻": "-",
  "×": "*",
  "⋅": "*",
  "·": "*",
  "∗": "*",
  "∙": "*",
  "•": "*",
  "÷": "/",
  "∕": "/",
  "⁄": "/",
  "≦": "≤",
  "⩽": "≤",
  "≧": "≥",
  "⩾": "≥",
  "≃": "≈",
  "≅": "≈",
  "∼": "≈",
  "∣": "|",
  "｜": "|",
  "、": ",",
  "；": ";",
  "：": ":",
  "∶": ":",
  "′": "'",
  "’": "'",
  ʹ: "'",
  º: "°",
  "˚": "°",
  "⟨": "⟨",
  "〈": "⟨",
  "〉": "⟩",
  "∧": "and",
  "∨": "or",
  "→": "→",
  "⇒": "→",
  "∈": "∈",
  "\\": "∖",
};

export const SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁽⁾ⁿⁱˣ";
export const SUPERSCRIPTS_PLAIN = "0123456789+-()nix";
export const SUBSCRIPTS = "₀₁₂₃₄₅₆₇₈₉₊₋ₙₐₓᵢ";
export const SUBSCRIPTS_PLAIN = "0123456789+-naxi";

/** Fractions that have a sign of their own. */
export const VULGAR: Readonly<Record<string, readonly [number, number]>> = {
  "½": [1, 2],
  "⅓": [1, 3],
  "⅔": [2, 3],
  "¼": [1, 4],
  "¾": [3, 4],
  "⅕": [1, 5],
  "⅖": [2, 5],
  "⅗": [3, 5],
  "⅘": [4, 5],
  "⅙": [1, 6],
  "⅚": [5, 6],
  "⅐": [1, 7],
  "⅛": [1, 8],
  "⅜": [3, 8],
  "⅝": [5, 8],
  "⅞": [7, 8],
  "⅑": [1, 9],
  "⅒": [1, 10],
};

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
  "tag",
  "label",
  "kern",
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
    "overset",
    "wideparen",
    "overparen",
    "overarc",
  ],
]);

/** Words of two and three letters that are no product of variables. */
export const SHORT_WORDS: ReadonlySet<string> = new Set([
  ..."and or no yes not the is are for all any but if of to as at by we so it on one two six ten has was may can odd".split(
    " ",
  ),
  ..."cm mm km kg mg ft in hr min sec mph kph lb lbs oz ml mL deg rad day days year pm am PM AM Hz dm inch".split(" "),
  ..."her his she he him who man men boy pen cat dog red son mon tue wed thu fri sat sun jan feb mar apr jun jul aug sep oct nov dec dne DNE".split(
    " ",
  ),
]);
