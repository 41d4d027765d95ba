import { hasUserStatus, type KeepingLastAccepted, KubernetesCluster, keepsLastAccepted, keepsLastGood, kindOf } from "@isthmus/api";
import { type AnyResource, equalJson, kindKeyOf, type Resource } from "@isthmus/core";

/**
 * What translation reads of an object: of what users ask, not what was answered in its status, but for what was last in force where that
 * is not its spec; of a cluster's registration only where its agent runs and is reached; and of neither the API server's version. So writing a status is
 * no news for translation.
 */
export function translatedFieldsOf(resource: Resource): Resource {
  if (kindKeyOf(resource) === kindKeyOf(KubernetesCluster)) return withStatus(resource, placeOfAgent(resource as KubernetesCluster));
  const kind = kindOf(resource.apiVersion, resource.kind);
  if (kind === undefined || !hasUserStatus(kind)) return resource;
  return withStatus(resource, keepsLastAccepted(kind) ? lastAcceptedIn(resource as KeepingLastAccepted, keepsLastGood(kind)) : undefined);
}

function placeOfAgent({ status }: KubernetesCluster): object | undefined {
  if (status?.agent === undefined) return undefined;
  const { service } = status.agent;
  const agent = service === undefined ? {} : { service };
  return status.namespace === undefined ? { agent } : { agent, namespace: status.namespace };
}

/**
 * What was last in force; of what the spec says itself only that it was. Of a spec that came in between and is not in the status nobody
 * knows whether it was in force: of what keeps callers out nothing is known then, as what was in force before could be wider.
 */
function lastAcceptedIn({ metadata: { generation }, spec, status }: KeepingLastAccepted, isClosing: boolean): object | undefined {
  const { lastAccepted, observedGeneration = 0 } = status ?? {};
  if (lastAccepted?.spec === undefined) return undefined;
  // Server-side apply leaves empty members of what is written no more: they are no spec that was accepted.
  if (generation !== undefined && lastAccepted.generation === undefined) return undefined;
  if (equalJson(lastAccepted.spec, spec ?? {})) return { lastAccepted: {} };
  return isClosing && generation !== undefined && observedGeneration < generation - 1 ? undefined : { lastAccepted };
}

function withStatus(resource: Resource, read: object | undefined): Resource {
  const { status: _, metadata, ...rest } = resource as AnyResource;
  const { resourceVersion: __, ...named } = metadata;
  return { ...rest, metadata: named, ...(read === undefined ? {} : { status: read }) };
}
