import { type AnyResource, InvalidResource } from "@isthmus/core";
import { isMembers, type Members } from "../../apply/json.ts";
import type { FieldError } from "../apiError.ts";
import { definitionErrors } from "../custom/definitionErrors.ts";
import { ruleErrors } from "../custom/rules.ts";
import { schemaErrors } from "../custom/schemaErrors.ts";
import type { ResourceRequest } from "../requestInfo.ts";
import type { ApiResource } from "../resourceTable.ts";
import { valueAtPath } from "../tables/jsonPaths.ts";
import { builtInErrors } from "../validation/builtInErrors.ts";
import { metadataErrors } from "../validation/metadata.ts";

const DEFINITIONS = "apiextensions.k8s.io/CustomResourceDefinition";

/** What is wrong with an object that is to be stored. */
export function objectErrors(
  resource: ApiResource,
  object: AnyResource,
  before: AnyResource | undefined,
  target: ResourceRequest,
): readonly FieldError[] {
  const kindKey = resource.served?.kindKey ?? "";
  if (target.subresource === "status" && resource.custom === undefined) return [];
  const metadata = metadataErrors(kindKey, object.metadata as unknown as Members, {
    namespaced: resource.namespaced,
    isBuiltIn: resource.custom === undefined,
    before: before?.metadata as Members | undefined,
  });
  const checked = { object: object as Members, before: before as Members | undefined };
  if (kindKey === DEFINITIONS) return [...metadata, ...definitionErrors(checked)];
  if (resource.custom === undefined) return [...metadata, ...builtInErrors(kindKey, checked)];
  const { schema } = resource.custom;
  if (schema === undefined) return [...metadata, ...parseErrors(resource, object)];
  const { metadata: _, ...content } = object;
  const wrong = schemaErrors({ ...schema, properties: withoutMetadata(schema) }, content, "");
  // Rules can rely on what schemas say.
  if (!wrong.some(({ reason }) => BLOCKING.has(reason))) return [...metadata, ...wrong, ...ruleErrors(schema, object, before, "")];
  return [...metadata, ...wrong, ...scaleErrors(resource, object), ...(hasRules(schema) ? [UNCHECKED] : [])];
}

/** Of a kind that is served without a definition: what its own check finds. */
function parseErrors({ served }: ApiResource, object: AnyResource): readonly FieldError[] {
  try {
    served?.kind.parse?.(object);
    return [];
  } catch (error) {
    if (!(error instanceof InvalidResource)) throw error;
    return [{ reason: "FieldValueInvalid", field: error.path, message: `Invalid value: ${error.message}` }];
  }
}

const BLOCKING: ReadonlySet<string> = new Set([
  "FieldValueRequired",
  "FieldValueTooLong",
  "FieldValueTooMany",
  "FieldValueTypeInvalid",
  "FieldValueNotSupported",
  "FieldValueDuplicate",
]);
const UNCHECKED: FieldError = {
  reason: "FieldValueInvalid",
  field: "<nil>",
  message:
    "Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation",
};

function hasRules(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.some(hasRules);
  return isMembers(schema) && (Array.isArray(schema["x-kubernetes-validations"]) || Object.values(schema).some(hasRules));
}

/** Replicas that are no number, where a Scale would show them. */
function scaleErrors({ custom }: ApiResource, object: AnyResource): readonly FieldError[] {
  const path = custom?.scale?.["specReplicasPath"];
  const value = path === undefined ? undefined : valueAtPath(object, String(path))[0];
  if (value === undefined || typeof value === "number") return [];
  const type = typeof value === "object" ? "map[string]interface {}" : typeof value === "boolean" ? "bool" : "string";
  return [
    {
      reason: "FieldValueInvalid",
      field: String(path),
      message: `Invalid value: 0: ${String(path)} accessor error: ${String(value)} is of the type ${type}, expected int64`,
    },
  ];
}

function withoutMetadata({ properties }: Members): Members {
  const { metadata: _, ...rest } = (properties ?? {}) as Members;
  return rest;
}
