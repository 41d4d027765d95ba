import type { Members } from "../apply/json.ts";

/** One thing that is wrong with an object. */
export interface Cause {
  readonly reason: string;
  readonly message: string;
  readonly field?: string;
}

export interface StatusDetails {
  readonly name?: string;
  readonly group?: string;
  readonly kind?: string;
  readonly uid?: string;
  readonly causes?: readonly Cause[];
  readonly retryAfterSeconds?: number;
}

/** A refusal as an API server answers it. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly code: number;
  readonly reason: string;
  readonly details: StatusDetails | undefined;

  constructor(code: number, reason: string, message: string, details?: StatusDetails) {
    super(message);
    this.code = code;
    this.reason = reason;
    this.details = details;
  }

  /** The document of the answer. */
  status(): Members {
    const { message, reason, details, code } = this;
    return {
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      ...(message === "" ? {} : { message }),
      ...(reason === "" ? {} : { reason }),
      ...(details === undefined ? {} : { details }),
      code,
    };
  }
}

/** How refusals name a resource. */
export interface NamedResource {
  readonly group: string;
  readonly plural: string;
}

/** `deployments.apps`, `services`. */
function qualified({ group, plural }: NamedResource): string {
  return group === "" ? plural : `${plural}.${group}`;
}

function detailsOf({ group, plural }: NamedResource, name: string): StatusDetails {
  return { ...(name === "" ? {} : { name }), ...(group === "" ? {} : { group }), kind: plural };
}

/** There is no such object. */
export function notFoundError(resource: NamedResource, name: string): ApiError {
  return new ApiError(404, "NotFound", `${qualified(resource)} "${name}" not found`, detailsOf(resource, name));
}

/** The server knows no such path or resource. */
export function unknownResourceError(): ApiError {
  return new ApiError(404, "NotFound", "the server could not find the requested resource", {});
}

/** There is such an object already. */
export function existsError(resource: NamedResource, name: string): ApiError {
  return new ApiError(409, "AlreadyExists", `${qualified(resource)} "${name}" already exists`, detailsOf(resource, name));
}

/** The object is another one than the writer thinks. */
export function conflictError(resource: NamedResource, name: string, problem = CHANGED): ApiError {
  return new ApiError(
    409,
    "Conflict",
    `Operation cannot be fulfilled on ${qualified(resource)} "${name}": ${problem}`,
    detailsOf(resource, name),
  );
}

const CHANGED = "the object has been modified; please apply your changes to the latest version and try again";

/** The request makes no sense. */
export function badRequest(message: string): ApiError {
  return new ApiError(400, "BadRequest", message);
}

/** Who asks may not, or nobody may. */
export function forbiddenError(resource: NamedResource, name: string, problem: string): ApiError {
  const about = name === "" ? qualified(resource) : `${qualified(resource)} "${name}"`;
  return new ApiError(403, "Forbidden", `${about} is forbidden: ${problem}`, detailsOf(resource, name));
}

/** The verb is not for this resource. */
export function methodNotAllowed(): ApiError {
  return new ApiError(405, "MethodNotAllowed", "the server does not allow this method on the requested resource", {});
}

/** The version that a list or a watch was to begin at is forgotten. */
export function expiredError(message: string): ApiError {
  return new ApiError(410, "Expired", message);
}

/** What is wrong with a field of an object. */
export interface FieldError {
  readonly reason:
    | "FieldValueInvalid"
    | "FieldValueRequired"
    | "FieldValueDuplicate"
    | "FieldValueNotSupported"
    | "FieldValueForbidden"
    | "FieldValueNotFound"
    | "FieldValueTooLong"
    | "FieldValueTooMany"
    | "FieldValueTypeInvalid";
  readonly field: string;
  /** `Invalid value: "x": must be …`. */
  readonly message: string;
}

/** The object cannot be stored as it is. */
export function invalidError(
  { group, kind }: { readonly group: string; readonly kind: string },
  name: string,
  errors: readonly FieldError[],
): ApiError {
  const type = group === "" ? kind : `${kind}.${group}`;
  const texts = [...new Set(errors.map(({ field, message }) => (field === "" ? message : `${field}: ${message}`)))];
  const problem = texts.length === 1 ? texts[0] : `[${texts.join(", ")}]`;
  const causes = errors.map(({ reason, message, field }) => ({ reason, message, field }));
  const details = { ...(name === "" ? {} : { name }), ...(group === "" ? {} : { group }), ...(kind === "" ? {} : { kind }), causes };
  return new ApiError(422, "Invalid", `${type} "${name}" is invalid: ${problem}`, details);
}
