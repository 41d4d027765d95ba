import type { StepKinds } from "../step.ts";
import { apiServerSteps } from "./apiServers.ts";
import { meddlingSteps } from "./meddlers.ts";
import { modeSteps } from "./modes.ts";
import { namespaceSteps } from "./namespaces.ts";
import { networkSteps } from "./network.ts";
import { pastSteps } from "./pasts.ts";
import { processSteps } from "./processes.ts";
import { refusalSteps } from "./refusals.ts";
import { replicaSteps } from "./replicas.ts";
import { trustSteps } from "./trust.ts";
import { userSteps } from "./users.ts";

/** Everything that can happen in a schedule. A new feature adds its own file here. */
export const stepKinds: StepKinds = {
  ...userSteps,
  ...meddlingSteps,
  ...networkSteps,
  ...processSteps,
  ...replicaSteps,
  ...apiServerSteps,
  ...refusalSteps,
  ...pastSteps,
  ...namespaceSteps,
  ...modeSteps,
  ...trustSteps,
};
