/** Encodes episodes as parts of task ids. Messages are plain literals, because `create` takes as long as all the rest. */
import type { Standing, Episode } from "../../envs/turns/turns.ts";
import type {
  Episode as WireEpisode,
  Standing as WireStanding,
} from "../../proto/gen/gradus/internal/v1/task_key_pb.js";
import { verdictNumbers } from "./task-id-numbers.ts";

/** Sample that plays an episode: its index in a run's group, or the key that its client chose. Neither: no run has it. */
export interface EpisodeSample {
  readonly index?: number;
  readonly key?: string;
}

/** An episode after its first call, and its sample. */
export interface SampleEpisode extends Episode {
  readonly sample: EpisodeSample;
}

export function episodeToWire(episode: SampleEpisode): WireEpisode {
  const { calls, state, log, standing, digest, sample } = episode;
  return {
    $typeName: "gradus.internal.v1.Episode",
    calls,
    log: log.map((call) => ({ $typeName: "gradus.internal.v1.LoggedCall", ...call })),
    digest: Buffer.from(digest, "hex"),
    sampleKey: sample.key ?? "",
    ...(state !== undefined && { state }),
    ...(standing && { standing: standingToWire(standing) }),
    ...(sample.index !== undefined && { sample: sample.index }),
  };
}

function standingToWire({ verdict, objective, ...rest }: Standing): WireStanding {
  return {
    $typeName: "gradus.internal.v1.Standing",
    ...rest,
    verdict: verdictNumbers.toWire[verdict],
    ...(objective !== undefined && { objective }),
  };
}

/** Returns the episode of a message. Its bytes are authenticated, so a server of Gradus wrote it. */
export function episodeFromWire({
  calls,
  state,
  log,
  standing,
  digest,
  sample,
  sampleKey,
}: WireEpisode): SampleEpisode {
  return {
    calls,
    state,
    log,
    standing: standing && standingFromWire(standing),
    digest: Buffer.from(digest).toString("hex"),
    sample: { ...(sample !== undefined && { index: sample }), ...(sampleKey !== "" && { key: sampleKey }) },
  };
}

function standingFromWire({ value, verdict, objective, quality, solved }: WireStanding): Standing {
  const known = verdictNumbers.fromWire(verdict);
  if (known === undefined || known === "malformed") throw new Error(`bug: an episode stands at verdict ${verdict}`);
  return { value, verdict: known, objective, quality, solved };
}
