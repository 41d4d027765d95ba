import { excessOf, keptText, MAX_RESOURCE_BYTES } from "@isthmus/core";
import { yamlValue } from "@isthmus/core/yaml";

/** Why the schema of an API is not read or not used, with the remedy: reason and message of condition SchemaRead. */
export class SchemaProblem extends Error {
  override readonly name = "SchemaProblem";
  readonly reason: SchemaProblemReason;

  constructor(reason: SchemaProblemReason, message: string) {
    super(message);
    this.reason = reason;
  }

  /** Whether another attempt may succeed without anybody changing anything. */
  get isTransient(): boolean {
    return this.reason === "Unreachable" || this.reason === "TimedOut" || this.reason === "ServerError";
  }
}

export type SchemaProblemReason =
  /** The URL or the Service is not such as may be read. */
  | "Refused"
  /** No pod of the Service is ready. */
  | "NotReady"
  | "Unreachable"
  /** The certificate of an https URL does not verify. */
  | "Untrusted"
  | "TimedOut"
  | "ServerError"
  | "UnexpectedStatus"
  | "RedirectRefused"
  | "TooLarge"
  | "NotOpenApi"
  /** There are more than are kept. */
  | "TooMany"
  /** An ApiDoc of the name is somebody else's. */
  | "NotOurs"
  /** The API server refuses the ApiDoc. */
  | "NotWritten";

/** How long a document may be, in bytes: an ApiDoc holds it, and the plane takes no larger object. */
export const MOST_DOCUMENT_BYTES = MAX_RESOURCE_BYTES;
/** YAML takes about a second for each mebibyte, in which the agent does nothing else. */
export const MOST_YAML_BYTES = 256 * 1024;

/**
 * An OpenAPI document of version 2.0 or 3, given as JSON or YAML, as JSON without spaces. What it says of the API is not judged, and no reference
 * in it is followed. Throws SchemaProblem.
 */
export function openApiDocument(text: string): string {
  const value = parsedDocument(text);
  const excess = excessOf(value, MOST_DOCUMENT_BYTES);
  if (excess !== undefined) throw new SchemaProblem("TooLarge", `the document ${excess}`);
  if (!isObject(value)) throw notOpenApi("it is no object");
  const { openapi, swagger, info, paths, webhooks, components } = value;
  if (!(typeof openapi === "string" && /^3\.\d/.test(openapi)) && swagger !== "2.0")
    throw notOpenApi('it has neither openapi: "3…" nor swagger: "2.0"');
  if (!isObject(info)) throw notOpenApi("it has no info");
  // Since 3.1 one of the others is enough.
  if (![paths, webhooks, components].some(isObject)) throw notOpenApi("it has no paths");
  return JSON.stringify(value);
}

function parsedDocument(text: string): unknown {
  const isJson = /^\s*\{/.test(keptText(text, 1_000));
  try {
    if (isJson) return JSON.parse(text) as unknown;
  } catch {
    // A mapping of YAML may begin with a bracket, too.
  }
  try {
    return yamlValue(text, { maxBytes: MOST_YAML_BYTES });
  } catch (error) {
    if (isJson) throw notOpenApi("it is no JSON");
    if (text.length > MOST_YAML_BYTES)
      throw new SchemaProblem("TooLarge", `the document is YAML of more than ${MOST_YAML_BYTES / 1024} KiB: serve it as JSON`);
    // Texts of the parser quote the document, which is whatever the server answered.
    throw notOpenApi(error instanceof Error ? "it is neither JSON nor YAML that can be read" : "it cannot be read");
  }
}

function notOpenApi(why: string): SchemaProblem {
  return new SchemaProblem("NotOpenApi", `the answer is no OpenAPI document: ${why}. Serve an OpenAPI document of version 2.0 or 3 there`);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
