/** Says how many signs there are that the policy of a run exploits its reward. */
import { hrefOf } from "../address.ts";
import { useAnswer } from "../answers.ts";
import { serverInfo } from "../caller.ts";
import { Tag } from "../ui/parts.tsx";
import { counted } from "../words.ts";

/** Milliseconds between two requests for the signs. */
const SIGNS_MS = 30_000;

/** Shows nothing if there is no sign of an exploited reward. Sends no request if the server counts no samples. */
export function SignNotice({ runId }: { readonly runId: string }) {
  const isCounted = (serverInfo.value?.keepSamplesBytes ?? 0n) > 0n;
  const { value } = useAnswer(
    isCounted ? (client, options) => client.run(runId).violations("", options) : undefined,
    [runId],
    { everyMs: SIGNS_MS },
  );
  const signs = value?.arms.reduce((sum, arm) => sum + arm.signs.length, 0) ?? 0;
  if (signs === 0) return null;
  return (
    <p role="status">
      <Tag tone="poor">look at samples</Tag>{" "}
      <a href={hrefOf(["runs", runId, "problems"])}>{counted(signs, "sign")} that the policy exploits its reward</a>
    </p>
  );
}
