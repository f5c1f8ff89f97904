/**
 * Policy that trains on domains (sets of arms, e.g. mathematics or code) one after another, beginning with the one that
 * is forgotten least (Omni-Thinker 4.3).
 */
import { LIMITS } from "../../../proto/limits.ts";
import { invalid, type Invalid } from "../types.ts";
import { type ArmWeights, checkArmWeights } from "./arm-weights.ts";
import { fieldsOf } from "./fields.ts";
import type { PolicyDefinition, Progress, RunShape } from "./policy.ts";
import { standingCodec } from "./staged.ts";
import { checkShare, nextPart, stagePhases, stageShares, type Standing, standingAt, toTheEnd } from "./stages.ts";

const DOMAINS_MAX = LIMITS.ForgettingPolicy.domains.max;
const NAME_BYTES_MAX = 64;

/** Maximum absolute value of a change of a domain's score. Real changes are far smaller. */
const CHANGE_MAX = 1e12;

interface Domain {
  readonly name: string;
  readonly weights: ArmWeights;
  /** Share of the run's length. Undefined: an equal part of what the other domains leave. */
  readonly share: number | undefined;
}

/** Row of the transfer matrix: how training on one domain changes the scores of the domains. */
interface Transfer {
  readonly trained: string;
  /** Score changes by domain. A negative change means that the domain is forgotten. */
  readonly changes: Readonly<Record<string, number>>;
}

export interface ForgettingConfig {
  readonly domains: readonly Domain[];
  readonly transfers: readonly Transfer[];
  readonly reversed: boolean;
}

/**
 * Returns the domains in training order. The least forgotten domain is first, because most of the training comes after
 * it; if `reversed`, it is last. Forgetting of domain j is the backward transfer BWT_j = P_after,j − P_base,j: the
 * change of its score P, averaged over training on the other domains. A domain without measured changes has 0. Domains
 * with equal values keep their order.
 */
export function domainOrder({ domains, transfers, reversed }: ForgettingConfig): readonly Domain[] {
  const transfer = (name: string): number => {
    const rows = transfers.filter((row) => row.trained !== name && Object.hasOwn(row.changes, name));
    return rows.reduce((sum, { changes }) => sum + (changes[name] ?? 0), 0) / Math.max(1, rows.length);
  };
  const means = new Map(domains.map(({ name }) => [name, transfer(name)]));
  const sign = reversed ? 1 : -1;
  return [...domains].sort((a, b) => sign * ((means.get(a.name) ?? 0) - (means.get(b.name) ?? 0)));
}

/** Returns the number of tasks for which each domain is trained, in the order of domainOrder. */
function lastsOf(config: ForgettingConfig, length: number): readonly number[] {
  const shared = config.domains.reduce((sum, { share = 0 }) => sum + share, 0);
  const unsaid = config.domains.filter(({ share }) => share === undefined).length;
  const even = Math.max(0, 1 - shared) / Math.max(1, unsaid);
  // Each domain ends at the rounded sum of the shares so far, so that rounding errors do not add up.
  let end = 0;
  let before = 0;
  return domainOrder(config).map(({ share = even }) => {
    if (length === 0) return Infinity;
    end += share;
    const last = Math.round(end * length) - before;
    before += last;
    return last;
  });
}

function standing(config: ForgettingConfig, state: Standing, { cursor, length }: Progress): Standing {
  return standingAt(lastsOf(config, length), state, cursor);
}

function checkDomains({ domains }: ForgettingConfig, { armIds, length }: RunShape): Invalid | undefined {
  if (domains.length < 2 || domains.length > DOMAINS_MAX)
    return invalid("domains", `must have 2 to ${DOMAINS_MAX} domains; got ${domains.length}`);
  const names = new Set<string>();
  let shares = 0;
  for (const [i, { name, weights, share }] of domains.entries()) {
    const field = `domains[${i}]`;
    if (name === "" || Buffer.byteLength(name) > NAME_BYTES_MAX)
      return invalid(`${field}.name`, `must be 1 to ${NAME_BYTES_MAX} bytes`);
    if (names.has(name))
      return invalid(`${field}.name`, `"${name}" is the name of an earlier domain: give each domain its own`);
    names.add(name);
    if (Object.keys(weights).length === 0) return invalid(`${field}.weights`, "must name at least one arm");
    const found = checkArmWeights(`${field}.weights`, weights, armIds, { zero: true });
    if (found !== undefined) return found;
    if (share === undefined) continue;
    const wrong = checkShare(`${field}.share`, share, shares, length);
    if (wrong !== undefined) return wrong;
    shares += share;
  }
  return undefined;
}

