import type { KubernetesCluster } from "@isthmus/api";
import type { Mode, ModeOutcome } from "../cluster/clusterMode.ts";

/** What was set, in words. */
export const SET_TEXTS: Readonly<Record<Mode, string>> = {
  manage: "mode manage is set: what is desired is written",
  observe: "mode observe is set: nothing is written except spec.managedObjects, and no service is federated to other clusters",
  freeze: "mode freeze is set: nothing is written, and other clusters keep what they have",
};

/** What a cluster that was not managed will have written, as its agent has compared it. */
export function pendingText({ metadata, status }: KubernetesCluster): string {
  const { wouldCreate = 0, wouldChange = 0, wouldDelete = 0, conflicts = 0 } = status?.comparison ?? {};
  if (status?.comparison === undefined) return `${metadata.name}: there is no comparison of what is desired with what exists`;
  const others = conflicts === 0 ? "" : `; ${conflicts} managed by others stay as they are`;
  return `${metadata.name}: objects to create ${wouldCreate}, to change ${wouldChange}, to delete ${wouldDelete}${others}`;
}

/** What came of it. */
export function acknowledgedText(name: string, mode: Mode, outcome: ModeOutcome): string {
  switch (outcome.is) {
    case "acknowledged":
      return `${name}: the agent has acknowledged mode ${mode}${compared(outcome.registration)}`;
    case "unregistered":
      return `${name}: no agent has connected yet; the first one starts in mode ${mode}`;
    case "unreachable":
      return (
        `${name} is ${outcome.state}: its agent continues as before until it is connected again. ` +
        `Run "meshctl cluster diagnose ${name}"; to stop the agent at once, scale its Deployment to 0 in that cluster`
      );
  }
}

function compared({ status }: KubernetesCluster): string {
  const { comparison, mode } = status ?? {};
  if (comparison === undefined || mode === "manage") return "";
  const { same = 0, wouldCreate = 0, wouldChange = 0, wouldDelete = 0 } = comparison;
  return `; ${same} objects are as desired, ${wouldCreate + wouldChange + wouldDelete} are not`;
}
