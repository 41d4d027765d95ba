import { type AnyResource, equalJson, isOwnedBy, type JsonObject, type Owner, type Resource } from "@isthmus/core";

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

/** The field managers of an object beside ours, each once, by its `managedFields` as read from the API server. */
export function otherManagersOf(resource: Resource | undefined): readonly string[] {
  const managers = (resource?.metadata.managedFields ?? []).flatMap(({ manager }) => (typeof manager === "string" ? [manager] : []));
  return [...new Set(managers)].filter((manager) => manager !== FIELD_MANAGER);
}

/**
 * An object that we have made, with what we set then as what we apply: only what a manager has applied goes when it applies it no
 * longer. Undefined when there is nothing of the kind. `existing` is as read from the API server.
 * Source: client-go's csaupgrade, for those who come from updates to server-side apply.
 */
export function asAppliedByUs(existing: Resource): Resource | undefined {
  const entries = existing.metadata.managedFields ?? [];
  const ours = entries.filter((entry) => entry["manager"] === FIELD_MANAGER && entry["subresource"] === undefined);
  const made = ours.find(({ operation }) => operation === "Update");
  // Fields are named as one version of the kind has them: claims in two versions can't be joined.
  if (made === undefined || ours.some(({ apiVersion }) => apiVersion !== made["apiVersion"])) return undefined;
  const fieldsV1 = ours.map((entry) => (entry["fieldsV1"] ?? {}) as JsonObject).reduce(joined);
  const managedFields = [...entries.filter((entry) => !ours.includes(entry)), { ...made, operation: "Apply", fieldsV1 }];
  return { ...existing, metadata: { ...existing.metadata, managedFields } };
}

/** The fields of both sets, in the form of `fieldsV1`. */
function joined(a: JsonObject, b: JsonObject): JsonObject {
  const fields: Record<string, JsonObject> = {};
  for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) {
    fields[key] = joined((a[key] ?? {}) as JsonObject, (b[key] ?? {}) as JsonObject);
  }
  return fields;
}

/** Whether an object of the cluster already says all that is desired, and in its body nothing else. */
export function alreadyApplied(live: Resource, wanted: Resource): boolean {
  return (
    holds(live.metadata.labels, wanted.metadata.labels) &&
    holds(live.metadata.annotations, wanted.metadata.annotations) &&
    equalJson(bodyOf(live), bodyOf(wanted))
  );
}

/** Holds the body of an object of the cluster that `alreadyApplied` what is desired once, in memory: it is the desired one from then on. */
export function shareBody(live: Resource, wanted: Resource): void {
  Object.assign(live, bodyOf(wanted));
}

function holds(live: Readonly<Record<string, string>> = {}, wanted: Readonly<Record<string, string>> = {}): boolean {
  return Object.entries(wanted).every(([key, value]) => live[key] === value);
}

function bodyOf(resource: Resource): Record<string, unknown> {
  const { apiVersion: _, kind: __, metadata: ___, status: ____, ...body } = resource as AnyResource;
  return body;
}
