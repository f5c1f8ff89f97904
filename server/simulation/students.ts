/** All kinds of simulated students. */
import type { Family } from "./student.ts";
import { student as forgetful } from "./students/forgetful.ts";
import { student as hopeless } from "./students/hopeless.ts";
import { student as indifferent } from "./students/indifferent.ts";
import { student as misleading } from "./students/misleading.ts";
import { fast, slow } from "./students/paced.ts";

export const students: readonly Family[] = [fast, slow, forgetful, hopeless, misleading, indifferent];
