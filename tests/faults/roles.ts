import { allKinds, discoveryKinds, PodBounceDirective } from "@isthmus/api";
import { type Kind, kindKeyOf } from "@isthmus/core";
import { agentRoles, serverRoles } from "@isthmus/plane";
import {
  accessPolicy,
  cilium,
  DEFINED_KINDS,
  gateway,
  istiod,
  kubernetesCluster,
  meshConfig,
  NAMESPACE,
  namespaces,
  secret,
  service,
  settings,
  trafficPolicy,
  virtualMesh,
  workload,
} from "./objects.ts";

const MADE: readonly { readonly apiVersion: string; readonly kind: string }[] = [
  PodBounceDirective,
  ...namespaces(),
  ...workload("reviews", 0),
  settings(0),
  secret(),
  meshConfig(0),
  ...cilium(0),
  istiod("a", 0),
  gateway("a", 0),
  service("reviews", 0),
  kubernetesCluster("a"),
  virtualMesh(["a"], 0),
  trafficPolicy("reviews", 0),
  accessPolicy("reviews", 0),
];
// A kind that these schedules never have would only cost time.
const USED: ReadonlySet<string> = new Set([...MADE, ...DEFINED_KINDS, ...discoveryKinds()].map(kindKeyOf));
const isUsed = (kind: Kind) => USED.has(kindKeyOf(kind));

/** What the simulated API servers know. */
export const SIMULATED = allKinds().filter(isUsed);
const ALL = agentRoles(NAMESPACE);

/** What the agents deal with. */
export const ROLES = {
  ...ALL,
  sentKinds: ALL.sentKinds.filter(isUsed),
  userKinds: ALL.userKinds.filter(isUsed),
  writtenKinds: ALL.writtenKinds.filter(isUsed),
};
const ALL_OF_SERVER = serverRoles(NAMESPACE);
/** What the server reads in the management cluster. */
export const SERVER_ROLES = {
  ...ALL_OF_SERVER,
  kinds: { ...ALL_OF_SERVER.kinds, management: ALL_OF_SERVER.kinds.management.filter(isUsed) },
};
