import { VirtualService } from "@isthmus/api";
import { refOf } from "@isthmus/core";
import { kubernetesCluster } from "../objects.ts";
import type { StepKinds } from "../step.ts";

// The last: all objects of one kind are switched over.
const MODES = [
  { mode: "manage" },
  { mode: "observe" },
  { mode: "freeze" },
  { mode: "obsrve" },
  { mode: "observe", managedObjects: [{ kind: VirtualService.kind, namespace: "*", name: "*" }] },
];

/** What may be written in clusters. */
export const modeSteps: StepKinds = {
  setMode: {
    weight: 6,
    v: MODES.length,
    isAboutCluster: true,
    act(stage, { cluster, v }) {
      const registration = kubernetesCluster(cluster);
      if (stage.object({ ...refOf(registration), clusterName: "" }) === undefined) return;
      stage.put("", { ...registration, spec: MODES[v] ?? {} }, OPERATOR);
    },
  },
};

/** Sets modes, and nothing else: who registers clusters does not reset them. */
export const OPERATOR = "operator";
