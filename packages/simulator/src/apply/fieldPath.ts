import { isBuiltIn } from "../kinds.ts";
import { isMembers } from "./json.ts";

/**
 * Names a field of an object as `managedFields` does, one segment per line: `f:spec`, `k:{"name":"istiod"}` for an element
 * of a keyed list, `v:"…"` for an element of a set.
 * Source: sigs.k8s.io/structured-merge-diff, fieldpath.
 */
export type FieldPath = string;

/** What separates the segments of a path; neither names of fields nor JSON strings hold it. */
export const SEPARATOR = "\n";

/** What is known of the lists and maps of a kind; paths have field names only, `spec.template.spec.containers.env`. */
export interface FieldTypes {
  /** Undefined for a list that is replaced as a whole. */
  listType(path: string): ListType | undefined;
  isAtomicMap(path: string): boolean;
}

/** Where in an object of which kind a value stands; `path` has field names only, `spec.template.spec.containers.env`. */
export interface Position {
  readonly kindKey: string;
  readonly path: string;
  /** Default: what the tables of this file say. */
  readonly types?: FieldTypes | undefined;
}

/** One part of a value that can be owned apart from its siblings. */
export interface Part {
  readonly value: unknown;
  readonly position: Position;
  /** Whether it is an element of a keyed list, which is owned beside its fields. */
  readonly isElement: boolean;
}

/** A member that tells the elements of a list apart. */
export interface Key {
  readonly name: string;
  readonly fallback?: unknown;
}
export type ListType = "set" | readonly Key[];

const name: readonly Key[] = [{ name: "name" }];
const protocol: Key = { name: "protocol", fallback: "TCP" };

// Every other list is replaced as a whole. Source: x-kubernetes-list-type in the OpenAPI document of Kubernetes 1.34.
const ALL_KINDS: Readonly<Record<string, ListType>> = {
  "metadata.finalizers": "set",
  "metadata.ownerReferences": [{ name: "uid" }],
  "status.conditions": [{ name: "type" }],
};
const POD_SPEC: Readonly<Record<string, ListType>> = Object.fromEntries(
  ["containers", "initContainers", "ephemeralContainers"].flatMap((list): [string, ListType][] => [
    [`spec.${list}`, name],
    [`spec.${list}.env`, name],
    [`spec.${list}.ports`, [{ name: "containerPort" }, protocol]],
    [`spec.${list}.volumeMounts`, [{ name: "mountPath" }]],
  ]),
);
const BUILT_IN_KINDS: Readonly<Record<string, ListType>> = {
  ...POD_SPEC,
  "spec.volumes": name,
  "spec.imagePullSecrets": name,
  "spec.hostAliases": [{ name: "ip" }],
  "status.podIPs": [{ name: "ip" }],
  "status.hostIPs": [{ name: "ip" }],
};
const ONE_KIND: Readonly<Record<string, ListType>> = {
  "/Service spec.ports": [{ name: "port" }, protocol],
  "/Node status.addresses": [{ name: "type" }],
  "/ServiceAccount secrets": name,
  "networking.istio.io/ServiceEntry spec.ports": name,
};
const ATOMIC_MAPS: ReadonlySet<string> = new Set(["spec.selector", "spec.nodeSelector"]);
// Of our kinds. Source: x-kubernetes-map-type in deploy/crds.
const OUR_ATOMIC_MAPS: ReadonlySet<string> = new Set(["status.lastAccepted"]);
const TEMPLATE = /^(spec\.jobTemplate\.)?spec\.template\./;

function listTypeOf({ kindKey, path, types }: Position): ListType | undefined {
  if (types !== undefined) return types.listType(path);
  const always = own(ALL_KINDS, path) ?? own(ONE_KIND, `${kindKey} ${path}`);
  if (always !== undefined || !isBuiltIn(kindKey)) return always;
  return own(BUILT_IN_KINDS, path.replace(TEMPLATE, ""));
}

/** A field of an object may have the name of a member that every object has, such as "constructor". */
function own(types: Readonly<Record<string, ListType>>, path: string): ListType | undefined {
  return Object.hasOwn(types, path) ? types[path] : undefined;
}

function isAtomicMap({ kindKey, path, types }: Position): boolean {
  if (types !== undefined) return types.isAtomicMap(path);
  return isBuiltIn(kindKey) ? ATOMIC_MAPS.has(path.replace(TEMPLATE, "")) : OUR_ATOMIC_MAPS.has(path);
}

/** The parts of a value by path segment; undefined when it is owned as a whole. */
export function partsOf(value: unknown, position: Position): ReadonlyMap<string, Part> | undefined {
  if (Array.isArray(value)) {
    const type = listTypeOf(position);
    return type === undefined ? undefined : elementsOf(value, type, position);
  }
  if (!isMembers(value) || isAtomicMap(position)) return undefined;
  const parts = new Map<string, Part>();
  const prefix = position.path === "" ? "" : `${position.path}.`;
  for (const field in value) {
    if (value[field] === undefined) continue;
    parts.set(`f:${field}`, {
      value: value[field],
      position: { ...position, path: prefix + field },
      isElement: false,
    });
  }
  return parts;
}

function elementsOf(list: readonly unknown[], type: ListType, position: Position): ReadonlyMap<string, Part> | undefined {
  const parts = new Map<string, Part>();
  for (const value of list) {
    const segment = type === "set" ? `v:${JSON.stringify(value)}` : keySegment(value, type);
    // A list that breaks its own rule (no key, or one key twice) cannot be taken apart.
    if (segment === undefined || parts.has(segment)) return undefined;
    parts.set(segment, { value, position, isElement: type !== "set" });
  }
  return parts;
}

function keySegment(element: unknown, keys: readonly Key[]): string | undefined {
  if (!isMembers(element)) return undefined;
  const values: Record<string, unknown> = {};
  for (const { name, fallback } of keys) {
    const value = element[name] ?? fallback;
    if (value === undefined) return undefined;
    values[name] = value;
  }
  return `k:${JSON.stringify(values)}`;
}

/** A path as messages name it: `spec.template.spec.containers[name="istiod"].image`. */
export function formatPath(path: FieldPath): string {
  let text = "";
  for (const segment of path.split(SEPARATOR)) {
    const rest = segment.slice(2);
    if (segment.startsWith("f:")) text += text === "" ? rest : `.${rest}`;
    else if (segment.startsWith("v:")) text += `[=${rest}]`;
    else text += `[${formatKey(JSON.parse(rest) as Record<string, unknown>)}]`;
  }
  return text;
}

function formatKey(key: Readonly<Record<string, unknown>>): string {
  return Object.entries(key)
    .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
    .join(",");
}
