// Dependencies point one way: transport → services → curriculum, envs. See CONTRIBUTING.md.
const only = (name, from, allowed, comment) => ({
  name,
  comment,
  severity: "error",
  from: { path: from },
  to: { path: "^(envs|server|clients|test|bench)/", pathNot: allowed },
});

module.exports = {
  forbidden: [
    {
      name: "no-circular",
      comment: "A cycle has no bottom to start reading from. Types may refer to each other.",
      severity: "error",
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ["type-only"] } },
    },
    {
      name: "no-orphans",
      comment: "Delete what is no longer used.",
      severity: "error",
      from: { orphan: true, path: "^(envs|server)/", pathNot: "\\.d\\.ts$|^server/gen/" },
      to: {},
    },
    only("envs-are-pure", "^envs/", "^envs/", "Tasks know nothing of the server."),

    only(
      "curriculum-is-a-core",
      "^server/curriculum/",
      "^(server/curriculum/|server/stores/|envs/)",
      "Policies and runs know no contract and no transport.",
    ),
    only(
      "evaluation-is-a-core",
      "^server/evaluation/",
      "^(server/(evaluation|tasks|workers)/|server/stores/evaluations/|server/curriculum/index\\.ts$|envs/)",
      "Evaluations know no contract and no transport.",
    ),
    only("stores-are-a-leaf", "^server/stores/", "^server/stores/", "A store keeps bytes."),
    only(
      "workers-make-tasks",
      "^server/workers/",
      "^(server/workers/|envs/)",
      "Workers run environments and nothing else.",
    ),
    only(
      "rpc-is-a-leaf",
      "^server/rpc/",
      "^(server/(rpc/|gen/|logging\\.ts$)|envs/lib/)",
      "What handlers are, without how they are reached.",
    ),
    only("wire-is-a-leaf", "^server/wire/", "^server/(wire|gen)/", "Bytes and messages, whatever they mean."),
    only(
      "scoring-keeps-nothing",
      "^server/scoring/",
      "^(server/(scoring|rpc|tasks|wire|gen)/|server/curriculum/(advantages|index)\\.ts$|envs/)",
      "Scoring runs in threads: it knows results, not runs.",
    ),
    only(
      "services-know-no-transport",
      "^server/services/",
      "^(server/(services|scoring|rpc|curriculum|evaluation|workers|tasks|gen)/|envs/)",
      "Handlers are transport-free.",
    ),
    only("clients-know-the-contract", "^clients/ts/", "^clients/ts/", "A client is published without the server."),
  ],
  options: {
    doNotFollow: { path: "node_modules|/gen/" },
    tsConfig: { fileName: "tsconfig.json" },
    tsPreCompilationDeps: true,
    exclude: { path: "(^|/)(dist|node_modules)/" },
  },
};
