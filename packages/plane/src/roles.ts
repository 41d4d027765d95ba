import {
  agentKinds,
  contributedKinds,
  deliveredKinds,
  discoveryKinds,
  isAsked,
  KubernetesCluster,
  kindOf,
  managementKinds,
  Namespace,
  publishedKinds,
  RESUME_DELETES,
  Settings,
  scopedKinds,
} from "@isthmus/api";
import { kindKeyOf } from "@isthmus/core";
import { asTranslated, discoveryOwner, networkingOwner, rememberedRequests } from "@isthmus/translators";
import type { AgentOptions } from "./agent/agent.ts";
import { settingsTold, settingsToTell } from "./agent/settings.ts";
import type { ServerOptions } from "./server/serverOptions.ts";

/** Topic of the server's question that lets go what an agent holds back; its body is empty. */
export const RESUME_DELETES_TOPIC = "resume-deletes";

/**
 * What an agent deals with; `namespace` is that of the management plane, whose name is in our owner labels, `agentNamespace` that of
 * the agent, if it is another.
 */
export function agentRoles(
  namespace: string,
  agentNamespace = namespace,
): Pick<
  AgentOptions,
  "sentKinds" | "userKinds" | "scopedKinds" | "writtenKinds" | "owners" | "discoveryKinds" | "settingsTold" | "resumption"
> {
  return {
    sentKinds: [...agentKinds(), ...contributedKinds()],
    userKinds: contributedKinds(),
    scopedKinds: scopedKinds(),
    writtenKinds: deliveredKinds(),
    owners: [networkingOwner(namespace)],
    discoveryKinds: discoveryKinds(),
    settingsTold,
    resumption: {
      place: `Namespace ${agentNamespace} of this cluster`,
      value: (cluster, clusterName) =>
        cluster.of(Namespace).get({ name: agentNamespace, namespace: "", clusterName })?.metadata.annotations?.[RESUME_DELETES],
    },
  };
}

const CONTRIBUTED: ReadonlySet<string> = new Set(contributedKinds().map(kindKeyOf));

/** What a server deals with. */
export function serverRoles(
  namespace: string,
): Pick<
  ServerOptions,
  "kinds" | "discoveryOwner" | "networkingOwner" | "asTranslated" | "rememberedRequests" | "settingsToTell" | "ownStatus"
> {
  return {
    kinds: {
      management: managementKinds(),
      published: publishedKinds(),
      discovery: discoveryKinds(),
      registration: KubernetesCluster,
      kindOf,
      isAsked,
      isContributed: (kindKey) => CONTRIBUTED.has(kindKey),
    },
    discoveryOwner: discoveryOwner({ namespace }),
    networkingOwner: networkingOwner(namespace),
    asTranslated,
    rememberedRequests,
    ownStatus: { apiVersion: Settings.apiVersion, kind: Settings.kind, name: "settings", namespace, clusterName: "" },
    settingsToTell: (management, clusterName) =>
      settingsToTell(management.of(Settings).get({ name: "settings", namespace, clusterName: "" }), { namespace, clusterName }),
  };
}
