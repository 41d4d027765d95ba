import { refOf } from "@isthmus/core";
import { kubernetesCluster } from "../objects.ts";
import type { StepKinds } from "../step.ts";

const MODES = ["manage", "observe", "freeze", "obsrve"] as const;

/** What may be written in clusters. */
export const modeSteps: StepKinds = {
  setMode: {
    weight: 3,
    v: MODES.length,
    isAboutCluster: true,
    act(stage, { cluster, v }) {
      const registration = kubernetesCluster(cluster);
      if (stage.object({ ...refOf(registration), clusterName: "" }) === undefined) return;
      stage.put("", { ...registration, spec: { mode: MODES[v] } }, OPERATOR);
    },
  },
};

/** Sets modes, and nothing else: who registers clusters does not reset them. */
export const OPERATOR = "operator";
