/** Words of answer labels, such as "The final answer is", in ten languages. `labels.ts` has the grammar. */
import { splitEntries } from "../lib/words.ts";

/**
 * Words that may introduce a label, e.g. "Therefore, ". A label may have two of them: "Therefore, we conclude that".
 */
export const LEADS = splitEntries(`
  ultimately | in short | in the end | to summarize | in sum | all in all | in total | well | now | ok | okay
  we conclude that | we can conclude that | we find that | we see that | we know that | it follows that
  this means that | this means | which means | this gives us | this gives | we get | we have | we obtain | we find
  based on this | based on the above | based on the analysis above | based on the above analysis | from this
  based on these calculations | based on my calculations | putting it all together | putting everything together
  putting this together | after checking | after simplification | from the above | given this | given the above
  así | por ende | de modo que | de este modo | de esta manera | en definitiva | pues | concluimos que
  podemos concluir que | esto significa que | obtenemos | por último | en fin | de esta forma
  c'est pourquoi | en somme | pour conclure | en définitive | enfin | au final | de ce fait | nous obtenons
  on obtient | on conclut que | nous concluons que | cela signifie que | il s'ensuit que | par suite
  demnach | demzufolge | schließlich | insgesamt | letztendlich | infolgedessen | mithin | damit | abschließend
  wir erhalten | daraus folgt | dessa forma | desta forma | desse modo | deste modo | sendo assim | assim sendo
  por fim | em suma | consequentemente | por conseguinte | concluímos que | obtemos | isso significa que
  отсюда | стало быть | в результате | тогда | получаем | в заключение | подводя итог | исходя из этого
  由此得出 | 从而 | 總之 | 总之 | 經計算 | 经计算 | 根据以上分析 | 根据上述分析 | 综合以上分析 | 我们得到 | 可知
  結論として | 以上から | これより | このことから | すなわち | 最終的に | ですから | そのため | それゆえ
  결론적으로 | 최종적으로 | 결국 | 이에 따라 | 그렇다면 | 이므로
  so | thus | hence | therefore | then | finally | in conclusion
  overall | in summary | to conclude | as a result | consequently | accordingly | and so | okay, so | ok, so
  entonces | por lo tanto | por tanto | así que | así pues | luego | en conclusión
  por consiguiente | en consecuencia | finalmente | en resumen | finalement | en résumé | zusammenfassend
  donc | ainsi | par conséquent | alors | en conclusion | also | somit | daher | folglich | deshalb
  portanto | logo | assim | então | por isso | concluindo | em resumo | em conclusão
  quindi | pertanto | dunque | perciò | di conseguenza | in conclusione | in definitiva | allora | infine
  итак | таким образом | следовательно | значит | поэтому | в итоге
  所以 | 因此 | 故 | 综上所述 | 综上 | 綜上所述 | 于是 | 因而 | 那么 | 由此可知 | 由此可得
  よって | したがって | 従って | ゆえに | だから | 以上より | つまり | 따라서 | 그러므로 | 그래서 | 즉
`);

/**
 * Words that may stand before the noun "answer", e.g. "final". None of them denies the answer or makes it a partial
 * one.
 */
export const BEFORE = splitEntries(`
  the | a | one | valid | feasible | my | our | your | this | final | correct | right | complete | exact
  best | optimal | largest | smallest | longest | shortest | maximum | minimum | max | min
  here is | here's | most | likely | appropriate | accurate | suitable | possible | chosen | selected | required
  overall | actual | desired | la | el | mi | nuestra | le | ma | notre | bonne
  il | mia | nostra
  die | das | meine | unsere | endgültige | endgültiges | richtige | korrekte | finale
  o | minha | nossa | мой | наш | окончательным | правильным | окончательный | финальный | итоговый | правильный
  верный
  最终的 | 最终 | 最后 | 最終 | 正确的 | 正确 | 正確的 | 正確 | 我的 | 本题的 | 本题 | 该题的 | 该题 | 这道题的 | 這道題的 | 此题的 | 此题
  这题的 | 这个问题的 | 该问题的 | 問題的 | 最終的 | 最後的 | 最後 | 本題的 | 此題的 | 我們的 | 我们的 | 所求的 | 所求
  最終的な | 求める | 正しい | 最後の | 최종적인 | 최종 | 올바른 | 이 문제의 | 문제의 | 제 | 저의 | 나의 | この問題の | 問題の | 私の
`);

export const NOUNS = splitEntries(`
  answer | ans | solution | result | output | response | conclusion | respuesta | solución | resultado | réponse
  résultat
  antwort | lösung | ergebnis | endergebnis | endantwort | итого | ответ | ответом | решение | результат | resposta
  solução | gabarito | conclusión | conclusão | risposta | soluzione | risultato
  答案 | 解答 | 回答 | 结果 | 結果 | 答え | 答 | 正答 | 结论 | 結論 | 正解 | 解 | 정답 | 해답 | 답변 | 답안 | 답 | 결과 | 결론
`);

/** Words that may stand after the noun "answer", e.g. "to the question". */
export const AFTER = splitEntries(`
  to the question | to this question | to your question | to the problem | to this problem | (final)
  a la pregunta | à la question | auf die frage | на вопрос | para a pergunta | à pergunta | da pergunta
  final | correcta | definitiva | correcto | finale | correcte | définitive | exacte | correta | correto | corretta
  esatta | giusta | definitiva
`);

/** Verbs that announce the answer. Denials such as "isn't" and "n'est pas" do not match. */
export const VERBS = splitEntries(`
  is | are | equals | would be | should be | must be | will be | comes to | comes out to be | comes out to
  turns out to be | is equal to | is simply | is exactly | is therefore | is thus | is as follows
  sería | es la siguiente | est donc | est la suivante | ist also | ist daher | seria | é a seguinte
  sera | serait | devrait être | será | debe ser | es por lo tanto | es entonces | deve ser | é portanto
  ist somit | ist daher | ist folglich | lautet also | lautet daher | lautet somit | ist wie folgt | wäre
  будет | является | таков | следующий | равняется
  è | è quindi | è la seguente | sarebbe | sono
  es | son | est | sont | ist | lautet | sind | lauten | é | são
  это | равен | равна | равно
`);
/** Verbs of languages that write no spaces around them, e.g. 是. */
export const CLINGING_VERBS = splitEntries(`
  就是 | 应该是 | 應該是 | 应为 | 應為 | 等于 | 等於 | 是 | 为 | 為 | 如下 | は次の通りです | は以下の通りです | は次のとおりです | は以下のとおりです | は | 은 다음과 같습니다
  는 다음과 같습니다 | 은 | 는
`);
/** Verbs that German may put before the noun: "Also ist die Antwort 12". */
export const EARLY_VERBS = ["ist", "lautet", "sind", "lauten"];

/**
 * Words that end a sentence that began with a label: the verb of "答えは 12 です", and the closing words of examples in the
 * Minerva prompt.
 */
export const ENDS = splitEntries(`
  になります | となります | となる | になる | でした | である | です | だ | 입니다 | 이에요 | 예요 | 이다 | 가 됩니다 | 이 됩니다 | I hope it is correct
`);
