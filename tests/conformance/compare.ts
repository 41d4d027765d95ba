import { type AnyResource, kindKeyOf } from "@isthmus/core";
import { isSameDuration, normal } from "./normal.ts";

/** One place where two sets of objects differ. */
export interface Difference {
  /** The object, then the fields down to the value: `ServiceEntry a.b in c: spec.ports[0].name`. */
  readonly path: string;
  readonly expected: unknown;
  readonly actual: unknown;
}

/** Compares objects, each by what it says: any version of a group is equal, and our additions don't count. */
export function compareObjects(expected: readonly AnyResource[], actual: readonly AnyResource[]): readonly Difference[] {
  const [left, right] = [byKey(expected), byKey(actual)];
  const keys = [...new Set([...left.keys(), ...right.keys()])].sort();
  return keys.flatMap((key) => {
    const [wanted, given] = [left.get(key), right.get(key)];
    if (wanted === undefined) return isAddedStatus(given) ? [] : [{ path: key, expected: undefined, actual: "this object" }];
    if (given === undefined) return [{ path: key, expected: "this object", actual: undefined }];
    return differences(`${key}:`, comparable(wanted), comparable(given));
  });
}

/** A status of ours on an object that has none in the published product. */
function isAddedStatus(resource: AnyResource | undefined): boolean {
  if (resource === undefined || !isStatusOnly(resource)) return false;
  const { status } = comparable(resource) as { readonly status?: { readonly state?: unknown } };
  return status === undefined || (Object.keys(status).join() === "state" && status.state === "ACCEPTED");
}

function byKey(resources: readonly AnyResource[]): ReadonlyMap<string, AnyResource> {
  return new Map(resources.map((resource) => [keyOf(resource), resource]));
}

function keyOf(resource: AnyResource): string {
  const { name, namespace = "", clusterName = "" } = resource.metadata;
  const status = isStatusOnly(resource) ? "status of " : "";
  const [, kind = ""] = kindKeyOf(resource).split("/");
  return `${status}${kind} ${name}.${namespace}${clusterName === "" ? "" : ` in ${clusterName}`}`;
}

function isStatusOnly(resource: AnyResource): boolean {
  return "status" in resource && !("spec" in resource);
}

function comparable({ apiVersion, kind, ...content }: AnyResource): unknown {
  return { group: kindKeyOf({ apiVersion, kind }), ...(normal(content, { kind, path: [] }) as object) };
}

function differences(path: string, expected: unknown, actual: unknown): readonly Difference[] {
  if (expected === actual || isSameDuration(expected, actual)) return [];
  if (Array.isArray(expected) && Array.isArray(actual)) {
    const length = Math.max(expected.length, actual.length);
    return Array.from({ length }, (_, i) => differences(`${path}[${i}]`, expected[i], actual[i])).flat();
  }
  if (isObject(expected) && isObject(actual)) {
    const fields = [...new Set([...Object.keys(expected), ...Object.keys(actual)])].sort();
    return fields
      .filter((field) => !isAddition(path, field, expected[field], actual[field]))
      .flatMap((field) => {
        return differences(`${path}${path.endsWith(":") ? " " : "."}${field}`, expected[field], actual[field]);
      });
  }
  return [{ path, expected, actual }];
}

const TLS_LABEL = "security.istio.io/tlsMode";

/** Labels of ours on an object, and the one that makes endpoints speak TLS, by which today's Istio works (decisions.md, 3). */
function isAddition(path: string, field: string, expected: unknown, actual: unknown): boolean {
  if (expected !== undefined) return false;
  if (path.endsWith(": metadata.labels") || (path.endsWith(": metadata") && field === "labels")) return true;
  if (!path.includes("endpoints[")) return false;
  return field === TLS_LABEL || (field === "labels" && isObject(actual) && Object.keys(actual).join() === TLS_LABEL);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
