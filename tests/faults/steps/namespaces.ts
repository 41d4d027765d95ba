import type { StepKinds } from "../step.ts";

/** Namespaces that go, with all that is in them. */
export const namespaceSteps: StepKinds = {
  /** It is marked for deletion, and stays until it is empty (`v` 0) or is emptied at once. Mostly of a workload cluster. */
  terminateNamespace: {
    weight: 2,
    n: 4,
    v: 2,
    isAboutCluster: true,
    act(stage, { cluster, n, v }) {
      const place = n === 0 ? "" : cluster;
      stage.terminate(place);
      if (v === 1) stage.empty(place);
    },
  },
  emptyNamespace: { weight: 2, n: 4, isAboutCluster: true, act: (stage, { cluster, n }) => stage.empty(n === 0 ? "" : cluster) },
  putNamespace: { weight: 3, n: 4, isAboutCluster: true, act: (stage, { cluster, n }) => stage.found(n === 0 ? "" : cluster) },
};
