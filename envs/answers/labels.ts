/**
 * What introduces an answer: "Answer:", "So, the final answer is", "**Final Answer**" on a line of its own, "答案：",
 * "La respuesta es", "clique =". One table for all languages: a label that mixes them says the same.
 */

/** Before the whole. */
const LEADS = [
  ...["so", "thus", "hence", "therefore", "then", "finally", "in conclusion"],
  ...[
    "overall",
    "in summary",
    "to conclude",
    "as a result",
    "consequently",
    "accordingly",
    "and so",
    "okay, so",
    "ok, so",
  ],
  ...["entonces", "por lo tanto", "por tanto", "así que", "así pues", "luego", "en conclusión"],
  ...["por consiguiente", "en consecuencia", "finalmente", "en resumen", "finalement", "en résumé", "zusammenfassend"],
  ...["donc", "ainsi", "par conséquent", "alors", "en conclusion", "also", "somit", "daher", "folglich", "deshalb"],
  ...["portanto", "logo", "assim", "então", "por isso", "concluindo", "em resumo", "em conclusão"],
  ...["итак", "таким образом", "следовательно", "значит", "поэтому", "в итоге"],
  ...["所以", "因此", "故", "综上所述", "综上", "綜上所述", "于是", "因而", "那么", "由此可知", "由此可得"],
  ...["よって", "したがって", "従って", "ゆえに", "だから", "以上より", "つまり", "따라서", "그러므로", "그래서", "즉"],
];

/** Before the noun. None of them takes back what the noun says. */
const BEFORE = [
  ...["the", "a", "my", "our", "your", "this", "final", "correct", "right", "complete", "exact"],
  ...["best", "optimal", "largest", "smallest", "longest", "shortest", "maximum", "minimum", "max", "min"],
  ...[
    "here is",
    "here's",
    "most",
    "likely",
    "appropriate",
    "accurate",
    "suitable",
    "possible",
    "chosen",
    "selected",
    "la",
    "el",
    "mi",
    "nuestra",
    "le",
    "ma",
    "notre",
    "bonne",
  ],
  ...["die", "das", "meine", "unsere", "endgültige", "endgültiges", "richtige", "korrekte", "finale"],
  ...["o", "minha", "nossa", "мой", "наш", "окончательный", "финальный", "итоговый", "правильный", "верный"],
  ...["最终的", "最终", "最后", "最終", "正确的", "正确", "正確的", "正確", "我的", "本题的", "本题", "该题的", "该题"],
  ...["最終的な", "求める", "正しい", "最後の", "최종적인", "최종", "올바른"],
];

const NOUNS = [
  ...[
    "answer",
    "ans",
    "solution",
    "result",
    "output",
    "response",
    "conclusion",
    "respuesta",
    "solución",
    "resultado",
    "réponse",
    "résultat",
  ],
  ...[
    "antwort",
    "lösung",
    "ergebnis",
    "endergebnis",
    "endantwort",
    "итого",
    "ответ",
    "решение",
    "результат",
    "resposta",
    "solução",
    "gabarito",
    "conclusión",
    "conclusão",
  ],
  ...[
    "答案",
    "解答",
    "回答",
    "结果",
    "結果",
    "答え",
    "答",
    "正答",
    "结论",
    "結論",
    "正解",
    "解",
    "정답",
    "해답",
    "답변",
    "답안",
    "답",
    "결과",
    "결론",
  ],
];

/** Behind the noun. */
const AFTER = [
  ...["to the question", "to this question", "to your question", "to the problem", "to this problem", "\\(final\\)"],
  ...["a la pregunta", "à la question", "auf die frage", "на вопрос", "para a pergunta", "à pergunta", "da pergunta"],
  ...[
    "final",
    "correcta",
    "definitiva",
    "correcto",
    "finale",
    "correcte",
    "définitive",
    "exacte",
    "correta",
    "correto",
  ],
];

/** What says that the answer follows; "isn't" and "n'est pas" are other words. */
const VERBS = [
  ...[
    "is",
    "are",
    "equals",
    "would be",
    "should be",
    "must be",
    "will be",
    "comes to",
    "is therefore",
    "is thus",
    "is as follows",
  ],
  ...["sería", "es la siguiente", "est donc", "est la suivante", "ist also", "ist daher", "seria", "é a seguinte"],
  ...["es", "son", "est", "sont", "ist", "lautet", "sind", "lauten", "é", "são"],
  ...["это", "равен", "равна", "равно"],
];
/** The same in languages that put no space around it. */
const CLINGING_VERBS = ["就是", "应该是", "應該是", "应为", "應為", "等于", "等於", "是", "为", "為", "は", "은", "는"];
/** German has it before the noun, where another word leads: "Also ist die Antwort 12". */
const EARLY_VERBS = ["ist", "lautet", "sind", "lauten"];

/** What may end a text that a label begins: the verb, as in "答えは 12 です", and what Minerva's examples close with. */
const ENDS = [
  "になります",
  "となります",
  "となる",
  "になる",
  "でした",
  "である",
  "です",
  "だ",
  "입니다",
  "이에요",
  "예요",
  "이다",
  "가 됩니다",
  "이 됩니다",
  "I hope it is correct",
];
const END_UNITS_MAX = 24;

