/** What the server says of itself and of who asks, once for a token. */
import { computed, effect, signal } from "@preact/signals";
import { EnvironmentService } from "../../proto/gen/gradus/v1/environment_pb.js";
import type { ServerInfo } from "../../proto/gen/gradus/v1/environment_pb.js";
import { gradus, noteFailure, returns } from "./session.ts";

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
        // A server of before roles were told shows all there is, and refuses what may not be done.
        known.value = { server, name: caller?.name ?? "", role: caller?.role ?? "operator" };
    },
    (error: unknown) => {
      // A call with the token before says nothing of this one.
      if (!isNews()) return;
      known.value = { ...unknown, server: known.value.server };
      noteFailure(error);
    },
  );
});

export const caller = computed(() => ({ name: known.value.name, role: known.value.role }));

export const serverInfo = computed(() => known.value.server);

const roles = ["viewer", "trainer", "operator"];

/** Whether it is known that the caller may not do what this role may. */
export function mayNot(role: "viewer" | "trainer" | "operator"): boolean {
  return caller.value.role !== "" && !roleAtLeast(role);
}

/** Whether the caller may do what this role may: what is shown. The server sees to it by itself. */
export function roleAtLeast(role: "viewer" | "trainer" | "operator"): boolean {
  return roles.indexOf(caller.value.role) >= roles.indexOf(role);
}
