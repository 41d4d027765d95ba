import { isMembers, type Members, membersAt } from "../../apply/json.ts";
import type { FieldError } from "../apiError.ts";
import { forbidden, invalid, required, unsupported } from "../fieldErrors.ts";
import { label1035Problems, subdomainProblems } from "../validation/names.ts";
import { listIn } from "../validation/podSpec.ts";
import type { Checked } from "../validation/workloads.ts";
import { parsedRule } from "./rules.ts";

const TYPES = ["array", "boolean", "integer", "number", "object", "string"];
const MOST_LEVELS = 100;

/** What is wrong with a CustomResourceDefinition. Source: apiextensions-apiserver, pkg/apis/apiextensions/validation. */
export function definitionErrors({ object, before }: Checked): readonly FieldError[] {
  const spec = membersAt(object, "spec");
  const names = membersAt(spec, "names");
  const name = String(membersAt(object, "metadata")["name"] ?? "");
  const group = String(spec["group"] ?? "");
  const errors: FieldError[] = [];
  const wanted = `${String(names["plural"] ?? "")}.${group}`;
  if (name !== wanted) errors.push(invalid("metadata.name", name, 'must be spec.names.plural+"."+spec.group'));
  if (group === "") errors.push(required("spec.group"));
  else if (!group.includes(".")) errors.push(invalid("spec.group", group, "should be a domain with at least one dot"));
  else errors.push(...subdomainProblems(group).map((problem) => invalid("spec.group", group, problem)));
  if (isProtected(group) && membersAt(membersAt(object, "metadata"), "annotations")["api-approved.kubernetes.io"] === undefined) {
    errors.push(
      required(
        "metadata.annotations[api-approved.kubernetes.io]",
        'protected groups must have approval annotation "api-approved.kubernetes.io", see https://github.com/kubernetes/enhancements/pull/1111',
      ),
    );
  }
  const { scope } = spec;
  if (scope === undefined || scope === "") errors.push(required("spec.scope"));
  else if (scope !== "Cluster" && scope !== "Namespaced") errors.push(unsupported("spec.scope", scope, ["Cluster", "Namespaced"]));
  for (const field of ["plural", "singular", "kind", "listKind"]) {
    const value = names[field];
    if (value === undefined || value === "") errors.push(required(`spec.names.${field}`));
    else
      errors.push(
        ...label1035Problems(String(value).toLowerCase()).map((problem) =>
          invalid(
            `spec.names.${field}`,
            value,
            field.toLowerCase().endsWith("kind") ? `may have mixed case, but should otherwise match: ${problem}` : problem,
          ),
        ),
      );
  }
  errors.push(...versionErrors(listIn(spec, "versions")));
  if (before === undefined) return errors;
  const old = membersAt(before, "spec");
  if (old["scope"] !== scope) errors.push(invalid("spec.scope", scope, "field is immutable"));
  if (old["group"] !== spec["group"]) errors.push(invalid("spec.group", group, "field is immutable"));
  if (membersAt(old, "names")["kind"] !== names["kind"]) errors.push(invalid("spec.names.kind", names["kind"], "field is immutable"));
  return errors;
}

function isProtected(group: string): boolean {
  return group === "k8s.io" || group === "kubernetes.io" || group.endsWith(".k8s.io") || group.endsWith(".kubernetes.io");
}

function versionErrors(versions: readonly Members[]): readonly FieldError[] {
  const errors: FieldError[] = [];
  const stored = versions.filter(({ storage }) => storage === true).length;
  if (stored !== 1)
    errors.push(invalid("spec.versions", versions.map(internalVersion), "must have exactly one version marked as storage version"));
  versions.forEach((version, i) => {
    const at = `spec.versions[${i}]`;
    errors.push(
      ...label1035Problems(String(version["name"] ?? "")).map((problem) => invalid(`${at}.name`, version["name"] ?? "", problem)),
    );
    const schema = membersAt(version, "schema")["openAPIV3Schema"];
    if (!isMembers(schema)) errors.push(required(`${at}.schema.openAPIV3Schema`, "schemas are required"));
    else
      errors.push(
        ...structuralErrors(schema, {
          path: versions.length === 1 ? "spec.validation.openAPIV3Schema" : `${at}.schema.openAPIV3Schema`,
          level: 0,
          isRoot: true,
        }),
      );
  });
  return errors;
}

/** As messages show it: in the form that API servers work with, where what a single version says stands above it. */
function internalVersion({ name, served, storage, deprecated = false }: Members): Members {
  const above = { DeprecationWarning: null, Schema: null, Subresources: null, AdditionalPrinterColumns: null, SelectableFields: null };
  return { Name: name, Served: served, Storage: storage, Deprecated: deprecated, ...above };
}

interface Place {
  readonly path: string;
  readonly level: number;
  readonly isRoot: boolean;
}

function structuralErrors(schema: Members, { path, level, isRoot }: Place): readonly FieldError[] {
  if (level > MOST_LEVELS) return [invalid(path, "", "must not be so deep")];
  const errors: FieldError[] = [];
  const isFree = schema["x-kubernetes-int-or-string"] === true || schema["x-kubernetes-preserve-unknown-fields"] === true;
  const { type } = schema;
  if (isRoot && type !== "object")
    errors.push(
      type === undefined
        ? required(`${path}.type`, "must not be empty at the root")
        : invalid(`${path}.type`, type, "must be object at the root"),
    );
  else if ((type === undefined || type === "") && !isFree) {
    errors.push(
      required(
        `${path}.type`,
        level === 0
          ? "must not be empty at the root"
          : /items$/.test(path)
            ? "must not be empty for specified array items"
            : "must not be empty for specified object fields",
      ),
    );
  }
  if (typeof type === "string" && type !== "" && !TYPES.includes(type)) errors.push(unsupported(`${path}.type`, type, TYPES));
  if (isMembers(schema["properties"]) && isMembers(schema["additionalProperties"])) {
    errors.push(forbidden(`${path}.additionalProperties`, "additionalProperties and properties are mutual exclusive"));
  }
  listIn(schema, "x-kubernetes-validations").forEach(({ rule }, i) => {
    const at = `${path}.x-kubernetes-validations[${i}].rule`;
    if (typeof rule !== "string" || rule.trim() === "") errors.push(required(at, "rule is not specified"));
    else {
      const program = parsedRule(rule);
      if (typeof program === "string") {
        errors.push({
          reason: "FieldValueInvalid",
          field: at,
          message: `Invalid value: ${JSON.stringify(rule)}: compilation failed: ${program}`,
        });
      }
    }
  });
  for (const [name, property] of Object.entries(membersAt(schema, "properties"))) {
    if (isRoot && name === "metadata") continue;
    if (isMembers(property))
      errors.push(...structuralErrors(property, { path: `${path}.properties[${name}]`, level: level + 1, isRoot: false }));
  }
  if (isMembers(schema["items"]))
    errors.push(...structuralErrors(schema["items"], { path: `${path}.items`, level: level + 1, isRoot: false }));
  if (isMembers(schema["additionalProperties"])) {
    errors.push(
      ...structuralErrors(schema["additionalProperties"], { path: `${path}.additionalProperties`, level: level + 1, isRoot: false }),
    );
  }
  return errors;
}
