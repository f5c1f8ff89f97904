/** Spellings in public sets of expected answers. */
import { labelled } from "../labelled.ts";

const r = String.raw;

export const pairs = [
  ...labelled(
    "spellings of public golds",
    [r`5 \frac{1}{4} \mathrm{~min}`, "5.25 min", "equal"],
    [r`5 \frac{1}{4} \mathrm{~min}`, "5 minutes 15 seconds", "equal"],
    [r`5 \frac{1}{4} \mathrm{~min}`, "5.25 s", "different"],
    [r`3920 \mathrm{~N}-\mathrm{m}`, r`3920 \text{ N m}`, "equal"],
    [r`3920 \mathrm{~N}-\mathrm{m}`, "3920 J", "equal"],
    [r`3920 \mathrm{~N}-\mathrm{m}`, r`3920 \text{ N}`, "different"],
    [r`\textcircled{1}\textcircled{3}`, "①③", "equal"],
    [r`\textcircled{1}\textcircled{3}`, "①②", "different"],
  ),
  ...labelled(
    "a list of equations that name what each is the value of",
    [r`\cos(\pi) = -1, \sin(\pi) = 0`, r`\sin(\pi) = 0, \cos(\pi) = -1`, "equal"],
    [
      r`\cos(\pi) = -1, \sin(\pi) = 0`,
      r`\cos\left(-\frac{13\pi}{2}\right) = 0, \sin\left(-\frac{13\pi}{2}\right) = -1`,
      "different",
    ],
    [r`\cos(\pi) = -1, \sin(\pi) = 0`, r`\cos(\pi) = 0, \sin(\pi) = -1`, "different"],
  ),
];
