import type { WriteMode } from "@isthmus/api";
import type { Kind, Resource } from "@isthmus/core";
import type { ServerLink } from "@isthmus/ports";
import type { Informer } from "../informer/informer.ts";
import type { SnapshotStore } from "../snapshots/snapshotStore.ts";
import { knowsModes } from "./statuses/writesPaused.ts";

/** Disconnects agents that do not know modes, where a mode forbids writes: they would write whatever is desired. */
export interface AgentModes {
  /** To be called when an agent has connected, or a registration may have changed. */
  check(): void;
}

export interface AgentModesOptions {
  readonly view: Informer;
  readonly store: Pick<SnapshotStore, "clusters">;
  readonly namespace: string;
  readonly registration: Kind;
  readonly modeOf: (registration: Resource) => WriteMode;
  readonly link: Pick<ServerLink, "disconnect">;
}

/** Disconnects agents in `check` alone, and only those of this replica; the reason that they receive names the mode and the remedy. */
export function agentModes({ view, store, namespace, registration, modeOf, link }: AgentModesOptions): AgentModes {
  return {
    check() {
      for (const cluster of view.snapshot.of(registration)) {
        const { name } = cluster.metadata;
        const state = store.clusters.get(name);
        if (cluster.metadata.namespace !== namespace || !state?.isServed || knowsModes(state) !== false) continue;
        const mode = modeOf(cluster);
        if (mode === "manage") continue;
        const version = state.agent?.version ?? "";
        link.disconnect(
          name,
          `spec.mode of KubernetesCluster ${namespace}/${name} is ${mode}, which version ${version} of the agent does not support: upgrade the agent`,
          "Refused",
        );
      }
    },
  };
}
