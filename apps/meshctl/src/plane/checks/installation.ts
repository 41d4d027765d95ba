import { allKinds, isInstalled } from "@isthmus/api";
import { kindKeyOf } from "@isthmus/core";
import { CATEGORIES, type Check, subjectName } from "./check.ts";

const category = CATEGORIES["gloo-mesh"];

/** The CRDs of the management plane. */
export const crdsAreServed: Check = {
  category,
  description: "The CRDs of the management plane are installed",
  reads: ["served"],
  findings: ({ served }) =>
    allKinds()
      .filter((kind) => isInstalled(kind))
      .filter((kind) => !served.has(kindKeyOf(kind)))
      .map(({ kind, plural, apiVersion }) => ({
        code: "UPG1101",
        severity: "error",
        message: `the API server does not serve ${kind} (${apiVersion})`,
        remedy: `kubectl get crd ${plural}.${apiVersion.split("/")[0]}: install the CRDs of this version`,
      })),
};

/** All Deployments of the namespace: source: the published `meshctl check`. */
export const deploymentsAreAvailable: Check = {
  category,
  description: "Gloo Mesh pods are running",
  reads: ["deployments"],
  findings: ({ deployments, isNamespaceMissing, namespace }) => {
    if (deployments.length === 0) {
      const remedy = "--namespace names the one of the management plane; --context the management cluster";
      // Both as the published command says it.
      const message =
        isNamespaceMissing === true ? `specified namespace ${namespace} doesn't exist` : `no deployments found in namespace ${namespace}`;
      return [{ code: "HLT1101", severity: "error", message, remedy }];
    }
    return deployments.flatMap((deployment) => {
      const { spec, status } = deployment;
      if ((status?.availableReplicas ?? 0) > 0) return [];
      // On purpose, by a user: worth knowing, and nothing to mend.
      const isScaledToZero = spec?.replicas === 0;
      return {
        code: "HLT1101",
        severity: isScaledToZero ? "warning" : "error",
        message: `${subjectName(deployment)} ${isScaledToZero ? "is scaled to 0" : "has no available pods"}`,
        remedy: `kubectl -n ${namespace} describe deployment ${deployment.metadata.name}`,
      };
    });
  },
};
