/** Options and error texts of the teacher, a model that proposes tasks. */
import { integer, optionalText, optionTable, type ValuesOf } from "../../runtime/option-values.ts";
import type { EndpointOptions } from "../chat-endpoint.ts";
import { type PortKind, readEndpoint } from "../port-kind.ts";

const options = optionTable({
  teacherUrl: optionalText({
    placeholder: "url",
    description:
      "base URL of an OpenAI-compatible endpoint whose model proposes tasks (SOURCE_TEACHER), e.g. http://localhost:8000/v1",
  }),
  teacherModel: optionalText({
    placeholder: "name",
    description: "name of the teacher model at the endpoint of --teacher-url",
  }),
  teacherKey: optionalText({
    placeholder: "key",
    description:
      "API key of the endpoint; better set GRADUS_TEACHER_KEY, because other users of the machine can see options",
    secret: true,
  }),
  teacherTimeoutMs: integer({
    description: "maximum time for one reply of the teacher, in milliseconds",
    range: [10, 3_600_000],
    defaultValue: 60_000,
  }),
});

const start = "start it with --teacher-url and --teacher-model (and GRADUS_TEACHER_KEY)";

/**
 * Describes the teacher service. It has no `open`, because verifiers never use the teacher; the making of tasks opens
 * it (teacher.ts).
 */
export const teacher = {
  options,
  words: {
    missing: `this server has no teacher: ${start}`,
    missingHere: "there is no teacher: set GRADUS_TEACHER_URL and GRADUS_TEACHER_MODEL, or give --server",
    needs: `a teacher: ${start}`,
  },
  read(values: ValuesOf<typeof options>): EndpointOptions | undefined {
    const { teacherUrl, teacherModel, teacherKey: key, teacherTimeoutMs: timeoutMs } = values;
    const at = readEndpoint("teacher", teacherUrl, teacherModel);
    return at && Object.freeze({ ...at, key, timeoutMs });
  },
  limits: () => ({}),
} as const satisfies PortKind<EndpointOptions>;
