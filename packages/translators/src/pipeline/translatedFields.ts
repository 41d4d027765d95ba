import {
  AccessLogRecord,
  AccessPolicy,
  hasUserStatus,
  KubernetesCluster,
  kindOf,
  ServiceDependency,
  VirtualDestination,
  WasmDeployment,
} from "@isthmus/api";
import { type AnyResource, equalJson, kindKeyOf, type Resource } from "@isthmus/core";

/**
 * What translation reads of an object: of what users ask, not what was answered in its status, but for what was last in force of an
 * AccessPolicy, VirtualDestination, ServiceDependency, AccessLogRecord or WasmDeployment where that is not its spec; of a cluster's registration only where its agent runs; and of neither the API server's
 * version. So writing a status is no news for translation.
 */
export function translatedFieldsOf(resource: Resource): Resource {
  if (kindKeyOf(resource) === kindKeyOf(KubernetesCluster)) return withStatus(resource, placeOfAgent(resource as KubernetesCluster));
  if (kindKeyOf(resource) === kindKeyOf(AccessPolicy)) return withStatus(resource, lastAcceptedIn(resource as AccessPolicy));
  if (kindKeyOf(resource) === kindKeyOf(VirtualDestination)) return withStatus(resource, lastAcceptedIn(resource as VirtualDestination));
  if (kindKeyOf(resource) === kindKeyOf(ServiceDependency)) return withStatus(resource, lastAcceptedIn(resource as ServiceDependency));
  if (kindKeyOf(resource) === kindKeyOf(AccessLogRecord)) return withStatus(resource, lastAcceptedIn(resource as AccessLogRecord));
  if (kindKeyOf(resource) === kindKeyOf(WasmDeployment)) return withStatus(resource, lastAcceptedIn(resource as WasmDeployment));
  const kind = kindOf(resource.apiVersion, resource.kind);
  return kind !== undefined && hasUserStatus(kind) ? withStatus(resource, undefined) : resource;
}

function placeOfAgent({ status }: KubernetesCluster): object | undefined {
  if (status?.agent === undefined) return undefined;
  return status.namespace === undefined ? { agent: {} } : { agent: {}, namespace: status.namespace };
}

/**
 * What was last in force; of what the spec says itself only that it was. Of a spec that came in between and is not in the status nobody
 * knows whether it was in force: then nothing is known, as what was in force before could be wider.
 */
function lastAcceptedIn({
  metadata: { generation },
  spec,
  status,
}: AccessLogRecord | AccessPolicy | ServiceDependency | VirtualDestination | WasmDeployment): object | undefined {
  const { lastAccepted, observedGeneration = 0 } = status ?? {};
  if (lastAccepted?.spec === undefined) return undefined;
  if (equalJson(lastAccepted.spec, spec ?? {})) return { lastAccepted: {} };
  return generation !== undefined && observedGeneration < generation - 1 ? undefined : { lastAccepted };
}

function withStatus(resource: Resource, read: object | undefined): Resource {
  const { status: _, metadata, ...rest } = resource as AnyResource;
  const { resourceVersion: __, ...named } = metadata;
  return { ...rest, metadata: named, ...(read === undefined ? {} : { status: read }) };
}
