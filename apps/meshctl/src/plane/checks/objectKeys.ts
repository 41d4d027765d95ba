import type { Destination } from "@isthmus/api";
import type { Resource } from "@isthmus/core";

/** `namespace/name` of an object of the management cluster. */
export function objectKey({ metadata: { name, namespace = "" } }: Resource): string {
  return `${namespace}/${name}`;
}

/** The same of a reference; "/" of none, which nothing is called. */
export function refKey({ name = "", namespace = "" }: { readonly name?: string; readonly namespace?: string } = {}): string {
  return `${namespace}/${name}`;
}

/** How many pods there are behind a service. */
export function endpointCount(destination: Destination | undefined): number {
  const addresses = (destination?.spec?.kubeService?.endpointSubsets ?? []).flatMap(({ endpoints = [] }) =>
    endpoints.map(({ ipAddress = "" }) => ipAddress),
  );
  return new Set(addresses).size;
}
