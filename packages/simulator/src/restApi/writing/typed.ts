import { isMembers, type Members, membersAt, withoutAbsent } from "../../apply/json.ts";
import { type ApiError, badRequest, invalidError } from "../apiError.ts";
import { pruned } from "../custom/structural.ts";
import { invalid } from "../fieldErrors.ts";
import type { WriteOptions } from "../options.ts";
import type { ApiResource } from "../resourceTable.ts";
import { decodeAs } from "../types/goDecode.ts";
import { structNamed } from "../types/goTypes.ts";

/** What writing an object says to the writer beside the object. */
export type Warn = (text: string) => void;

/** What is wrong with a body's values. */
export interface Misfit {
  readonly resource: ApiResource;
  /** As where JSON is decoded. */
  readonly error: string;
  /** As where maps are converted. */
  readonly conversion: string;
}

/** How a writer hears of it. */
export interface Telling {
  readonly warn: Warn;
  /** Default: as of the body of a request. */
  readonly wording?: ((misfit: Misfit) => ApiError) | undefined;
}

interface Report {
  readonly resource: ApiResource;
  readonly validation: WriteOptions["fieldValidation"];
  readonly warn: Warn;
  readonly wording: (misfit: Misfit) => ApiError;
}

/**
 * What a writer sent, in the form in which the kind is kept: of the fields of the kind, with values of their types. Unknown fields are refused, warned of
 * or dropped, as the writer asks. Throws ApiError `BadRequest`.
 */
export function typedBody(
  resource: ApiResource,
  body: unknown,
  { fieldValidation: validation }: Pick<WriteOptions, "fieldValidation">,
  { warn, wording = asBody }: Telling,
): Members {
  if (!isMembers(body))
    throw badRequest(
      `couldn't get version/kind; json parse error: json: cannot unmarshal ${typeWord(body)} into Go value of type ${TYPE_META}`,
    );
  const { kind, apiVersion } = resource;
  const given = { ...body, kind: body["kind"] || kind, apiVersion: body["apiVersion"] || apiVersion };
  if (given.apiVersion !== apiVersion) {
    const error = `no kind ${JSON.stringify(given.kind)} is registered for version ${JSON.stringify(given.apiVersion)} in scheme "pkg/runtime/scheme.go:110"`;
    throw resource.struct === undefined
      ? badRequest(`the API version in the data (${String(given.apiVersion)}) does not match the expected API version (${apiVersion})`)
      : asBody({ resource, error, conversion: error });
  }
  if (given.kind !== kind && resource.struct === undefined) {
    const name = String(membersAt(body, "metadata")["name"] ?? "");
    throw invalidError({ group: resource.group, kind: String(given.kind) }, name, [invalid("kind", given.kind, `must be ${kind}`)]);
  }
  if (given.kind !== kind) {
    const version = JSON.stringify(resource.version);
    throw badRequest(
      `${String(given.kind)} in version ${version} cannot be handled as a ${kind}: converting (v1.${String(given.kind)}) to (core.${kind}): unknown conversion`,
    );
  }
  const report = { resource, validation, warn, wording };
  return resource.struct === undefined ? customBody(given, report) : builtInBody(given, report);
}

const TYPE_META = 'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';

function typeWord(value: unknown): string {
  if (Array.isArray(value)) return "array";
  return value === null ? "null" : typeof value === "boolean" ? "bool" : typeof value;
}

function builtInBody(given: Members, report: Report): Members {
  const { resource, wording } = report;
  if (resource.struct === undefined) return given;
  const { value, error, conversion = "", unknown } = decodeAs(resource.struct, given);
  if (error !== undefined) throw wording({ resource, error, conversion });
  tellUnknown(unknown, report);
  return value;
}

const objectMeta = () => structNamed("meta/v1.ObjectMeta");

function customBody(given: Members, report: Report): Members {
  const { resource, wording } = report;
  const given_ = given["metadata"] ?? {};
  if (!isMembers(given_)) {
    const error = `json: cannot unmarshal ${typeWord(given_)} into Go struct field .metadata of type v1.ObjectMeta`;
    throw wording({ resource, error, conversion: error });
  }
  const meta = decodeAs(objectMeta(), given_);
  if (meta.error !== undefined) throw wording({ resource, error: meta.error, conversion: meta.conversion ?? meta.error });
  const unknown = meta.unknown.map((field) => `metadata.${field}`);
  let whole: unknown = { ...given, metadata: meta.value };
  const schema = resource.custom?.schema;
  if (schema !== undefined) {
    const result = pruned(schema, whole);
    whole = result.value;
    unknown.push(...result.unknown);
  }
  tellUnknown(unknown.sort(), report);
  // What a schema lets be null is there, all else that is null is not.
  return schema === undefined ? (withoutAbsent(whole) as Members) : (whole as Members);
}

function asBody({ resource: { kind, version }, error }: Misfit): ApiError {
  return badRequest(`${kind} in version ${JSON.stringify(version)} cannot be handled as a ${kind}: ${error}`);
}

function tellUnknown(unknown: readonly string[], { resource, validation, warn, wording }: Report): void {
  if (unknown.length === 0 || validation === "Ignore") return;
  const texts = unknown.map((field) => `unknown field ${JSON.stringify(field)}`);
  const error = `strict decoding error: ${texts.join(", ")}`;
  if (validation === "Strict") throw wording({ resource, error, conversion: error });
  for (const text of texts) warn(text);
}
