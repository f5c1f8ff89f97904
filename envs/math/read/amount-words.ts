/**
 * Words after a number that change its value: million, twelfths, au carré, 以上. The scales in SCALES, such as million,
 * are multiplied in. A number before any other of these words is refused: ignoring the word, as one ignores a unit,
 * would change the value. The languages are those of envs/answers/label-words.ts; `scale-words.ts` has common words of
 * others.
 */
import { SCALES_ABROAD } from "./scale-words.ts";
import { splitWords } from "../../lib/words.ts";

/** The factor by which each scale word multiplies a number. */
export const SCALES: Readonly<Record<string, bigint>> = {
  trillion: 10n ** 12n,
  ...byName(12n, "dozen"),
  ...byName(100n, "hundred 百 백"),
  ...byName(1000n, "thousand tausend mille тысяча тысячи тысяч 千 천"),
  ...byName(10n ** 4n, "万 萬 만"),
  ...byName(10n ** 6n, "million millions millionen millones millón milhão milhões milioni миллион миллиона миллионов"),
  ...byName(10n ** 8n, "亿 億 억"),
  ...byName(10n ** 9n, "billion milliard milliards milliarde milliarden miliardi миллиард миллиарда миллиардов"),
};

function byName(scale: bigint, names: string): Readonly<Record<string, bigint>> {
  return Object.fromEntries(names.split(" ").map((name) => [name, scale]));
}

/**
 * Words for scales, fractions, powers, bounds and signs. A number before one of them is refused, unless SCALES has the
 * word.
 */
const WORDS: ReadonlySet<string> = new Set([
  // English.
  ...splitWords(`
    hundred hundreds thousand thousands dozen dozens tens lakh lakhs crore crores bn mil gross score pair pairs couple
    couples grand googol myriad myriads half halves quarter quarters repeating recurring inverse reciprocal root roots
    radical doubled tripled halved squared cubed factorial pi negative minimum maximum upwards onwards below above
    beyond greater smaller larger lower higher more fewer less least most plus minus times over divided multiplied
    raised added subtracted modulo mod choose base binary ternary octal hexadecimal
  `),
  // Spanish.
  ...splitWords(`
    millar millares cientos centenas docena docenas tercios cuartos quintos sextos séptimos octavos novenos décimos
    centésimos milésimos cuadrado cubo negativo más menos mínimo máximo
  `),
  // French.
  ...splitWords(`
    milliers centaines dizaines douzaine douzaines demi demie demis cinquièmes sixièmes septièmes huitièmes neuvièmes
    dixièmes centièmes millièmes carré cube puissance négatif moins factorielle ou
  `),
  // German.
  ...splitWords(`
    hundert dutzend halb halbe einhalb anderthalb drittel viertel fünftel sechstel siebtel achtel neuntel zehntel
    hundertstel tausendstel hoch quadrat negativ mehr weniger mindestens höchstens fakultät oder billionen
  `),
  // Portuguese.
  ...splitWords("milhar milhares dezenas dúzia dúzias terços quartos sétimos oitavos nonos quadrado mais"),
  // Italian.
  ...splitWords(`
    centinaia migliaia dozzina dozzine terzi quarti quinti sesti settimi ottavi noni decimi centesimi millesimi
    quadrato più meno
  `),
  // Russian.
  ...splitWords(`
    тыс млн млрд сотня сотни сотен десяток десятка десятков дюжина дюжины дюжин половиной половина половины третей
    четвертей четверти вторых третьих пятых шестых седьмых восьмых девятых десятых сотых тысячных квадрате кубе
    степени факториал больше более меньше менее минимум максимум свыше минус плюс или
  `),
]);

/**
 * Matches names of fractions (twelfths, twentieths, millionths), and names of large numbers that SCALES does not have
 * (zillion).
 */
const FORMED = new RegExp(
  `^(?:${[
    "thirds?",
    "(?:four|fif|six|seven|eigh|nin|ten|eleven|twelf|(?:thir|four|fif|six|seven|eigh|nine)teen)ths?",
    "(?:twen|thir|for|fif|six|seven|eigh|nine)tieths?",
    "(?:hundred|thousand|[a-z]{1,10}illion)ths?",
    "[a-z]{1,10}illions?",
    "[a-z]{2,10}fold",
    // Russian names of fractions such as twelfths or thirtieths.
    "[а-я]{2,12}дцатых",
  ].join("|")})$`,
  "u",
);

/**
 * Matches Chinese characters that multiply a number by a power of ten. 千米 is a kilometre and 百分点 a percentage point, so
 * neither is matched.
 */
const PREFIXES = "[十百千万萬亿億兆](?!米|克|瓦|卡|伏|帕|赫|升|焦|牛|字节|分点|分率|分比)";
/** Excludes a unit of length after a word such as 平方 (square), because a square metre is a unit. */
const OF_LENGTH = "(?![千厘分毫公英]?[米尺里分寸]|メートル|センチ|キロ|ミリ|単位|单位|單位)";

/** Matches Chinese and Japanese words that change a value. These languages put no spaces between words. */
const HAN = new RegExp(
  [
    ...[
      PREFIXES,
      "半",
      "分[之の]",
      "[点點][〇零一二三四五六七八九]",
      `(?:平方|立方)${OF_LENGTH}`,
      "次方",
      "[二三]乗",
      "乗$",
    ],
    ...["^[成折割](?![员員人年])", "倒数", "逆数", "相反", "阶乘", "階乗", "以[上下内外]", "未[満满滿]", "[多余餘超]"],
  ].join("|"),
  "u",
);
/** Matches Korean words that change a value. Korean puts spaces between only some of them. */
const HANGUL =
  /^[십백천만억](?![분점])|^조(?![각사])|^반$|(?:시간|년|개월)반$|제곱(?!미터|센티|킬로|밀리|피트|인치)|(?:이상|이하|미만|초과|남짓)$/u;

/** Returns whether a word after a number changes the number's value. */
export function makesAnother(word: string): boolean {
  const lower = word.toLowerCase();
  const isTold = Object.hasOwn(SCALES, lower) || WORDS.has(lower) || SCALES_ABROAD.has(lower.normalize("NFC"));
  return isTold || FORMED.test(lower) || HAN.test(word) || HANGUL.test(word);
}

const SCALED = new RegExp(`^${PREFIXES}`, "u");

/**
 * Returns whether a word is a scale such as "million" or a fraction such as "thirds". Such a word changes the number
 * before it even if something stands between the two.
 */
export function isScale(word: string): boolean {
  const lower = word.toLowerCase();
  return Object.hasOwn(SCALES, lower) || FORMED.test(lower) || SCALED.test(word);
}
