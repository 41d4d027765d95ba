import { isMembers, type Members } from "../../apply/json.ts";
import type { FieldError } from "../apiError.ts";
import { forbidden, invalid, required } from "../fieldErrors.ts";
import {
  label1035Problems,
  labelProblems,
  labelValueProblems,
  pathSegmentProblems,
  qualifiedNameProblems,
  subdomainProblems,
} from "./names.ts";

const RULES: Readonly<Record<string, (name: string) => readonly string[]>> = {
  "/Namespace": labelProblems,
  "/Service": label1035Problems,
  "rbac.authorization.k8s.io/Role": pathSegmentProblems,
  "rbac.authorization.k8s.io/RoleBinding": pathSegmentProblems,
  "rbac.authorization.k8s.io/ClusterRole": pathSegmentProblems,
  "rbac.authorization.k8s.io/ClusterRoleBinding": pathSegmentProblems,
};

const STANDARD_FINALIZERS: ReadonlySet<string> = new Set(["kubernetes", "orphan", "foregroundDeletion"]);
const MOST_ANNOTATIONS = 256 * 1024;

/** What is wrong with the metadata of an object. Source: apimachinery, pkg/api/validation/objectmeta.go. */
export function metadataErrors(
  kindKey: string,
  metadata: Members,
  { namespaced, before, isBuiltIn }: { readonly namespaced: boolean; readonly before: Members | undefined; readonly isBuiltIn: boolean },
): readonly FieldError[] {
  const { name, namespace, labels, annotations, ownerReferences, finalizers } = metadata;
  const errors: FieldError[] = [];
  if (typeof name !== "string" || name === "") errors.push(required("metadata.name", "name or generateName is required"));
  else errors.push(...(RULES[kindKey] ?? subdomainProblems)(name).map((problem) => invalid("metadata.name", name, problem)));
  if (namespaced && (namespace === undefined || namespace === "")) errors.push(required("metadata.namespace"));
  if (namespaced && typeof namespace === "string" && namespace !== "") {
    errors.push(...labelProblems(namespace).map((problem) => invalid("metadata.namespace", namespace, problem)));
  }
  if (!namespaced && typeof namespace === "string" && namespace !== "") {
    errors.push(forbidden("metadata.namespace", "not allowed on this type"));
  }
  errors.push(...labelErrors(labels, "metadata.labels"));
  if (isMembers(annotations)) {
    for (const key of Object.keys(annotations).sort()) {
      errors.push(...qualifiedNameProblems(key.toLowerCase()).map((problem) => invalid("metadata.annotations", key, problem)));
    }
    const size = Object.entries(annotations).reduce((sum, [key, value]) => sum + key.length + String(value).length, 0);
    if (size > MOST_ANNOTATIONS)
      errors.push({
        reason: "FieldValueTooLong",
        field: "metadata.annotations",
        message: `Too long: may not be more than ${MOST_ANNOTATIONS} bytes`,
      });
  }
  errors.push(...controllerErrors(ownerReferences));
  if (Array.isArray(ownerReferences)) {
    ownerReferences.filter(isMembers).forEach((owner) => {
      const path = "metadata.ownerReferences";
      for (const field of ["apiVersion", "kind", "name", "uid"]) {
        const value = owner[field];
        if (value === undefined || value === "")
          errors.push(invalid(`${path}.${field}`, value ?? "", field === "apiVersion" ? "version must not be empty" : "must not be empty"));
      }
    });
  }
  const added =
    before?.["deletionTimestamp"] === undefined ? [] : strings(finalizers).filter((each) => !strings(before["finalizers"]).includes(each));
  if (added.length > 0) {
    const list = added.map((each) => JSON.stringify(each)).join(", ");
    return [
      forbidden(
        "metadata.finalizers",
        `no new finalizers can be added if the object is being deleted, found new finalizers []string{${list}}`,
      ),
    ];
  }
  if (Array.isArray(finalizers)) {
    finalizers.map(String).forEach((finalizer, i) => {
      if (isBuiltIn && !finalizer.includes("/") && !STANDARD_FINALIZERS.has(finalizer)) {
        errors.push(invalid(`metadata.finalizers[${i}]`, finalizer, "name is neither a standard finalizer name nor is it fully qualified"));
      }
    });
    for (const finalizer of finalizers.map(String)) {
      errors.push(...qualifiedNameProblems(finalizer).map((problem) => invalid("metadata.finalizers", finalizer, problem)));
    }
  }
  return errors;
}

function controllerErrors(owners: unknown): readonly FieldError[] {
  const controllers = Array.isArray(owners) ? owners.filter(isMembers).filter(({ controller }) => controller === true) : [];
  const [first, second] = controllers.map(({ kind, name }) => `${String(kind)}/${String(name)}`);
  if (first === undefined || second === undefined) return [];
  const words = `Only one reference can have Controller set to true. Found "true" in references for ${first} and ${second}`;
  return [invalid("metadata.ownerReferences", owners, words)];
}

function strings(list: unknown): readonly string[] {
  return Array.isArray(list) ? list.map(String) : [];
}

/** What is wrong with labels. */
export function labelErrors(labels: unknown, field: string): readonly FieldError[] {
  if (!isMembers(labels)) return [];
  return Object.keys(labels)
    .sort()
    .flatMap((key) => [
      ...qualifiedNameProblems(key).map((problem) => invalid(field, key, problem)),
      ...labelValueProblems(String(labels[key])).map((problem) => invalid(field, String(labels[key]), problem)),
    ]);
}
