/** Labels that introduce an answer inside its marks, in the languages in which models answer. */

/**
 * Labels on the answer's own line. A label that ends in a space could begin a sentence; some have words after the
 * answer, which replaces "…".
 */
export const LABEL_TEXTS: readonly string[] = [
  ...["Answer: ", "answer:", "Final Answer: ", "The answer is ", "The answer is: ", "The final answer is: "],
  ...["The answer: ", "**Answer**: ", "**Answer:** ", "**The answer is:** ", "*Answer:* ", "__Answer__: ", "Answer："],
  ...["### Answer: ", "\\text{Answer: }", "\\textbf{Final answer}: ", "\\text{The answer is }", "\\text{Answer} = "],
  ...["So, the answer is ", "Therefore, the final answer is: ", "Thus the correct answer is ", "Hence, my answer: "],
  ...["answer = ", "Answer → ", "answer is: ", "The **answer** is ", "**The answer is** ", "**Final Answer** "],
  ...["✅ **Final Answer:** ", "> **Answer:** ", "• Answer: ", "Solution: ", "Result = ", "final_answer: "],
  ...["Overall, the answer is ", "In summary, the answer is ", "As a result, the answer is ", "Here is my answer: "],
  ...["The answer would be ", "The answer must be ", "The answer is therefore ", "The most likely answer is "],
  ...["The answer to your question is ", "Answer (final): ", "Ans: ", "ans = ", "output: ", "Answer ⟹ ", "Answer ➜ "],
  ...["The answer is …. I hope it is correct"],
  ...["One possible answer is: ", "A valid answer is ", "One valid solution: "],
  ...[
    "Therefore, we conclude that the answer is ",
    "Based on the analysis above, the answer is ",
    "We get the answer: ",
  ],
  ...["Putting it all together, the final answer is: ", "This means the answer is ", "The answer comes out to be "],
  ...['"answer": ', "So, after checking, the answer is **…**"],
  // Chinese.
  ...[
    "答案：",
    "答案是",
    "答案为",
    "最终答案：",
    "所以，答案是",
    "因此，正确答案是：",
    "综上所述，最终答案为 ",
    "**答案**：",
  ],
  ...["【答案】", "**最终答案：** ", "答: ", "最終答案為", "答案 = ", "本题的答案是 "],
  ...["答案如下：", "这道题的答案是", "此题答案为", "由此得出最终答案：", "最後的答案是"],
  ...["那么答案是", "由此可得，答案为", "（答案）", "结论：", "最后答案："],
  // Spanish.
  ...["Respuesta: ", "Respuesta final: ", "La respuesta es ", "La respuesta final es: ", "**Respuesta**: "],
  ...["Por lo tanto, la respuesta correcta es ", "Así que la respuesta es ", "respuesta = ", "RESPUESTA FINAL: "],
  ...["Así, la respuesta es ", "De modo que la respuesta es ", "En definitiva, la respuesta final es "],
  ...["La respuesta a la pregunta es ", "En resumen, la respuesta es ", "La respuesta sería ", "Conclusión: "],
  // Italian.
  ...["Risposta: ", "Risposta finale: ", "La risposta è ", "La risposta finale è: ", "**Risposta:** ", "RISPOSTA: "],
  ...["Quindi la risposta è ", "Pertanto, la risposta corretta è ", "Il risultato è ", "Soluzione: "],
  // French.
  ...["Réponse : ", "Réponse\u00a0: ", "Re\u0301ponse : ", "La réponse est ", "La réponse finale est : ", "RÉPONSE : "],
  ...["Donc, la réponse est ", "Par conséquent, la réponse correcte est ", "**Réponse finale :** ", "reponse : "],
  ...["C'est pourquoi la réponse est ", "En somme, la réponse est "],
  ...[
    "La réponse à la question est ",
    "La réponse est donc ",
    "La réponse est la suivante : ",
    "Finalement, la réponse est ",
  ],
  // German.
  ...["Antwort: ", "Endgültige Antwort: ", "Die Antwort ist ", "Die Antwort lautet: ", "**Antwort:** ", "Lösung: "],
  ...["Also ist die Antwort ", "Somit lautet die richtige Antwort: ", "Ergebnis = "],
  ...["Demnach ist die Antwort ", "Schließlich lautet die Antwort: ", "Die Antwort ist wie folgt: "],
  ...["Die Antwort auf die Frage ist ", "Zusammenfassend ist die Antwort ", "Die Antwort ist also ", "Endergebnis: "],
  // Russian.
  ...["Ответ: ", "Окончательный ответ: ", "**Ответ:** ", "Итак, ответ: ", "Ответ — ", "Таким образом, ответ: "],
  ...["Правильный ответ: ", "ОТВЕТ: ", "ответ = "],
  ...["Ответом является ", "Ответ будет ", "Ответ таков: ", "Отсюда ответ: "],
  ...["Финальный ответ: ", "Ответ на вопрос: ", "В итоге ответ: ", "Итого: "],
  // Japanese.
  ...["答え：", "答えは", "答えは、", "最終的な答え：", "**答え**：", "したがって、答えは ", "解答：", "回答: "],
  ...["答えは…です", "よって、答えは … です。", "最終的な答えは…となります。"],
  ...["答えは次の通りです：", "結論として、答えは…です。"],
  ...["求める答えは", "以上より、答えは…となる。", "正答は", "（答）", "結論："],
  // Korean.
  ...[
    "답: ",
    "정답: ",
    "답은 ",
    "정답은 ",
    "최종 답: ",
    "**최종 답변:** ",
    "따라서 답은 ",
    "답은 …입니다.",
    "정답은 …이다.",
    "결론: ",
    "답은 …가 됩니다.",
    "제 답은 …입니다.",
    "답은 다음과 같습니다: ",
    "결론적으로 정답은 …입니다.",
  ],
  // Portuguese.
  ...["Resposta: ", "Resposta final: ", "A resposta é ", "A resposta final é: ", "Portanto, a resposta correta é "],
  ...["**Resposta:** ", "Então, a resposta é ", "resposta = "],
  ...["Dessa forma, a resposta é ", "Sendo assim, a resposta final é "],
  ...["A resposta para a pergunta é ", "Concluindo, a resposta é ", "A resposta seria ", "Gabarito: "],
];

