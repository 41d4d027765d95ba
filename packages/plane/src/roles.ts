import {
  agedKinds,
  agentKinds,
  computedKinds,
  contributedKinds,
  deliveredKinds,
  discoveryKinds,
  hasUserStatus,
  isInstalled,
  KubernetesCluster,
  keepsLastGood,
  kindOf,
  kindsReadIfPermitted,
  managementKinds,
  Namespace,
  onDemandKinds,
  ownKinds,
  publishedKinds,
  RESUME_DELETES,
  referredKinds,
  Settings,
  scopedKinds,
  summaryKinds,
  writeModeOf,
} from "@isthmus/api";
import { kindKeyOf } from "@isthmus/core";
import {
  discoveryOwner,
  knownPlanesOf,
  lastKnownMeshChanges,
  lastKnownMeshOf,
  lastKnownMeshRefOf,
  lastKnownRequests,
  networkingOwner,
  translatedFieldsOf,
} from "@isthmus/translators";
import type { AgentOptions } from "./agent/agent.ts";
import { type Generation, NAMES } from "./agent/processes.ts";
import { agentSettingsFor, receivedSettings } from "./agent/settings.ts";
import { receivedWriteRules, writeRulesNotice } from "./agent/writeMode.ts";
import type { ServerOptions } from "./server/serverOptions.ts";

/**
 * What an agent deals with; `namespace` is that of the management plane, whose name is in our owner labels, `agentNamespace` that of
 * the agent, if it is another.
 */
export function agentRoles(
  namespace: string,
  agentNamespace = namespace,
): Pick<
  AgentOptions,
  | "sentKinds"
  | "userKinds"
  | "keepsLastGood"
  | "isReadIfPermitted"
  | "scopedKinds"
  | "writtenKinds"
  | "refersTo"
  | "computedKinds"
  | "namespace"
  | "owners"
  | "discoveryKinds"
  | "settingsIn"
  | "modeIn"
  | "resumption"
> {
  return {
    sentKinds: [...agentKinds(), ...contributedKinds()],
    userKinds: contributedKinds(),
    keepsLastGood: (kind) => !contributedKinds().includes(kind) || keepsLastGood(kind),
    isReadIfPermitted: (kind) => kindsReadIfPermitted().includes(kind),
    scopedKinds: scopedKinds(),
    writtenKinds: deliveredKinds(),
    refersTo: referredKinds(),
    computedKinds: computedKinds(),
    namespace: agentNamespace,
    owners: [networkingOwner(namespace)],
    discoveryKinds: discoveryKinds(),
    settingsIn: receivedSettings,
    modeIn: receivedWriteRules,
    resumption: {
      place: `Namespace ${agentNamespace} of this cluster`,
      value: (cluster, clusterName) =>
        cluster.of(Namespace).get({ name: agentNamespace, namespace: "", clusterName })?.metadata.annotations?.[RESUME_DELETES],
    },
  };
}

const CONTRIBUTED: ReadonlySet<string> = new Set(contributedKinds().map(kindKeyOf));
const REPORTED: ReadonlySet<string> = new Set(
  [...agentKinds(), ...contributedKinds(), ...computedKinds(), ...summaryKinds(), ...onDemandKinds()].map(kindKeyOf),
);
const AGED: ReadonlySet<string> = new Set(agedKinds().map(kindKeyOf));

/** What a server deals with; `generation`: of the names that agents' Deployments bear. */
export function serverRoles(
  namespace: string,
  generation: Generation = "gloo-mesh",
): Pick<
  ServerOptions,
  | "agentName"
  | "kinds"
  | "discoveryOwner"
  | "networkingOwner"
  | "translationView"
  | "memory"
  | "lastKnownRequests"
  | "settingsToTell"
  | "modeToTell"
  | "modeOf"
  | "ownStatus"
  | "agentQuota"
> {
  return {
    agentName: NAMES[generation].agent,
    kinds: {
      management: managementKinds(),
      own: ownKinds(),
      isInstalled,
      published: publishedKinds(),
      discovery: discoveryKinds(),
      registration: KubernetesCluster,
      kindOf,
      isReported: (kindKey) => REPORTED.has(kindKey),
      aged: AGED,
      hasUserStatus,
      keepsLastGood: (kind) => !hasUserStatus(kind) || keepsLastGood(kind),
      isContributed: (kindKey) => CONTRIBUTED.has(kindKey),
    },
    discoveryOwner: discoveryOwner({ namespace }),
    networkingOwner: networkingOwner(namespace),
    translationView: translatedFieldsOf,
    memory: { of: lastKnownMeshOf, refOf: lastKnownMeshRefOf, changes: lastKnownMeshChanges },
    lastKnownRequests,
    ownStatus: { apiVersion: Settings.apiVersion, kind: Settings.kind, name: "settings", namespace, clusterName: "" },
    settingsToTell: (management, clusterName) =>
      agentSettingsFor(
        management.of(Settings).get({ name: "settings", namespace, clusterName: "" }),
        { namespace, clusterName },
        knownPlanesOf(management, { namespace, clusterName }),
      ),
    modeToTell(management, clusterName) {
      const cluster = management.of(KubernetesCluster).get({ name: clusterName, namespace, clusterName: "" });
      return cluster === undefined ? undefined : writeRulesNotice(cluster, clusterName);
    },
    modeOf: (registration) => writeModeOf(registration as KubernetesCluster),
    agentQuota: (management, heapBytes) => {
      const { objects = MOST_OBJECTS, bytes = Math.floor(heapBytes / HEAP_PARTS) } =
        management.of(Settings).get({ name: "settings", namespace, clusterName: "" })?.spec?.relay?.agentQuota ?? {};
      return { objects, bytes };
    },
  };
}

// Several times what the largest supported cluster holds: 5,000 nodes, 150,000 pods and what belongs to them. About 1 KB each.
const MOST_OBJECTS = 1_000_000;

// So that no single agent can end the server. Objects take about as much of the heap as their JSON is long, and what follows from them as much again.
const HEAP_PARTS = 8;
