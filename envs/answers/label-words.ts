/** The words of labels, in nine languages: labels.ts says how they stand together. */

/** Before the whole. */
export const LEADS = [
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
export const BEFORE = [
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

export const NOUNS = [
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
export const AFTER = [
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
export const VERBS = [
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
export const CLINGING_VERBS = [
  "就是",
  "应该是",
  "應該是",
  "应为",
  "應為",
  "等于",
  "等於",
  "是",
  "为",
  "為",
  "は",
  "은",
  "는",
];
/** German has it before the noun, where another word leads: "Also ist die Antwort 12". */
export const EARLY_VERBS = ["ist", "lautet", "sind", "lauten"];

/** What may end a text that a label begins: the verb, as in "答えは 12 です", and what Minerva's examples close with. */
export const ENDS = [
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
