import { isAsked, KubernetesCluster, kindOf } from "@isthmus/api";
import { type AnyResource, kindKeyOf, type Resource } from "@isthmus/core";

/**
 * What translation reads of an object in the management cluster: of what users ask, not what was answered in its status; of a cluster's
 * registration only where its agent runs; and of neither the API server's version. So writing a status is no news for translation.
 */
export function asTranslated(resource: Resource): Resource {
  if (kindKeyOf(resource) === kindKeyOf(KubernetesCluster)) return withStatus(resource, placeOfAgent(resource as KubernetesCluster));
  const kind = kindOf(resource.apiVersion, resource.kind);
  return kind !== undefined && isAsked(kind) ? withStatus(resource, undefined) : resource;
}

function placeOfAgent({ status }: KubernetesCluster): object | undefined {
  if (status?.agent === undefined) return undefined;
  return status.namespace === undefined ? { agent: {} } : { agent: {}, namespace: status.namespace };
}

function withStatus(resource: Resource, read: object | undefined): Resource {
  const { status: _, metadata, ...rest } = resource as AnyResource;
  const { resourceVersion: __, ...named } = metadata;
  return { ...rest, metadata: named, ...(read === undefined ? {} : { status: read }) };
}
