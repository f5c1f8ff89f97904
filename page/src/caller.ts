/** Fetches the server's information and the caller's name and role, once for each token. */
import { computed, effect, signal } from "@preact/signals";
import { EnvironmentService } from "../../proto/gen/gradus/v1/environment_pb.js";
import type { ServerInfo } from "../../proto/gen/gradus/v1/environment_pb.js";
import { gradus, noteFailure, returns } from "./connection.ts";

interface Known {
  readonly server: ServerInfo | undefined;
  readonly name: string;
  readonly role: string;
}

const unknown: Known = { server: undefined, name: "", role: "" };
const known = signal<Known>(unknown);

effect(() => {
  const asked = gradus.value;
  const counted = returns.value;
  const isNews = () => gradus.value === asked && returns.value === counted;
  asked.unary(EnvironmentService.method.getServerInfo, {}).then(
    ({ server, caller }) => {
      if (isNews())
        // Treat a caller without a role as an operator, because older servers tell no role. They refuse forbidden
        // actions themselves.
        known.value = { server, name: caller?.name ?? "", role: caller?.role ?? "operator" };
    },
    (error: unknown) => {
      // The request used a token that was replaced in the meantime, so its error is ignored.
      if (!isNews()) return;
      known.value = { ...unknown, server: known.value.server };
      noteFailure(error);
    },
  );
});

export const caller = computed(() => ({ name: known.value.name, role: known.value.role }));

export const serverInfo = computed(() => known.value.server);

const roles = ["viewer", "trainer", "operator"];

/** Returns whether the caller is known to lack this role. */
export function mayNot(role: "viewer" | "trainer" | "operator"): boolean {
  return caller.value.role !== "" && !roleAtLeast(role);
}

/** Returns whether the caller has this role. Decides only what the page shows; the server enforces roles itself. */
export function roleAtLeast(role: "viewer" | "trainer" | "operator"): boolean {
  return roles.indexOf(caller.value.role) >= roles.indexOf(role);
}
