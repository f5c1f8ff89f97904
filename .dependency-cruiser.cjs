// Dependencies point one way: transport → services → tasks, curriculum, evaluation → envs. See CONTRIBUTING.md.
const only = (name, from, allowed, comment) => ({
  name,
  comment,
  severity: "error",
  from: { path: from },
  to: { path: "^(envs|server|cli|clients|test|bench)/", pathNot: allowed },
});

module.exports = {
  forbidden: [
    {
      name: "no-circular",
      comment: "A circle has no file to start reading from. That holds for types too.",
      severity: "error",
      from: {},
      to: { circular: true },
    },
    {
      name: "no-orphans",
      comment: "Delete what is no longer used.",
      severity: "error",
      from: { orphan: true, path: "^(envs|server|cli)/", pathNot: "\\.d\\.ts$|^server/gen/" },
      to: {},
    },
    only("envs-are-pure", "^envs/", "^envs/", "Tasks know nothing of the server."),
    only("stores-are-a-leaf", "^server/stores/", "^server/stores/", "A store keeps bytes."),
    only(
      "runtime-is-a-leaf",
      "^server/runtime/",
      "^server/runtime/",
      "Configuration, log and metrics know no service.",
    ),
    only(
      "curriculum-is-a-core",
      "^server/curriculum/(core|runs)/",
      "^(server/curriculum/|server/stores/store\\.ts$|envs/)",
      "Runs know no contract and no transport.",
    ),
    only(
      "policies-own-their-messages",
      "^server/curriculum/policies/",
      "^(server/curriculum/(policies/|core/(json|signals|types)\\.ts$)|server/gen/|envs/)",
      "A policy reads and writes its own message, and knows nothing of runs.",
    ),
    only(
      "simulated-students-know-runs-alone",
      "^server/curriculum/simulation/",
      "^(server/curriculum/|envs/)",
      "Simulated students know runs, and no contract, task or command.",
    ),
    only("sharing-is-a-leaf", "^server/sharing/", "^server/sharing/", "Who is next, whatever for."),
    only(
      "tasks-are-told-by-their-ids",
      "^server/tasks/",
      "^(server/(tasks|gen/gradus/internal)/|server/curriculum/core/types\\.ts$|server/(stores/folder|runtime/files|scoring/scorer)\\.ts$|envs/)",
      "What a task is, and the id that stands for it.",
    ),
    only(
      "workers-make-tasks",
      "^server/making/worker\\.ts$",
      "^(server/making/(environments|jobs|worker|workers)\\.ts$|server/tasks/task\\.ts$|envs/)",
      "A worker's thread runs environments and nothing else.",
    ),
    only(
      "ports-know-no-run",
      "^server/ports/",
      "^(server/(ports|sharing|tasks|making|scoring)/|server/runtime/(files|secrets)\\.ts$|server/curriculum/runs/|envs/)",
      "What is asked of the outside.",
    ),
    only(
      "pools-are-rows",
      "^server/pools/",
      "^(server/(pools|ports|sharing|making)/|server/runtime/files\\.ts$|envs/)",
      "Rows as people have them.",
    ),
    only(
      "making-knows-no-score",
      "^server/making/",
      "^(server/(making|sharing|tasks|ports)/|server/runtime/files\\.ts$|server/curriculum/|envs/)",
      "Tasks, made by threads.",
    ),
    only(
      "scoring-knows-no-run",
      "^server/scoring/",
      "^(server/(scoring|sharing|tasks|making|ports)/|server/curriculum/|envs/)",
      "What a completion is worth.",
    ),
    only(
      "evaluation-is-a-core",
      "^server/evaluation/",
      "^(server/(evaluation|tasks|making|scoring|pools|ports|sharing)/|server/stores/evaluation-store\\.ts$|server/runtime/files\\.ts$|server/curriculum/|envs/)",
      "Evaluations know no contract and no transport.",
    ),
    only(
      "services-know-no-transport",
      "^server/services/",
      "^(server/(services|curriculum|evaluation|tasks|making|scoring|pools|ports|sharing|gen)/|server/transport/rpc\\.ts$|envs/)",
      "Handlers are transport-free: of the transports they know what a handler is.",
    ),
    only(
      "rpc-is-a-leaf",
      "^server/transport/rpc\\.ts$",
      "^envs/lib/",
      "What handlers are, without how they are reached.",
    ),
    only(
      "wire-is-a-leaf",
      "^server/transport/wire/",
      "^server/(transport/(wire/|rpc\\.ts$)|gen/)",
      "Bytes and messages, whatever they mean.",
    ),
    only(
      "transport-knows-no-service",
      "^server/transport/",
      "^(server/(transport|gen|runtime)/|server/stores/store\\.ts$|envs/lib/)",
      "Transports carry calls to handlers that they are given.",
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
