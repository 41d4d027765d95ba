import { type AnyResource, equalJson, isOwnedBy, type Owner, type Resource } from "@isthmus/core";

/** The field manager under which we write. Source: decisions on safety, “server-side apply with field manager `gloo-mesh`”. */
export const FIELD_MANAGER = "gloo-mesh";

/** Whether an object bears the label of one of `owners`. */
export function bearsLabelOf(resource: Resource, owners: readonly Owner[]): boolean {
  return owners.some((owner) => isOwnedBy(resource, owner));
}

/** Whether our field manager has written an object, by its `managedFields` as read from the API server. */
export function isWrittenByUs(resource: Resource): boolean {
  return (resource.metadata.managedFields ?? []).some((entry) => entry["manager"] === FIELD_MANAGER);
}

/** Whether an object of the cluster already says all that is wanted, and in its body nothing else. */
export function alreadySays(live: Resource, wanted: Resource): boolean {
  return (
    holds(live.metadata.labels, wanted.metadata.labels) &&
    holds(live.metadata.annotations, wanted.metadata.annotations) &&
    equalJson(bodyOf(live), bodyOf(wanted))
  );
}

function holds(live: Readonly<Record<string, string>> = {}, wanted: Readonly<Record<string, string>> = {}): boolean {
  return Object.entries(wanted).every(([key, value]) => live[key] === value);
}

function bodyOf(resource: Resource): Record<string, unknown> {
  const { apiVersion: _, kind: __, metadata: ___, status: ____, ...body } = resource as AnyResource;
  return body;
}
