import type { Members } from "../../apply/json.ts";
import { metadataOnly } from "../rendering.ts";
import type { ApiResource } from "../resourceTable.ts";
import { ageSince } from "./ages.ts";
import { builtInCells } from "./builtInRows.ts";
import { builtInColumns } from "./columns.ts";
import { valueAtPath } from "./jsonPaths.ts";

/** How much of each object stands beside its cells. */
export type Inclusion = "None" | "Metadata" | "Object";

/** Objects as a Table, as kubectl prints them. */
export function tableOf(
  resource: ApiResource,
  { items, metadata }: { readonly items: readonly Members[]; readonly metadata: Members },
  { include, now }: { readonly include: Inclusion; readonly now: number },
): Members {
  const columns = resource.custom === undefined ? builtInColumns(resource.group, resource.plural) : customColumns(resource);
  const rows = items.map((object) => ({
    cells: resource.custom === undefined ? builtInCells(resource.group, resource.plural, object, now) : customCells(resource, object, now),
    ...conditionsOf(resource, object),
    object: include === "None" ? null : include === "Object" ? object : metadataOnly(object),
  }));
  return { kind: "Table", apiVersion: "meta.k8s.io/v1", metadata, columnDefinitions: columns, rows };
}

function conditionsOf({ group, plural }: ApiResource, object: Members): Members {
  const phase = plural === "pods" && group === "" ? (object["status"] as { readonly phase?: string } | undefined)?.phase : undefined;
  if (phase !== "Succeeded" && phase !== "Failed") return {};
  const message = phase === "Succeeded" ? "The pod has completed successfully." : "The pod failed.";
  return { conditions: [{ type: "Completed", status: "True", reason: phase, message }] };
}

const NAME = { name: "Name", type: "string", format: "name", description: "", priority: 0 };
const AGE = { name: "Age", type: "date", format: "", description: "", priority: 0 };

function customColumns({ custom }: ApiResource): readonly Members[] {
  const columns = custom?.columns ?? [];
  if (columns.length === 0) return [NAME, AGE];
  return [
    NAME,
    ...columns.map(({ name, type, format = "", description = "", priority = 0 }) => ({ name, type, format, description, priority })),
  ];
}

function customCells({ custom }: ApiResource, object: Members, now: number): readonly unknown[] {
  const { name, creationTimestamp } = object["metadata"] as Members;
  const columns = custom?.columns ?? [];
  if (columns.length === 0) return [name, ageSince(creationTimestamp, now)];
  return [name, ...columns.map((column) => cellOf(column, object, now))];
}

function cellOf({ type, jsonPath }: Members, object: Members, now: number): unknown {
  const values = valueAtPath(object, String(jsonPath));
  const [value] = values;
  if (value === undefined || value === null) return null;
  switch (type) {
    case "date":
      return ageSince(value, now);
    case "integer":
      return typeof value === "number" ? Math.trunc(value) : null;
    case "number":
      return typeof value === "number" ? value : null;
    case "boolean":
      return typeof value === "boolean" ? value : null;
    default:
      return values.map((each) => (typeof each === "object" ? JSON.stringify(each) : String(each))).join(",");
  }
}
