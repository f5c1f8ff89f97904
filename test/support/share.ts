/** Share of generated cases that tests try, where each case costs milliseconds. */

/** THOROUGH=1 tries every case. A change of a solver or of the answers' parsers wants it. */
const THOROUGH = process.env["THOROUGH"] === "1";
/** One case in four finds each of the faults that were planted in the solvers and the parsers. */
const SHARE = 4;

/** Returns how many of the cases to try: the first quarter, or all of them with THOROUGH=1. */
export function share(all: number): number {
  return THOROUGH ? all : Math.ceil(all / SHARE);
}