const SPACE = "[ \\t\\u00a0\\u202f\\u3000]";
/** Bounded, so that a label that does not end costs nothing. */
const GAP = `${SPACE}{0,4}`;
const GAPS = `${SPACE}{1,4}`;
/** Between words, also of keys: "final_answer", "finalAnswer". */
const BETWEEN = "[ \\t\\u00a0_]{0,4}";
/** What TeX writes for spaces. */
const TEX_GAP = "[ \\t\\u00a0\\\\~]{0,4}";
const SIGN = "(?:[:：]=?|=(?![=>])|＝|—|→|⇒|⟶|⟹|➜|➔|➡\\ufe0f?|=>|->)";
const LINE = `${GAP}\\r?[\\n\\r\\u0085\\u2028\\u2029]`;
/** Before a label: the sign of a heading, a quotation or an item, a pictogram. */
const HEAD = `(?:#{1,6}${GAP})?(?:[>•\\-]${GAPS})?(?:\\p{Extended_Pictographic}\\ufe0f?${GAP})?`;

/** One of several words, the longest first; with their accents composed, decomposed or, but for "é", left out. */
function anyOf(words: readonly string[]): string {
  const sorted = [...new Set(words)].sort((a, b) => b.length - a.length);
  return `(?:${sorted.map(spelled).join("|")})`;
}

function spelled(word: string): string {
  const letters = Array.from(word, (letter) => {
    const [base = "", mark = ""] = letter.normalize("NFD");
    // A bare "e" may be an option's letter.
    const optional = word.length > 1 ? "?" : "";
    return /\p{M}/u.test(mark) ? `(?:${letter}|${base}${mark}${optional})` : letter;
  });
  return letters.join("").replaceAll(" ", GAPS);
}

/** Expressions that find a label at its start, by what surrounds it. */
interface Labels {
  /** Groups: the marks of bold or italics that open it, and those that close it, in either of two places. */
  readonly plain: RegExp;
  readonly latex: RegExp;
  /** The key of an object of one answer, with its brace. */
  readonly key: RegExp;
}

function labelsWith(names: readonly string[]): Labels {
  const lead = `(?:${anyOf(LEADS)}${GAP}[,，、]?${GAP})?`;
  const word = anyOf([...NOUNS, ...names]);
  // The word alone may be bold: "The **answer** is 12".
  const noun = `(?:${anyOf(BEFORE)}${BETWEEN}){0,4}(?:${word}|\\*\\*${word}\\*\\*)(?:${BETWEEN}${anyOf(AFTER)})?`;
  const phrase = lead + noun;
  const verb = `(?:${GAPS}${anyOf(VERBS)}(?![\\p{L}\\p{M}'’])|${GAP}${anyOf(CLINGING_VERBS)}[,，、]?)`;
  const says = `(?:${verb}?${GAP}${SIGN}|${verb}|${LINE})`;
  const tails = [
    `${GAP}(\\1)${says}`,
    // "**Final answer** 12"
    `${GAP}(\\1)(?<=[*_])${GAPS}`,
    `${verb}(\\1)(?<=[*_])(?:${GAP}${SIGN}|${LINE})?`,
    says,
  ];
  const early = `${lead}${anyOf(EARLY_VERBS)}${GAPS}${noun}(?:${GAP}${SIGN}|${GAPS})`;
  const plain = `${HEAD}(\\*{1,3}|_{1,2}|)(?:${phrase}(?:${tails.join("|")})|${early})|[【（]${GAP}${phrase}${GAP}[】）]${GAP}${SIGN}?`;
  const within = `(?:${verb}?${TEX_GAP}${SIGN}|${verb})${TEX_GAP}\\}`;
  const latex = `\\\\(?:text|textbf|textrm|mathrm|mathbf)${GAP}\\{${GAP}${phrase}(?:${within}|${GAP}\\}${says})`;
  const key = `\\{\\s{0,64}(["'“]?)${noun}["'”]?\\s{0,8}[:：]`;
  return { plain: new RegExp(plain, "iyu"), latex: new RegExp(latex, "iyu"), key: new RegExp(key, "iyu") };
}

/** Words that an environment has for its answers, such as "clique". */
export type AnswerNames = readonly string[];

const NO_NAMES: AnswerNames = Object.freeze([]);
const known = new WeakMap<AnswerNames, Labels>();

function labelsFor(names: AnswerNames): Labels {
  const labels = known.get(names) ?? labelsWith(names);
  known.set(names, labels);
  return labels;
}

/** A label, found at its start. */
export interface Label {
  /** Past it. */
  readonly past: number;
  /** The marks of bold or italics that open it, and those of them that are closed. */
  readonly opened: string;
  readonly closed: string;
}

const BACKSLASH = 92;

/** The label that starts at an offset and ends before another; undefined: none does. */
export function labelAt(text: string, start: number, end: number, names = NO_NAMES): Label | undefined {
  if (!mayStartLabel(text.charCodeAt(start))) return undefined;
  const { plain, latex } = labelsFor(names);
  const label = text.charCodeAt(start) === BACKSLASH ? latex : plain;
  label.lastIndex = start;
  const found = label.exec(text);
  if (found === null || label.lastIndex > end) return undefined;
  const [, opened = "", one, other, another] = found;
  return { past: label.lastIndex, opened, closed: one ?? other ?? another ?? "" };
}

/** Most answers start with a digit, a bracket or a formula's dollar. */
function mayStartLabel(unit: number): boolean {
  return unit > 0x7f || (unit >= 65 && unit <= 122) || unit === 35 || unit === 42 || unit === 45 || unit === 62;
}

/** Past the brace and key of an object that holds one answer, such as {"answer": 12}; undefined: it is none. */
export function keyAt(text: string, start: number, end: number, names = NO_NAMES): number | undefined {
  const { key } = labelsFor(names);
  key.lastIndex = start;
  return key.test(text) && key.lastIndex < end ? key.lastIndex : undefined;
}

const END = new RegExp(`${anyOf(ENDS)}$`, "iu");

/** How many units of the words before an end close the sentence that a label began. */
export function closingWords(text: string, start: number, end: number): number {
  return END.exec(text.slice(Math.max(start, end - END_UNITS_MAX), end))?.[0].length ?? 0;
}
