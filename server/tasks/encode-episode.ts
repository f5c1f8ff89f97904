/**
 * Encodes an episode, i.e. the state of a task of several turns, as part of a task id. Protobuf messages are written as
 * object literals, because protobuf's `create` would double the time.
 */
import type { Standing, Episode } from "../../envs/turns/turns.ts";
import type {
  Episode as WireEpisode,
  Standing as WireStanding,
} from "../../proto/gen/gradus/internal/v1/task_key_pb.js";
import { verdictNumbers } from "./task-id-numbers.ts";

/**
 * Sample (one of several answers to a task) to which an episode belongs: its index in the group, or the key that its
 * client chose. If both are unset, the episode belongs to no run and no evaluation.
 */
export interface EpisodeSample {
  readonly index?: number;
  readonly key?: string;
}

/** Episode with at least one call, and the sample to which it belongs. */
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

/**
 * Converts a protobuf message into an episode without checking the fields. The message comes from a task id with a
 * valid signature, so a Gradus server wrote it.
 */
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
  if (known === undefined || known === "malformed")
    throw new Error(`bug: a task id holds an episode with a verdict that does not exist: ${verdict}`);
  return { value, verdict: known, objective, quality, solved };
}
