import { setTimeout as sleep } from "node:timers/promises";
import type { AnyResource, Clock, Kind, Log } from "@isthmus/core";
import { kubernetesCluster, loadKubeconfig } from "@isthmus/kubernetes";
import type { Cluster } from "@isthmus/ports";
import type { ApiServer } from "./apiServer.ts";

export const clock: Clock = {
  now: () => Date.now(),
  sleep: (ms, signal) => sleep(ms, undefined, signal === undefined ? {} : { signal }),
};

/** A log that nobody reads. */
export const silent: Log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

/** A client of an API server, as its administrator, or as a user without rights. */
export function clusterOf(server: ApiServer, name: string, { asStranger = false } = {}): Cluster {
  const kubeconfig = loadKubeconfig(asStranger ? { text: server.strangerKubeconfig } : { path: server.kubeconfig });
  return kubernetesCluster({ name, kubeconfig, clock, random: Math.random });
}

/** A client of the API server that a kubeconfig file names. */
export function clusterAt(path: string, name: string): Cluster {
  return kubernetesCluster({ name, kubeconfig: loadKubeconfig({ path }), clock, random: Math.random });
}

/** A kind whose objects are taken as they are. */
export function anyKind(apiVersion: string, kind: string, plural: string, { namespaced = true } = {}): Kind<AnyResource> {
  return { apiVersion, kind, plural, namespaced, versions: [apiVersion], parse: (input) => input as AnyResource };
}

export const ConfigMap = anyKind("v1", "ConfigMap", "configmaps");
export const Namespace = anyKind("v1", "Namespace", "namespaces", { namespaced: false });
export const CustomResourceDefinition = anyKind("apiextensions.k8s.io/v1", "CustomResourceDefinition", "customresourcedefinitions", {
  namespaced: false,
});