function checkTransfers({ domains, transfers }: ForgettingConfig): Invalid | undefined {
  const names = new Set(domains.map(({ name }) => name));
  const trained = new Set<string>();
  for (const [i, row] of transfers.entries()) {
    const field = `transfers[${i}]`;
    if (!names.has(row.trained)) return invalid(`${field}.trained`, `"${row.trained}" is not one of the domains`);
    if (trained.has(row.trained))
      return invalid(`${field}.trained`, `"${row.trained}" has two rows: give each domain one`);
    trained.add(row.trained);
    for (const [name, change] of Object.entries(row.changes)) {
      const entry = `${field}.changes["${name}"]`;
      if (!names.has(name)) return invalid(entry, "is not one of the domains");
      if (!(Math.abs(change) <= CHANGE_MAX)) return invalid(entry, `must be in [-1e12, 1e12], not ${change}`);
    }
  }
  return undefined;
}

/** Returns whether two training orders have the same domains in the same places, up to and including index `stage`. */
function agree(a: readonly Domain[], b: readonly Domain[], stage: number): boolean {
  return a.slice(0, stage + 1).every(({ name }, i) => b[i]?.name === name);
}

export const forgetting: PolicyDefinition<ForgettingConfig, Standing> = {
  kind: "forgetting",
  read(parameters) {
    const fields = fieldsOf(parameters, ["domains", "transfers", "reversed"]);
    return {
      domains: fields.objects("domains", ["name", "weights", "share"]).map((domain) => ({
        name: domain.text("name"),
        weights: domain.numbers("weights"),
        share: domain.number("share"),
      })),
      transfers: fields
        .objects("transfers", ["trained", "changes"])
        .map((row) => ({ trained: row.text("trained"), changes: row.numbers("changes") })),
      reversed: fields.flag("reversed"),
    };
  },
  write: ({ domains, transfers, reversed }) => ({
    domains: domains.map(({ share, ...domain }) => ({ ...domain, ...(share !== undefined && { share }) })),
    transfers: transfers.map(({ trained, changes }) => ({ trained, changes })),
    reversed,
  }),
  check: (config, run) => checkDomains(config, run) ?? checkTransfers(config),
  lasts(config, length) {
    const lasts = lastsOf(config, length);
    const parts = domainOrder(config).map((domain, i) => ({
      field: `domains[${config.domains.indexOf(domain)}]`,
      tasks: lasts[i] ?? 0,
    }));
    return toTheEnd(parts, length);
  },
  takesFeedback: false,
  initial: (_config, _armCount, cursor) => ({ stage: 0, from: cursor }),
  /**
   * Returns the state after a change of configuration. The current domain continues if the order up to it is unchanged.
   * Otherwise the policy starts again with the first domain.
   */
  inherit(config, state, before, progress) {
    const now = standing(before, state, progress);
    const same = agree(domainOrder(before), domainOrder(config), now.stage);
    return same ? now : { stage: 0, from: progress.cursor };
  },
  state: standingCodec,
  probabilities: (config, state, { progress, arms }) =>
    stageShares(domainOrder(config)[standing(config, state, progress).stage], arms),
  phases: (config, armIds) => stagePhases({ stages: domainOrder(config) }, armIds),
  sharing: (config, armIds) => stagePhases({ stages: domainOrder(config) }, armIds),
  advance: (config, state, progress) =>
    nextPart(standing(config, state, progress).stage, config.domains.length, "domains", progress.cursor),
  place: (config, state, progress) => standing(config, state, progress).stage,
};
