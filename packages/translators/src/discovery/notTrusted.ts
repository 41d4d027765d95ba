import type { DaemonSet, Deployment } from "@isthmus/api";
import { type Report, refOf } from "@isthmus/core";
import { namespaceLocationOf } from "../policy/podIndexes.ts";
import { finding } from "./findings.ts";

/** That what looks like a control plane is a tenant's, as far as anything known tells. */
export function controlPlaneNotTrusted(deployment: Deployment): Report {
  const { namespace, clusterName } = namespaceLocationOf(deployment);
  const message = `not trusted: namespace ${namespace}: no webhook of a mesh in ${clusterName} names it, so this is not used as a control plane; ${remedy(namespace, clusterName)}`;
  return finding(refOf(deployment), "WARNING", "ControlPlaneNotTrusted", message);
}

/** That a control plane counts only because it did before. */
export function controlPlaneKept(deployment: Deployment): Report {
  const { namespace, clusterName } = namespaceLocationOf(deployment);
  const message = `not trusted: namespace ${namespace}: no webhook of a mesh in ${clusterName} names it; this stays a control plane because it has been one; ${remedy(namespace, clusterName)}`;
  return finding(refOf(deployment), "WARNING", "ControlPlaneNotTrusted", message);
}

/** That what looks like Cilium is a tenant's. */
export function ciliumNotTrusted(daemonSet: DaemonSet): Report {
  const { namespace, clusterName } = namespaceLocationOf(daemonSet);
  const message = `not trusted: namespace ${namespace}: this is not used as the Cilium of ${clusterName}; ${remedy(namespace, clusterName)}`;
  return finding(refOf(daemonSet), "WARNING", "CiliumNotTrusted", message);
}

/** The line to add, where an operator knows better. */
function remedy(namespace: string, clusterName: string): string {
  return `if it is, add ${namespace} to spec.systemNamespaces of KubernetesCluster ${clusterName}`;
}
