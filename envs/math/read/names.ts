/** The names that answers are written with: LaTeX's commands, Unicode's signs and plain words, and what each stands for. */

/** Functions by each of their names. */
export const FUNCTIONS: ReadonlyMap<string, string> = new Map([
  ...["sin", "cos", "tan", "cot", "sec", "csc", "sinh", "cosh", "tanh", "arcsin", "arccos", "arctan", "arccot"].map(
    (name) => [name, name] as const,
  ),
  ...["ln", "log", "exp", "gcd", "lcm", "max", "min", "abs", "floor", "ceil", "sqrt", "cbrt", "sgn", "det", "cis"].map(
    (name) => [name, name] as const,
  ),
  ...([
    ["asin", "arcsin"],
    ["acos", "arccos"],
    ["atan", "arctan"],
    ...(["sinh", "cosh", "tanh"] as const).flatMap((name) =>
      (["arc", "ar", "a"] as const).map((before) => [`${before}${name}`, `ar${name}`] as const),
    ),
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
    ["ell", "l"],
    ["angle", "∠"],
    ["triangle", "△"],
    ["hbar", "ħ"],
    ["imath", "i"],
    ["partial", "∂"],
    ["nabla", "∇"],
    ["complement", "∁"],
  ] as const),
]);

/** Sets of numbers by their letter in \mathbb. */
export const NUMBER_SETS: Readonly<Record<string, string>> = { R: "ℝ", Z: "ℤ", N: "ℕ", Q: "ℚ", C: "ℂ" };

/** What a letter stands for everywhere, and is no variable. */
export function isConstant(name: string): boolean {
  return ["π", "e", "i", "∞", "∅", "…"].includes(name) || isNumberSet(name);
}

/** ℝ, and ℝ^+ too, as it is read. */
export function isNumberSet(name: string): boolean {
  return /^[ℝℤℕℚℂ]/u.test(name);
}

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
    ["mod", "mod"],
    ["int", "∫"],
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
    ["yen", "¥"],
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
  "∫": "∫",
  "″": '"',
  "”": '"',
  "。": ".",
  "〈": "⟨",
  "〉": "⟩",
  "∧": "and",
  "∨": "or",
  "￥": "¥",
  "→": "→",
  "⇒": "→",
  "∈": "∈",
  "\\": "∖",
};

/** What is a unit behind a number where nothing speaks for a variable. */
export const UNIT_LETTERS = "msghLNJWVAK";

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
