/** Plain words that answers hold. */

/** Words of two and three letters that are no product of variables. */
export const SHORT_WORDS: ReadonlySet<string> = new Set([
  ..."and or no yes not the is are for all any but if of to as at by we so it on one two six ten has was may can odd".split(
    " ",
  ),
  ..."per usd hrs yrs yr wk gal cm mm km kg mg ft in hr min sec mph kph lb lbs oz ml mL deg rad day days year pm am PM AM Hz dm inch pct".split(
    " ",
  ),
  ..."ppm bpm rpm mpg kJ kN kW MHz kHz GHz kPa GB MB KB TB mol atm cal kcal EUR GBP sq cu".split(" "),
  ..."her his she he him who man men boy pen cat dog red son mon tue wed thu fri sat sun jan feb mar apr jun jul aug sep oct nov dec dne DNE".split(
    " ",
  ),
]);

/** Behind a number they say nothing of its worth: 10th. */
/** The "st" of "21st", but not of "2st", which is a product; by the digits before it. */
export function isOrdinalOf(run: string, last: number, before: number): boolean {
  if (!ORDINALS.has(run) || last < 48 || last > 57) return false;
  const isTeen = before === 49;
  return run === (isTeen ? "th" : (["th", "st", "nd", "rd"][last - 48] ?? "th"));
}

export const ORDINALS: ReadonlySet<string> = new Set(["st", "nd", "rd", "th"]);

/** Words that may be a product of two letters, too. */
export const PRODUCT_WORDS: ReadonlySet<string> = new Set("as at by is it no of on so to we".split(" "));

/** Words that are no product of letters when they are all capitals, either. */
export const CAPITAL_WORDS: ReadonlySet<string> = new Set(
  "YES NO TRUE FALSE NONE ODD EVEN NEITHER BOTH ALWAYS NEVER EQUAL ZERO ONE TWO USD EUR RMB".split(" "),
);

// Numbers in words.

const SMALL: readonly string[] =
  "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split(
    " ",
  );
const TENS: readonly string[] = "twenty thirty forty fifty sixty seventy eighty ninety".split(" ");

/** What a word behind a number multiplies it with. */
export const SCALES: Readonly<Record<string, bigint>> = {
  hundred: 100n,
  thousand: 1000n,
  million: 10n ** 6n,
  billion: 10n ** 9n,
  trillion: 10n ** 12n,
  dozen: 12n,
  万: 10n ** 4n,
  亿: 10n ** 8n,
};

/** "twenty-one", "three hundred and five thousand", in small letters; undefined: they are no number. */
export function numberOfWords(text: string): bigint | undefined {
  const words = text.split(/[\s-]+/).filter((word) => word !== "and");
  let [total, part] = [0n, 0n];
  let before: "start" | "scale" | "ten" | "one" = "start";
  for (const word of words) {
    const [one, ten] = [SMALL.indexOf(word), TENS.indexOf(word)];
    const scale = Object.hasOwn(SCALES, word) ? SCALES[word] : undefined;
    if (one >= 0 && (before === "start" || before === "scale" || (before === "ten" && one > 0 && one < 10))) {
      part += BigInt(one);
      before = "one";
    } else if (ten >= 0 && (before === "start" || before === "scale")) {
      part += BigInt(20 + 10 * ten);
      before = "ten";
    } else if (scale !== undefined && (before !== "start" || words.length === 1)) {
      const size = part === 0n ? 1n : part;
      if (scale > 100n) [total, part] = [total + size * scale, 0n];
      else part = size * scale;
      before = "scale";
    } else return undefined;
  }
  return words.length === 0 ? undefined : total + part;
}
