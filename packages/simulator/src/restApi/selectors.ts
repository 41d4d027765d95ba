import type { AnyResource } from "@isthmus/core";
import { isMembers } from "../apply/json.ts";
import { badRequest } from "./apiError.ts";
import type { ApiResource } from "./resourceTable.ts";

/** Whether an object is selected. */
export type Matcher = (resource: AnyResource) => boolean;

interface Requirement {
  readonly key: string;
  readonly operator: "in" | "notin" | "exists" | "!" | "gt" | "lt";
  readonly values: readonly string[];
}

const REQUIREMENT = /^\s*(?:(!)\s*([^\s!=<>,()]+)|([^\s!=<>,()]+)\s*(?:(==|=|!=|>|<)\s*([^\s,()]*)|(in|notin)\s*\(([^)]*)\))?)\s*(,|$)/;

/** Reads a label selector as it stands in a URL. Throws ApiError `BadRequest`. */
export function labelMatcher(text: string): Matcher {
  if (text.trim() === "") return () => true;
  const requirements: Requirement[] = [];
  let rest = text;
  while (rest !== "") {
    const match = REQUIREMENT.exec(rest);
    if (match === null) throw badRequest(`unable to parse requirement: ${selectorProblem(rest)}`);
    requirements.push(requirementOf(match));
    rest = rest.slice(match[0].length);
  }
  return ({ metadata: { labels = {} } }) => requirements.every((requirement) => holds(requirement, labels));
}

function requirementOf([, not, absent, key = "", operator, value = "", set, list = ""]: RegExpExecArray): Requirement {
  if (not !== undefined) return { key: absent ?? "", operator: "!", values: [] };
  if (set !== undefined) return { key, operator: set as "in" | "notin", values: list.split(",").map((each) => each.trim()) };
  if (operator === undefined) return { key, operator: "exists", values: [] };
  const known = { "=": "in", "==": "in", "!=": "notin", ">": "gt", "<": "lt" } as const;
  return { key, operator: known[operator as keyof typeof known], values: [value] };
}

function holds({ key, operator, values }: Requirement, labels: Readonly<Record<string, string>>): boolean {
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
  switch (operator) {
    case "in":
      return value !== undefined && values.includes(value);
    case "notin":
      return value === undefined || !values.includes(value);
    case "exists":
      return value !== undefined;
    case "!":
      return value === undefined;
    default:
      return value !== undefined && (operator === "gt" ? Number(value) > Number(values[0]) : Number(value) < Number(values[0]));
  }
}

// Source: the field label conversions of Kubernetes' own kinds, pkg/apis/*/v1/conversion.go.
const FIELDS: Readonly<Record<string, readonly string[]>> = {
  "/pods": [
    "spec.nodeName",
    "spec.restartPolicy",
    "spec.schedulerName",
    "spec.serviceAccountName",
    "spec.hostNetwork",
    "status.phase",
    "status.podIP",
    "status.nominatedNodeName",
  ],
  "/events": [
    "involvedObject.kind",
    "involvedObject.namespace",
    "involvedObject.name",
    "involvedObject.uid",
    "involvedObject.apiVersion",
    "involvedObject.resourceVersion",
    "involvedObject.fieldPath",
    "reason",
    "reportingComponent",
    "source",
    "type",
  ],
  "/secrets": ["type"],
  "/namespaces": ["status.phase"],
  "/nodes": ["spec.unschedulable"],
  "/services": ["spec.clusterIP", "spec.type"],
  "/replicationcontrollers": ["status.replicas"],
  "apps/replicasets": ["status.replicas"],
  "batch/jobs": ["status.successful"],
  "certificates.k8s.io/certificatesigningrequests": ["spec.signerName"],
};

/** Reads a field selector. Throws ApiError `BadRequest`, also for a field that objects of this kind are not selected by. */
export function fieldMatcher(text: string, resource: ApiResource): Matcher {
  if (text.trim() === "") return () => true;
  const requirements = text.split(",").map((part) => {
    const match = /^([^=!]+)(==|=|!=)(.*)$/.exec(part);
    if (match === null) throw badRequest(`invalid selector: '${text}'; can't understand '${part}'`);
    const [, field = "", operator, value = ""] = match;
    const known = [
      "metadata.name",
      ...(resource.namespaced ? ["metadata.namespace"] : []),
      ...(FIELDS[`${resource.group}/${resource.plural}`] ?? []),
    ];
    if (!known.includes(field) && !selectable(resource, field)) {
      const isPlain = resource.custom === undefined && known.length === (resource.namespaced ? 2 : 1);
      throw badRequest(
        isPlain
          ? `${JSON.stringify(field)} is not a known field selector: only "metadata.name", "metadata.namespace"`
          : `field label not supported: ${field}`,
      );
    }
    return { path: field.split("."), isEqual: operator !== "!=", value };
  });
  return (object) => requirements.every(({ path, isEqual, value }) => (textAt(object, path) === value) === isEqual);
}

function selectable({ custom }: ApiResource, field: string): boolean {
  const fields = custom?.schema?.["x-selectable"];
  return Array.isArray(fields) && fields.includes(field);
}

function textAt(object: AnyResource, path: readonly string[]): string {
  let value: unknown = object;
  for (const name of path) value = isMembers(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  if (value === undefined || value === null)
    return path[0] === "spec" && (path[1] === "unschedulable" || path[1] === "hostNetwork") ? "false" : "";
  return isMembers(value) ? "" : String(value);
}

function selectorProblem(rest: string): string {
  if (/\b(in|notin)\s*\([^)]*$/.test(rest)) return "found '', expected: ',' or ')'";
  const [, after] = /^[^\s!=<>,()]+\s*(?:==|=|!=)\s*[^\s,()=]*\s*(\S)/.exec(rest) ?? [];
  if (after !== undefined) return `found '${after}', expected: ',' or 'end of string'`;
  return `found '${rest.trim().slice(0, 1)}', expected: !, identifier, or 'end of string'`;
}
