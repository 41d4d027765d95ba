import { type AnyResource, InvalidResource, type Kind } from "@isthmus/core";

/** A kind whose objects are malformed when `data` is not an object. */
export const ConfigMap: Kind<AnyResource> = {
  apiVersion: "v1",
  kind: "ConfigMap",
  plural: "configmaps",
  namespaced: true,
  versions: ["v1"],
  parse(input) {
    const resource = input as AnyResource;
    const { data = {} } = resource;
    if (typeof data !== "object") throw new InvalidResource(`ConfigMap ${resource.metadata.name}`, "data", "must be an object");
    return resource;
  },
};

export function configMap(name: string, resourceVersion: string, data: unknown = {}): AnyResource {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace: "default", resourceVersion }, data };
}
