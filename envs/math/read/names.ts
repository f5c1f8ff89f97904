/** Names in answers and their meanings: LaTeX commands, Unicode signs and plain words. */
import { splitWords } from "../../lib/words.ts";

/**
 * Inverts a table: takes the spellings of each meaning, separated by spaces, and returns the meaning of each spelling.
 */
function bySpelling(spellings: Readonly<Record<string, string>>): ReadonlyMap<string, string> {
  const pairs = Object.entries(spellings).map(([meant, all]) => all.split(" ").map((each) => [each, meant] as const));
  return new Map(pairs.flat());
}

export function wordSet(words: string): ReadonlySet<string> {
  return new Set(splitWords(words));
}

/** The canonical name of a function by each of its spellings. */
export const FUNCTIONS = new Map([
  ..."sin cos tan cot sec csc sinh cosh tanh arcsin arccos arctan arccot ln log exp gcd lcm max min abs floor ceil sqrt cbrt sgn det cis round binom"
    .split(" ")
    .map((name) => [name, name] as const),
  ...bySpelling({
    arcsin: "asin",
    arccos: "acos",
    arctan: "atan arctg",
    arsinh: "arcsinh arsinh asinh",
    arcosh: "arccosh arcosh acosh",
    artanh: "arctanh artanh atanh",
    tan: "tg",
    cot: "ctg",
    csc: "cosec",
    log10: "lg",
    sgn: "sign",
    ceil: "ceiling",
    gcd: "hcf",
  }),
]);

/** Names that may stand inside a run of letters, as in "xsinx". */
export const INFIXES = "arcsin arccos arctan sqrt sin cos tan cot log ln exp pi".split(" ");

/** Symbol that each spelling stands for, e.g. α for "alpha". */
export const SYMBOLS = bySpelling({
  ...letters(
    "alpha beta gamma delta zeta eta kappa lambda mu nu xi pi sigma tau upsilon chi psi omega",
    "αβγδζηκλμνξπστυχψω",
  ),
  ...letters("Gamma Delta Theta Lambda Pi Sigma Phi Psi Omega", "ΓΔΘΛΠΣΦΨΩ"),
  ...letters("ell angle triangle hbar imath partial nabla complement", "l∠△ħi∂∇∁"),
  ε: "epsilon varepsilon",
  θ: "theta vartheta",
  ρ: "rho varrho",
  φ: "phi varphi",
  "∞": "infty infinity inf",
  "∅": "emptyset varnothing",
});

/** Returns a table that maps each sign to its name, from two lists of equal length. */
function letters(names: string, signs: string): Readonly<Record<string, string>> {
  const all = names.split(" ");
  return Object.fromEntries([...signs].map((sign, i) => [sign, all[i] ?? ""]));
}

/** Number sets by their letter in \mathbb. */
export const NUMBER_SETS: Readonly<Record<string, string>> = { R: "ℝ", Z: "ℤ", N: "ℕ", Q: "ℚ", C: "ℂ" };

/** Returns whether a name is always a constant and never a variable. */
export function isConstant(name: string): boolean {
  return ["π", "e", "i", "∞", "∅", "…"].includes(name) || isNumberSet(name);
}

/** Returns whether a name is a number set, such as ℝ or ℝ^+. */
export function isNumberSet(name: string): boolean {
  return /^[ℝℤℕℚℂ]/u.test(name);
}

/** Returns whether a name is a differential operator or Δ, which applies to what follows: d/dx, ∂/∂x, Δ, ∇ or ∇·. */
export function isOperator(name: string): boolean {
  return /^[d∂]\/|^[∂Δ∇]/u.test(name);
}

