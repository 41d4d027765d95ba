import { managedFieldsOf } from "../apply/fieldManagers.ts";
import type { Members } from "../apply/json.ts";
import { contentOf, serverMetadataOf } from "../object.ts";
import type { Stored } from "../store.ts";
import { defaulted } from "./custom/structural.ts";
import type { ApiResource } from "./resourceTable.ts";
import { decodeAs } from "./types/goDecode.ts";

/** An object as answers show it: built-in kinds in the form of their structs, all others with their members in order. */
export function rendered(resource: ApiResource, { resource: object, managers }: Stored): Members {
  const { clusterName: _, ...server } = serverMetadataOf(object) as Members;
  const { metadata: written = {}, ...content } = contentOf(object);
  const managed = managers.length === 0 ? {} : { managedFields: managedFieldsOf(managers) };
  const whole = { kind: resource.kind, apiVersion: resource.apiVersion, metadata: { ...server, ...written, ...managed }, ...content };
  if (resource.struct !== undefined) return decodeAs(resource.struct, whole).value;
  const { schema } = resource.custom ?? {};
  // Defaults that the definition has got since hold for what was stored before.
  const completed = schema === undefined ? whole : (defaulted(schema, whole) as Members);
  return inOrder({
    ...completed,
    metadata: inOrder({ ...whole.metadata, ...(managers.length === 0 ? {} : { managedFields: managedFieldsOf(managers).map(inOrder) }) }),
  });
}

/** Members in the order of their names, as Go writes maps. */
function inOrder(members: Members): Members {
  return Object.fromEntries(Object.entries(members).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The metadata of an object alone. */
export function metadataOnly(object: Members): Members {
  return { kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1", metadata: object["metadata"] };
}
