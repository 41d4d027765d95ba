import { groupOf, type JsonObject } from "@isthmus/core";
import type { CrdDefinition, Fields, KindDefinition, PrinterColumn } from "../shared/defineKind.ts";

// By these labels tools of the published product find its CRDs, to uninstall them for instance.
const PRODUCT = "gloo-mesh";
const PRODUCT_OF_GROUP: Readonly<Record<string, string>> = { "multicluster.solo.io": "skv2" };

/** The CustomResourceDefinition of one of our own kinds, from the schema that `parse` checks by. */
export function customResourceDefinition(definition: KindDefinition<Fields>, crd: CrdDefinition): JsonObject {
  const { apiVersion, kind, plural, namespaced = true } = definition;
  const group = groupOf(apiVersion);
  const product = PRODUCT_OF_GROUP[group] ?? PRODUCT;
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}`, labels: { app: product, "app.kubernetes.io/name": product } },
    spec: {
      group,
      scope: namespaced ? "Namespaced" : "Cluster",
      names: {
        kind,
        listKind: `${kind}List`,
        plural,
        singular: crd.singular ?? kind.toLowerCase(),
        ...(crd.shortNames === undefined ? {} : { shortNames: crd.shortNames }),
        ...(crd.categories === undefined ? {} : { categories: crd.categories }),
      },
      versions: [
        {
          name: apiVersion.slice(group.length + 1),
          served: true,
          storage: true,
          schema: { openAPIV3Schema: objectSchema(definition.fields, crd.description) },
          ...("status" in definition.fields ? { subresources: { status: {} } } : {}),
          ...(crd.printerColumns === undefined ? {} : { additionalPrinterColumns: crd.printerColumns.map(column) }),
        },
      ],
    },
  };
}

function column({ name, type, jsonPath, description, priority = 0 }: PrinterColumn): JsonObject {
  return { name, type, jsonPath, ...(description === undefined ? {} : { description }), ...(priority === 0 ? {} : { priority }) };
}

function objectSchema(fields: Fields, description: string): JsonObject {
  const own = Object.entries(fields).map(([name, schema]) => [name, structural(schema, name)]);
  return {
    type: "object",
    description,
    properties: { apiVersion: { type: "string" }, kind: { type: "string" }, metadata: { type: "object" }, ...Object.fromEntries(own) },
  };
}

// What a structural schema may say of a value. Source: kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions.
const VALUE_KEYWORDS = new Set([
  "type",
  "description",
  "format",
  "enum",
  "pattern",
  "required",
  "minimum",
  "maximum",
  "minLength",
  "maxLength",
  "minItems",
  "maxItems",
  "maxProperties",
  "default",
  "nullable",
  "x-kubernetes-preserve-unknown-fields",
  "x-kubernetes-validations",
  "x-kubernetes-list-type",
  "x-kubernetes-list-map-keys",
  "x-kubernetes-map-type",
]);
// What only `parse` and the reference page know.
const OWN_KEYWORDS = new Set(["wanted", "unsupported", "atMostOneOf", "keepsZero"]);

/** A schema as the API server takes it. Throws on a keyword that structural schemas forbid, naming where it stands. */
function structural(schema: object, path: string): JsonObject {
  const members = Object.entries(schema).flatMap(([keyword, value]): [string, unknown][] => {
    if (VALUE_KEYWORDS.has(keyword)) return [[keyword, value]];
    if (OWN_KEYWORDS.has(keyword)) return [];
    if (keyword === "items") return [[keyword, structural(value as object, `${path}[]`)]];
    if (keyword === "additionalProperties" && typeof value === "object") return [[keyword, structural(value as object, `${path}.*`)]];
    if (keyword === "properties") {
      const properties = Object.entries(value as Readonly<Record<string, object>>);
      return [[keyword, Object.fromEntries(properties.map(([name, member]) => [name, structural(member, `${path}.${name}`)]))]];
    }
    throw new TypeError(`${path}: ${keyword} is not allowed in a structural schema`);
  });
  // Source: Kubernetes, “Specifying a structural schema”: what is anything has no type.
  const isAnything = "x-kubernetes-preserve-unknown-fields" in schema;
  if (!("type" in schema) && !isAnything) throw new TypeError(`${path}: a structural schema needs a type`);
  // Through JSON, so that nothing of the schema library's own marks is left.
  return inWords(JSON.parse(JSON.stringify(Object.fromEntries(members))) as JsonObject, (schema as { readonly wanted?: string }).wanted);
}

/** A text of some form, by a rule that says in words what is desired: of a pattern the API server would tell the regular expression. */
function inWords(structure: JsonObject, wanted: string | undefined): JsonObject {
  const { pattern, ...rest } = structure;
  if (typeof pattern !== "string" || wanted === undefined) return structure;
  const rule = {
    rule: `self.matches(r'${pattern}')`,
    message: `must be ${wanted}`,
    messageExpression: `'"' + self + '" is not ${wanted}'`,
  };
  // Bounded, as the API server refuses a CRD with rules on texts of any length.
  return { maxLength: LONGEST_FORM, ...rest, "x-kubernetes-validations": [rule] };
}

const LONGEST_FORM = 64;
