import {
  agentKinds,
  deliveredKinds,
  discoveryKinds,
  isAsked,
  KubernetesCluster,
  kindOf,
  managementKinds,
  publishedKinds,
} from "@isthmus/api";
import { discoveryOwner, networkingOwner } from "@isthmus/translators";
import type { AgentOptions } from "./agent/agent.ts";
import type { ServerOptions } from "./server/server.ts";

/** Topic of the server's question that lets go what an agent holds back; its body is empty. */
export const RESUME_DELETES_TOPIC = "resume-deletes";

/** What an agent deals with; `namespace` is that of the management plane, whose name is in our owner labels. */
export function agentRoles(namespace: string): Pick<AgentOptions, "sentKinds" | "writtenKinds" | "owners" | "discoveryKinds"> {
  return {
    sentKinds: agentKinds(),
    writtenKinds: deliveredKinds(),
    owners: [networkingOwner(namespace)],
    discoveryKinds: discoveryKinds(),
  };
}

/** What a server deals with. */
export function serverRoles(namespace: string): Pick<ServerOptions, "kinds" | "discoveryOwner" | "networkingOwner"> {
  return {
    kinds: {
      management: managementKinds(),
      published: publishedKinds(),
      discovery: discoveryKinds(),
      registration: KubernetesCluster,
      kindOf,
      isAsked,
    },
    discoveryOwner: discoveryOwner({ namespace }),
    networkingOwner: networkingOwner(namespace),
  };
}
