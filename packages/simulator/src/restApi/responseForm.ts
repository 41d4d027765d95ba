import type { Members } from "../apply/json.ts";
import { ApiError } from "./apiError.ts";
import { metadataOnly } from "./rendering.ts";
import type { ApiResource } from "./resourceTable.ts";
import { type Inclusion, tableOf } from "./tables/table.ts";

/** In which form a reader wants objects. */
export type Form = { readonly form: "object" } | { readonly form: "metadata" } | { readonly form: "table"; readonly include: Inclusion };

/** Reads what a reader accepts. Throws ApiError `NotAcceptable`. */
export function formOf(accept: string, query: URLSearchParams): Form {
  if (accept.trim() === "") return { form: "object" };
  for (const part of accept.split(",")) {
    const [type = "", ...parameters] = part.split(";").map((each) => each.trim());
    if (type !== "application/json" && type !== "application/yaml" && type !== "*/*" && type !== "application/*") continue;
    const as = parameters.find((each) => each.startsWith("as="))?.slice("as=".length);
    if (as === undefined) return { form: "object" };
    if (as === "Table") return { form: "table", include: inclusionOf(query.get("includeObject")) };
    if (as === "PartialObjectMetadata" || as === "PartialObjectMetadataList") return { form: "metadata" };
  }
  const all = [
    "application/json",
    "application/yaml",
    "application/vnd.kubernetes.protobuf",
    "application/json;stream=watch",
    "application/vnd.kubernetes.protobuf;stream=watch",
  ];
  throw new ApiError(406, "NotAcceptable", `406: Not Acceptable\n\nAvailable representations: ${all.join(", ")}`, {});
}

function inclusionOf(text: string | null): Inclusion {
  return text === "None" || text === "Object" ? text : "Metadata";
}

export interface ShownList {
  readonly items: readonly Members[];
  readonly metadata: Members;
  /** One object and no list. */
  readonly isOne?: boolean;
}

/** Objects in a form. */
export function shownIn(form: Form, resource: ApiResource, { items, metadata, isOne = false }: ShownList, now: number): Members {
  if (form.form === "table") return tableOf(resource, { items, metadata }, { include: form.include, now });
  if (isOne) return form.form === "metadata" ? metadataOnly(items[0] ?? {}) : (items[0] ?? {});
  if (form.form === "metadata") {
    return { kind: "PartialObjectMetadataList", apiVersion: "meta.k8s.io/v1", metadata, items: items.map(metadataOnly) };
  }
  const { listKind: kind, apiVersion } = resource;
  // Objects of built-in kinds do not say of which kind they are within a list.
  if (resource.struct === undefined) return { apiVersion, items, kind, metadata: { continue: "", ...metadata } };
  return { kind, apiVersion, metadata, items: items.map(({ kind: _, apiVersion: __, ...object }) => object) };
}
