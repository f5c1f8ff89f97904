/** The one place where students are registered. */
import type { Family } from "./student.ts";
import { student as fast } from "./students/fast.ts";
import { student as forgetful } from "./students/forgetful.ts";
import { student as hopeless } from "./students/hopeless.ts";
import { student as indifferent } from "./students/indifferent.ts";
import { student as misleading } from "./students/misleading.ts";
import { student as slow } from "./students/slow.ts";

export const students: readonly Family[] = [fast, slow, forgetful, hopeless, misleading, indifferent];