/** Labels on the line before the answer; they need no colon. */
export const LABEL_LINES: readonly string[] = [
  ...["Final answer:\n", "**Final Answer**:\n\n", "## **Answer:**\n", "**Final Answer**\n", "**Final Answer**\n\n"],
  ...[
    "### Answer\n",
    "Final Answer\n============\n\n",
    "Answer\n---\n",
    "## Final Answer\n\n",
    "Answer\n",
    "Final answer\r\n",
    "__Answer__\n",
    "*Answer*\n",
    "### **Answer**\n",
  ],
  ...[
    "\\textbf{Final Answer}\n",
    "**答案**\n",
    "### 最终答案\n",
    "**Respuesta final**\n",
    "### Réponse\n",
    "## Antwort\n",
  ],
  ...["**Ответ**\n", "**答え**\n\n", "### 최종 답\n", "**Resposta**\n"],
];

/** Names that an environment's answers are introduced with, by environment id. */
export const NAMED: Readonly<Record<string, readonly string[]>> = {
  "np/clique": ["clique = ", "**Clique:** ", "The largest clique is ", "Maximum clique: ", "S = "],
  "np/independent-set": ["independent set = ", "The maximum independent set is ", "Vertices: "],
  "np/coloring": ["coloring = ", "Colors: ", "**Coloring**\n"],
  "np/hamiltonian": ["cycle = ", "The longest cycle is ", "Tour: "],
  "np/tsp": ["tour = ", "The shortest tour is: ", "Route: "],
  "np/knapsack": ["items = ", "Selected items: ", "The chosen items are ", "The best choice is "],
  "np/set-cover": ["subsets = ", "The smallest cover is ", "Chosen subsets: "],
  "np/subset-sum": ["indices = ", "Selected indices: ", "The largest choice is "],
  "np/bisection": ["sides = ", "Best division: ", "The partition is "],
  "np/meetings": ["schedule = ", "The best schedule is ", "**Schedule:** "],
  countdown: [
    "Expression: ",
    "**Expression:** ",
    "expression = ",
    "The expression is ",
    "表达式：",
    "Expresión: ",
    "Выражение: ",
  ],
};

/** A label with an answer behind it, or in the place of "…". */
export function labelled(label: string, text: string): string {
  return label.includes("…") ? label.replace("…", () => text) : label + text;
}