/** Operators by each of their spellings: LaTeX commands without the backslash. */
export const OPERATORS = bySpelling({
  "*": "cdot times ast bullet",
  "/": "div",
  "±": "pm",
  "∓": "mp",
  "<": "lt",
  ">": "gt",
  "≤": "le leq leqslant leqq",
  "≥": "ge geq geqslant geqq",
  "≈": "approx simeq sim cong thickapprox doteq",
  "≠": "ne neq",
  "≡": "equiv",
  "∝": "propto",
  "∈": "in",
  "∪": "cup bigcup",
  "∩": "cap",
  "∖": "setminus backslash",
  "∫": "int",
  "∘": "circ",
  "→": "to Rightarrow implies rightarrow iff Leftrightarrow",
  "…": "dots ldots cdots dotsc dotsb",
  "|": "vert lvert rvert",
  "\\{": "lbrace",
  "\\}": "rbrace",
  "[": "lbrack",
  "]": "rbrack",
  "(": "lparen",
  ")": "rparen",
  "⟨": "langle",
  "⟩": "rangle",
  "⌊": "lfloor",
  "⌋": "rfloor",
  "⌈": "lceil",
  "⌉": "rceil",
  ":": "colon",
  "'": "prime",
  "°": "degree",
  "€": "euro",
  "£": "pounds",
  "¥": "yen",
  and: "land wedge",
  or: "lor vee",
  mid: "mid",
  mod: "bmod mod",
  pmod: "pmod",
  over: "over",
  choose: "choose",
});

/** The plain operator that each Unicode character stands for. */
export const CHARACTERS = bySpelling({
  "-": "− – — ‐ ‑ ⁻",
  "*": "× ⋅ · ∗ ∙ •",
  "/": "÷ ∕ ⁄",
  "≤": "≦ ⩽",
  "≥": "≧ ⩾",
  "≈": "≃ ≅ ∼",
  "|": "∣ ｜",
  ",": "、",
  ";": "；",
  ":": "： ∶",
  "'": "′ ’ ʹ",
  '"': "″ ”",
  "°": "º ˚",
  "⟨": "⟨ 〈",
  "⟩": "〉",
  ".": "。",
  "¥": "￥",
  "→": "→ ⇒",
  "∫": "∫",
  "∈": "∈",
  "∖": "\\",
  and: "∧",
  or: "∨",
});

/** Letters that count as units after a number, unless something shows that they are variables. */
export const UNIT_LETTERS = "msghLNJWVAK";

export const SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁽⁾ⁿⁱˣ";
export const SUPERSCRIPTS_PLAIN = "0123456789+-()nix";
export const SUBSCRIPTS = "₀₁₂₃₄₅₆₇₈₉₊₋ₙₐₓᵢ";
export const SUBSCRIPTS_PLAIN = "0123456789+-naxi";

/** Fractions that are one character, such as ½, as numerator and denominator. */
export const VULGAR: Readonly<Record<string, readonly [number, number]>> = Object.fromEntries(
  [..."½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅐⅛⅜⅝⅞⅑⅒"].map((sign) => {
    const [num, den] = sign.normalize("NFKC").split("⁄");
    return [sign, [Number(num), Number(den)]];
  }),
);

// Lists of LaTeX commands: those that only change the look, and those that mark an argument, e.g. as plain words.

/** Commands without an argument that only change the look. They are skipped. */
export const SKIPPED = wordSet(`
  displaystyle textstyle scriptstyle limits nolimits quad qquad left right middle big Big bigg Bigg bigl bigr Bigl
  Bigr biggl biggr Biggl Biggr bigm rm bf it sf tt mathstrut strut hfill noindent nonumber thinspace enspace mathop
  mathrel mathbin mathopen mathclose large therefore because Large small normalsize null
`);

/** Commands that are skipped together with their argument. */
export const SKIPPED_WITH_ARGUMENT = wordSet("hspace vspace phantom hphantom vphantom color textcolor tag label");

/** Commands whose argument is plain words. */
export const TEXTS = wordSet("text textbf textit textrm texttt textsf mbox textnormal hbox emph textup textsc");

/** Commands that set their argument in upright letters. */
export const UPRIGHTS = wordSet("mathrm operatorname mathit mathsf mathtt operatorname* mathnormal rm");

/** Decorations that only change how a formula looks. */
export const PLAIN_LOOKS = wordSet("underline mathbf boldsymbol bm");

/** Commands that turn their argument into a name, e.g. of a vector or a line segment. */
export const DECORATIONS: ReadonlySet<string> = new Set([
  ...PLAIN_LOOKS,
  ...wordSet("vec overrightarrow hat widehat tilde widetilde bar overline overleftrightarrow dot ddot"),
  ...wordSet("wideparen overparen overarc"),
]);

/** LaTeX environments that only align equations. */
export const EQUATIONS = wordSet(
  "aligned align align* gathered gather gather* split equation equation* displaymath math",
);
