/** Plain words that answers hold. */

/** Words of two and three letters that are no product of variables. */
export const SHORT_WORDS: ReadonlySet<string> = new Set([
  ..."and or no yes not the is are for all any but if of to as at by we so it on one two six ten has was may can odd".split(
    " ",
  ),
  ..."cm mm km kg mg ft in hr min sec mph kph lb lbs oz ml mL deg rad day days year pm am PM AM Hz dm inch".split(" "),
  ..."her his she he him who man men boy pen cat dog red son mon tue wed thu fri sat sun jan feb mar apr jun jul aug sep oct nov dec dne DNE".split(
    " ",
  ),
]);
