import { ClusterError, type ClusterErrorCode, type ClusterErrorDetails } from "@isthmus/plane/ports";

/** What of an answer tells what went wrong. */
export interface FailedAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly text: string;
  readonly json: unknown;
}

/** The fields of `meta/v1 Status` that we read. */
export interface ApiStatus {
  readonly kind?: string;
  readonly code?: number;
  readonly reason?: string;
  readonly message?: string;
  readonly details?: {
    readonly kind?: string;
    readonly retryAfterSeconds?: number;
    readonly causes?: readonly { readonly reason?: string; readonly message?: string; readonly field?: string }[];
  };
}

/** An API server's refusal as an error of the Cluster port. */
export function errorOf(answer: FailedAnswer, request?: { readonly method: string; readonly path: string }): ClusterError {
  const status = isStatus(answer.json) ? answer.json : undefined;
  const message = status?.message ?? (answer.text.trim().slice(0, MESSAGE_LIMIT) || `HTTP status ${answer.status}`);
  const waits = Number(answer.headers["retry-after"]) || status?.details?.retryAfterSeconds;
  const fields = fieldsOf(status, message);
  const manager = /conflict(?:s)? with "([^"]+)"/.exec(message)?.[1];
  const details: ClusterErrorDetails = {
    ...(fields.length === 0 ? {} : { fields }),
    ...(manager === undefined ? {} : { manager }),
    ...(waits ? { retryAfterMs: waits * 1000 } : {}),
  };
  const code = codeOf(answer.status, status, message);
  return new ClusterError(code, explained(answer.status, code, message, request), details);
}

/** An ERROR event of a watch holds a Status in place of an object. */
export function errorOfStatus(status: ApiStatus): ClusterError {
  return errorOf({ status: status.code ?? 500, headers: {}, text: "", json: { kind: "Status", ...status } });
}

const MESSAGE_LIMIT = 300;

function isStatus(value: unknown): value is ApiStatus {
  return typeof value === "object" && value !== null && (value as ApiStatus).kind === "Status";
}

function codeOf(httpStatus: number, status: ApiStatus | undefined, message: string): ClusterErrorCode {
  if (DENIED_BY_WEBHOOK.test(message)) return "Invalid";
  switch (httpStatus) {
    case 401:
    case 403:
      return "Forbidden";
    case 404:
      // The path of a kind that isn't served gives plain text, or a Status that names no object.
      return status?.details?.kind === undefined ? "Unserved" : "NotFound";
    case 405:
      return "Unserved";
    case 409:
      return status?.reason === "AlreadyExists" ? "AlreadyExists" : "Conflict";
    case 410:
      return "Expired";
    case 400:
    case 406:
    case 413:
    case 415:
    case 422:
      return "Invalid";
    default:
      return httpStatus === 500 && UNTYPABLE.test(message) ? "Invalid" : "Unavailable";
  }
}

// Webhooks may answer with any status; it is the object that they refuse.
const DENIED_BY_WEBHOOK = /^admission webhook "[^"]*" denied the request/;
// What server-side apply makes of unknown fields and wrong types: a 500 that no retry changes.
const UNTYPABLE = /failed to create typed patch object|field not declared in schema/;

function fieldsOf(status: ApiStatus | undefined, message: string): readonly string[] {
  const named = (status?.details?.causes ?? []).flatMap(({ field }) => (field === undefined || field === "" ? [] : [field]));
  const untyped = [...message.matchAll(/(?:^|\s)(\.[^\s:]+): (?:field not declared in schema|expected )/g)].map((match) => match[1] ?? "");
  return [...new Set([...named, ...untyped].map((field) => field.replace(/^\./, "")))];
}

function explained(httpStatus: number, code: ClusterErrorCode, message: string, request: Parameters<typeof errorOf>[1]): string {
  if (httpStatus === 401) return `the API server does not accept the kubeconfig's credentials: ${message}`;
  // The server's own words for it name nothing.
  if (code === "Unserved" && request !== undefined) return `the API server does not know ${request.method} ${request.path}`;
  return message;
}
