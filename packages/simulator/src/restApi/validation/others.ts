import { equalJson } from "@isthmus/core";
import { isMembers, type Members, membersAt } from "../../apply/json.ts";
import type { FieldError } from "../apiError.ts";
import { forbidden, invalid, required, tooLong, unsupported } from "../fieldErrors.ts";
import { configKeyProblems } from "./names.ts";
import { listIn, oneOf } from "./podSpec.ts";
import type { Checked } from "./workloads.ts";

const MOST_DATA = 1024 * 1024;

/** Of ConfigMaps and Secrets. */
export function dataErrors({ object, before }: Checked): readonly FieldError[] {
  const errors: FieldError[] = [];
  const isSecret = object["kind"] === "Secret";
  if (before?.["immutable"] === true) {
    if (object["immutable"] !== true) errors.push(forbidden("immutable", "field is immutable when `immutable` is set"));
    for (const field of ["data", "binaryData"]) {
      if (!equalJson(before[field], object[field])) errors.push(forbidden(field, "field is immutable when `immutable` is set"));
    }
  }
  const data = membersAt(object, "data");
  const binary = membersAt(object, "binaryData");
  let size = 0;
  for (const [field, values] of [
    ["data", data],
    ["binaryData", binary],
  ] as const) {
    for (const [key, value] of Object.entries(values)) {
      errors.push(...configKeyProblems(key).map((problem) => invalid(`${field}[${key}]`, key, problem)));
      size += Buffer.byteLength(String(value), isSecret || field === "binaryData" ? "base64" : "utf8");
    }
  }
  for (const key of Object.keys(data))
    if (Object.hasOwn(binary, key)) errors.push(invalid(`data[${key}]`, key, "duplicate of key present in binaryData"));
  if (size > MOST_DATA) errors.push(tooLong(isSecret ? "data" : "", MOST_DATA));
  if (!isSecret) return errors;
  const type = object["type"];
  for (const key of REQUIRED_KEYS[String(type)] ?? []) if (data[key] === undefined) errors.push(required(`data[${key}]`));
  if (before !== undefined && before["type"] !== type) errors.push(invalid("type", type, "field is immutable"));
  return errors;
}

const REQUIRED_KEYS: Readonly<Record<string, readonly string[]>> = {
  "kubernetes.io/tls": ["tls.crt", "tls.key"],
  "kubernetes.io/dockerconfigjson": [".dockerconfigjson"],
  "kubernetes.io/dockercfg": [".dockercfg"],
};

/** Of Roles and ClusterRoles. */
export function roleErrors({ object }: Checked): readonly FieldError[] {
  return listIn(object, "rules").flatMap((rule, i) => {
    const at = `rules[${i}]`;
    const count = (field: string) => (Array.isArray(rule[field]) ? rule[field].length : 0);
    const errors: FieldError[] = [];
    if (count("verbs") === 0) errors.push(required(`${at}.verbs`, "verbs must contain at least one value"));
    if (count("nonResourceURLs") > 0) {
      if (object["kind"] === "Role")
        errors.push(invalid(`${at}.nonResourceURLs`, rule["nonResourceURLs"], "namespaced rules cannot apply to non-resource URLs"));
      return errors;
    }
    if (count("apiGroups") === 0) errors.push(required(`${at}.apiGroups`, "resource rules must supply at least one api group"));
    if (count("resources") === 0) errors.push(required(`${at}.resources`, "resource rules must supply at least one resource"));
    return errors;
  });
}

/** Of RoleBindings and ClusterRoleBindings. */
export function bindingErrors({ object, before }: Checked): readonly FieldError[] {
  const errors: FieldError[] = [];
  const ref = membersAt(object, "roleRef");
  const kinds = object["kind"] === "RoleBinding" ? ["Role", "ClusterRole"] : ["ClusterRole"];
  if (!kinds.includes(String(ref["kind"]))) errors.push(unsupported("roleRef.kind", ref["kind"] ?? "", kinds));
  if ((ref["name"] ?? "") === "") errors.push(required("roleRef.name"));
  listIn(object, "subjects").forEach((subject, i) => {
    const at = `subjects[${i}]`;
    if ((subject["name"] ?? "") === "") errors.push(required(`${at}.name`));
    const { kind } = subject;
    if (kind === "ServiceAccount" && (subject["namespace"] ?? "") === "") errors.push(required(`${at}.namespace`));
    if (!["ServiceAccount", "User", "Group"].includes(String(kind)))
      errors.push(unsupported(`${at}.kind`, kind ?? "", ["ServiceAccount", "User", "Group"]));
  });
  if (before !== undefined && !equalJson(membersAt(before, "roleRef"), ref))
    errors.push(invalid("roleRef", { APIGroup: ref["apiGroup"], Kind: ref["kind"], Name: ref["name"] }, "cannot change roleRef"));
  return errors;
}

/** Of NetworkPolicies. */
export function networkPolicyErrors({ object }: Checked): readonly FieldError[] {
  const types = membersAt(object, "spec")["policyTypes"];
  return Array.isArray(types) ? types.flatMap((type, i) => oneOf(type, `spec.policyTypes[${i}]`, ["Egress", "Ingress"])) : [];
}

/** Of Namespaces: their finalizers go by a request of their own. */
export function priorityClassErrors({ object, before }: Checked): readonly FieldError[] {
  if (before === undefined || before["value"] === object["value"]) return [];
  return [forbidden("value", "may not be changed in an update.")];
}

/** Of claims of volumes. */
export function storageErrors({ object, before }: Checked): readonly FieldError[] {
  const spec = membersAt(object, "spec");
  const errors: FieldError[] = [];
  if (!Array.isArray(spec["accessModes"]) || spec["accessModes"].length === 0)
    errors.push(required("spec.accessModes", "at least 1 access mode is required"));
  const requests: Members = membersAt(membersAt(spec, "resources"), "requests");
  if (requests["storage"] === undefined) errors.push(required("spec.resources[storage]"));
  if (before === undefined) return errors;
  const fixed = (each: Members) => ({
    ...each,
    resources: undefined,
    volumeName: isMembers(each) ? undefined : undefined,
    volumeAttributesClassName: undefined,
  });
  if (!equalJson(fixed(membersAt(before, "spec")), fixed(spec))) {
    errors.push(
      forbidden("spec", "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims"),
    );
  }
  return errors;
}

/** Of configurations of webhooks. */
export function webhookErrors({ object }: Checked): readonly FieldError[] {
  return listIn(object, "webhooks").flatMap((webhook, i) => {
    const at = `webhooks[${i}]`;
    const errors: FieldError[] = [];
    const name = String(webhook["name"] ?? "");
    if (name === "") errors.push(required(`${at}.name`));
    else if (name.split(".").length < 3)
      errors.push(invalid(`${at}.name`, name, "should be a domain with at least three segments separated by dots"));
    if ((webhook["sideEffects"] ?? "") === "") errors.push(required(`${at}.sideEffects`, "must specify one of None, NoneOnDryRun"));
    const { url, service } = membersAt(webhook, "clientConfig");
    const isUrl = url !== undefined && url !== null;
    if (isUrl === isMembers(service)) errors.push(required(`${at}.clientConfig`, "exactly one of url or service is required"));
    const versions = webhook["admissionReviewVersions"];
    if (!Array.isArray(versions) || versions.length === 0)
      errors.push(required(`${at}.admissionReviewVersions`, "must specify one of v1, v1beta1"));
    return errors;
  });
}
