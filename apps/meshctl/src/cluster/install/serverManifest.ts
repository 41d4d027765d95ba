import { type AnyResource, isClusterName, type JsonObject, UsageError } from "@isthmus/core";
import manifest from "../../gen/serverManifest.json";
import { inApplyOrder, placedObjects, RENDERED_NAMESPACE } from "../renderedObjects.ts";

/** Names of the Deployments of the manifest. */
export const SERVER = "gloo-mesh-mgmt-server";
export const REDIS = "gloo-mesh-redis";
export const CONSOLE = "gloo-mesh-ui";

/** The objects of the chart of the management server with its defaults (deploy/manifests), in the order in which they are applied. Throws UsageError. */
export function serverObjects(namespace: string): readonly AnyResource[] {
  if (!isClusterName(namespace)) throw new UsageError(`--namespace ${namespace}: is not a valid namespace name`);
  const values = new Map([[redisIn(RENDERED_NAMESPACE), redisIn(namespace)]]);
  return inApplyOrder(
    placedObjects(manifest as unknown as readonly AnyResource[], { namespace, values }).map((object) => named(object, namespace)),
  );
}

function redisIn(namespace: string): string {
  return `${REDIS}.${namespace}:6379`;
}

/** ClusterRoles of two management planes are apart by their namespaces. */
function named(object: AnyResource, namespace: string): AnyResource {
  const rendered = `${SERVER}-${RENDERED_NAMESPACE}`;
  const renamed = <T extends { readonly name: string }>(it: T): T =>
    it.name === rendered ? { ...it, name: `${SERVER}-${namespace}` } : it;
  const { roleRef } = object as { readonly roleRef?: JsonObject & { readonly name: string } };
  return { ...object, metadata: renamed(object.metadata), ...(roleRef === undefined ? {} : { roleRef: renamed(roleRef) }) };
}
