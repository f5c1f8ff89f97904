/** Shows what this server is, its environments, its limits, and its current load. */
import { type Environment, NoRewardReason, type ServerInfo } from "../../../clients/ts/src/public.ts";
import { EnvironmentService } from "../../../proto/gen/gradus/v1/environment_pb.js";
import { present } from "../../../clients/ts/src/reply.ts";
import { LIST_MS, useAnswer } from "../answers.ts";
import { taskHref } from "../tasks/choice.ts";
import { Answered, Facts, Heading, Panel, Share, Tag } from "../ui/parts.tsx";
import { bytes, count, counted, span } from "../words.ts";
import { Calls, Errors, LastErrors, Load } from "./status.tsx";

export function ServerView() {
  const answer = useAnswer(
    async (gradus, options) => {
      const [{ server }, environments, status] = await Promise.all([
        gradus.unary(EnvironmentService.method.getServerInfo, {}, options),
        gradus.listEnvironments({}, options),
        gradus.getServerStatus(options),
      ]);
      return { server: present(server, "server"), environments, status };
    },
    [],
    { everyMs: LIST_MS },
  );
  return (
    <>
      <Heading title="Server" note="One process of it, as it says itself.">
        <button type="button" onClick={answer.again}>
          Look again
        </button>
      </Heading>
      <Answered answer={answer}>
        {({ server, environments, status }) => (
          <div class="halves">
            <div class="stack">
              <Load status={status} />
              <Calls status={status} />
              <Errors status={status} />
              <LastErrors status={status} />
              <Queues server={server} />
              <NoRewards server={server} />
            </div>
            <div class="stack">
              <About server={server} />
              <Ports server={server} />
              <Limits server={server} />
              <Replicas server={server} />
              <Environments environments={environments} />
            </div>
          </div>
        )}
      </Answered>
    </>
  );
}

function About({ server }: { readonly server: ServerInfo }) {
  const { version, commit, contract, store, startTime, keepSamplesBytes, keepSamplesFor, replicaId } = server;
  const up = startTime === undefined ? undefined : Date.now() - Number(startTime.seconds) * 1000;
  const kept = keepSamplesFor === undefined ? "" : `, for ${span(Number(keepSamplesFor.seconds) * 1000)}`;
  return (
    <Panel title="What it is">
      <Facts
        facts={[
          ["version", version],
          ["commit", commit === "" ? "not known" : commit],
          ["contract", contract],
          ["store", store],
          ["up for", up === undefined ? "not known" : span(up)],
          ["completions kept", keepSamplesBytes === 0n ? "none" : `${bytes(keepSamplesBytes)} of each run${kept}`],
          ["process", <code>{replicaId}</code>],
        ]}
      />
    </Panel>
  );
}

function Ports({ server: { ports } }: { readonly server: ServerInfo }) {
  return (
    <Panel title="External services">
      <ul class="entries">
        {ports.map(({ name, missing, down, running, waiting }) => (
          <li key={name}>
            <h3>
              {name}{" "}
              <Tag tone={missing !== "" ? "plain" : down !== "" ? "bad" : "good"}>
                {missing !== "" ? "not there" : down !== "" ? "down" : "✓ there"}
              </Tag>
            </h3>
            <p class="note">{missing || down || `${counted(running, "request")} running, ${count(waiting)} waiting`}</p>
          </li>
        ))}
      </ul>
    </Panel>
  );
}

/** Descriptions of the kinds of work that the server does outside of its event loop, by their names in ServerInfo. */
const WORK: Readonly<Record<string, string>> = {
  tasks: "making tasks",
  aside: "drawing, solving and checking for people",
  simulations: "simulating students",
};

function Queues({ server: { queues } }: { readonly server: ServerInfo }) {
  return (
    <Panel title="Queues">
      <ul class="entries">
        {queues.map(({ name, running, waiting, waitingMax }) => (
          <li key={name}>
            <h3>{WORK[name] ?? name}</h3>
            <Share
              value={waitingMax === 0 ? 0 : waiting / waitingMax}
              tone="poor"
              label={`${count(running)} running, ${count(waiting)} of at most ${count(waitingMax)} waiting`}
            />
          </li>
        ))}
      </ul>
    </Panel>
  );
}

function NoRewards({ server: { noRewards } }: { readonly server: ServerInfo }) {
  return (
    <Panel title="Samples without a reward, since it started">
      {noRewards.length === 0 ? (
        <p class="empty">There were none.</p>
      ) : (
        <ul class="entries">
          {noRewards.map(({ reason, resource, count: times }) => (
            <li key={`${reason} ${resource}`}>
              <h3>
                {(NoRewardReason[reason] ?? String(reason)).toLowerCase().replaceAll("_", " ")} {resource}
              </h3>
              <p>{count(times)}</p>
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}

function Limits({ server: { limits } }: { readonly server: ServerInfo }) {
  if (limits === undefined) return null;
  return (
    <Panel title="What it takes at most">
      <Facts
        facts={[
          ["a message", bytes(limits.messageBytes)],
          ["a completion", bytes(BigInt(limits.completionBytes))],
          ["groups of a message", count(limits.groups)],
          ["completions of a group", count(limits.completions)],
          ["seeds of a batch", count(limits.batchSeeds)],
        ]}
      />
    </Panel>
  );
}

function Replicas({ server: { replicas, replicaId } }: { readonly server: ServerInfo }) {
  if (replicas.length === 0) return null;
  return (
    <Panel title="Processes that serve the same stores">
      <ul class="entries">
        {replicas.map(({ id, age }) => (
          <li key={id}>
            <h3>
              <code>{id}</code> {id === replicaId && <Tag tone="best">this one</Tag>}
            </h3>
            <p class="note">heard of {span(Number(age?.seconds ?? 0n) * 1000)} ago</p>
          </li>
        ))}
      </ul>
    </Panel>
  );
}

function Environments({ environments }: { readonly environments: readonly Environment[] }) {
  return (
    <Panel title={counted(environments.length, "environment")}>
      <ul class="entries">
        {environments.map(({ id, version, pools }) => (
          <li key={`${id} ${version}`}>
            <h3>
              <a href={taskHref(id)}>{id}</a> <Tag>version {version}</Tag>
            </h3>
            {pools.map((pool) => (
              <p class="note" key={pool.name}>
                pool {pool.name}:{" "}
                {counted(
                  pool.groups.reduce((sum, { rows }) => sum + rows, 0),
                  "row",
                )}
                {pool.rejected > 0 && `, ${count(pool.rejected)} rejected`}
              </p>
            ))}
          </li>
        ))}
      </ul>
    </Panel>
  );
}
