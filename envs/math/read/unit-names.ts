/** The units that are known, with the quantity that each measures. */

/** A unit's quantity and size. The size is the fraction num / den of the quantity's base unit, e.g. the millimetre. */
export interface UnitInfo {
  /** Canonical spelling, e.g. "cm". */
  readonly name: string;
  /** The quantity that the unit measures: "length" or, for a newton, "length mass time^-2". */
  readonly dimension: string;
  readonly num: bigint;
  readonly den: bigint;
}

type Row = readonly [names: string, dimension: string, num: bigint, den?: bigint];

const ROWS: readonly Row[] = [
  ["m meter meters metre metres 米", "length", 1000n],
  ["cm centimeter centimeters centimetre centimetres 厘米", "length", 10n],
  ["mm millimeter millimeters millimetre millimetres 毫米", "length", 1n],
  ["dm decimeter decimeters 分米", "length", 100n],
  ["km kilometer kilometers kilometre kilometres 千米 公里", "length", 1_000_000n],
  ["in inch inches", "inch", 1n],
  ["ft foot feet", "inch", 12n],
  ["yd yard yards", "inch", 36n],
  ["mi mile miles", "inch", 63_360n],
  ["s sec secs second seconds 秒", "time", 1n],
  ["min mins minute minutes 分钟", "time", 60n],
  ["h hr hrs hour hours 小时", "time", 3600n],
  ["day days 天", "time", 86_400n],
  ["week weeks 周", "time", 604_800n],
  ["month months 个月", "month", 1n],
  ["year years yr yrs 年", "month", 12n],
  ["g gram grams 克", "mass", 1n],
  ["mg milligram milligrams 毫克", "mass", 1n, 1000n],
  ["kg kilogram kilograms 千克 公斤", "mass", 1000n],
  ["t ton tons tonne tonnes 吨", "mass", 1_000_000n],
  ["oz ounce ounces", "ounce", 1n],
  ["lb lbs", "ounce", 16n],
  ["L l liter liters litre litres 升", "length^3", 1_000_000n],
  ["mL ml milliliter milliliters 毫升", "length^3", 1000n],
  ["cup cups", "cup", 1n],
  ["pt pint pints", "cup", 2n],
  ["qt quart quarts", "cup", 4n],
  ["gal gallon gallons", "cup", 16n],
  ["mol mole moles", "mole", 1n],
  ["Hz hertz", "time^-1", 1n],
  ["N newton newtons", "length mass time^-2", 10n ** 6n],
  ["Pa pascal pascals", "length^-1 mass time^-2", 1n],
  ["J joule joules", "length^2 mass time^-2", 10n ** 9n],
  ["W watt watts", "length^2 mass time^-3", 10n ** 9n],
  ["V volt volts", "volt", 1n],
  ["$ dollar dollars usd", "money", 100n],
  ["¢ cent cents", "money", 1n],
  ["€ euro euros eur", "euro", 1n],
  ["¥ yuan rmb cny 元", "yuan", 1n],
  ["£ gbp", "pound", 1n],
  ["pound pounds", "pound", 1n],
  ["₹ rupee rupees inr", "rupee", 1n],
  ["° degree degrees deg 度", "angle", 1n],
  ["rad radian radians", "radian", 1n],
  ["% percent pct prozent porciento パーセント 퍼센트 процент процента процентов", "percent", 1n],
];

export const UNITS: ReadonlyMap<string, UnitInfo> = new Map(
  ROWS.flatMap(([names, dimension, num, den = 1n]) => {
    const [own = "", ...others] = names.split(" ");
    return [own, ...others].map((name) => [name, { name: own, dimension, num, den }] as const);
  }),
);

/** Words that mean a quotient of units, such as mph for miles per hour. */
const IN_ONE: Readonly<Record<string, string>> = {
  mph: "mi / h",
  mpg: "mi / gal",
  kph: "km / h",
  kmh: "km / h",
  kmph: "km / h",
};

/** Matches symbols of units, in which case matters: Mg is not mg, and H, S and T are not hours, seconds and tons. */
const IS_SIGN = /^(?:..?|.[A-Z].|..[A-Z])$/;
/** Symbols of units that mean the same in any case. */
const IN_ANY_CASE: ReadonlySet<string> = new Set(
  "cm dm km kg ft in yd hr hrs sec min usd eur gbp rmb cny inr deg rad pct".split(" "),
);

/** Returns the canonical spelling of a unit. An unknown word is returned in lower case and without a plural s. */
export function unitNamed(word: string): string {
  const lower = word.toLowerCase();
  if (IN_ONE[lower] !== undefined) return IN_ONE[lower];
  const isSign = word !== lower && IS_SIGN.test(word) && !IN_ANY_CASE.has(lower);
  const unit = UNITS.get(word) ?? (isSign ? undefined : UNITS.get(lower));
  return unit?.name ?? (isSign ? word : lower.replace(/(?<=..)s$/, ""));
}

/** Returns the meaning of a unit in view of another unit beside it: pounds beside ounces are a mass, not money. */
export function besideUnit(unit: string, other: string): string {
  return /\b(?:oz|lb)\b/.test(other) ? unit.replace(/\bpound\b/, "lb") : unit;
}
