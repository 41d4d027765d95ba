import { keptText } from "@isthmus/core";
import { ClusterError, type ClusterErrorCode, type ClusterErrorDetails } from "@isthmus/ports";

/** What of an answer tells what went wrong. */
export interface FailedResponse {
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
export function errorOf(answer: FailedResponse, request?: { readonly method: string; readonly path: string }): ClusterError {
  const status = statusIn(answer.json);
  const message = status?.message ?? (keptText(answer.text, MESSAGE_LIMIT).trim() || `HTTP status ${answer.status}`);
  const waits = Math.min(Number(answer.headers["retry-after"]) || (status?.details?.retryAfterSeconds ?? 0), LONGEST_WAIT_SECONDS);
  const fields = fieldsOf(status, message);
  const manager = /conflict(?:s)? with "([^"]+)"/.exec(message)?.[1];
  const details: ClusterErrorDetails = {
    ...(fields.length === 0 ? {} : { fields }),
    ...(manager === undefined ? {} : { manager }),
    ...(waits > 0 ? { retryAfterMs: waits * 1000 } : {}),
    ...(answer.status === 401 ? { isUnknownUser: true } : {}),
  };
  const code = codeOf(answer.status, status, message);
  return new ClusterError(code, explained(answer.status, code, budgetIn(status) ?? message, request), details);
}

/** An ERROR event of a watch holds a Status in place of an object. */
export function errorOfStatus(status: ApiStatus): ClusterError {
  return errorOf({
    status: typeof status.code === "number" ? status.code : 500,
    headers: {},
    text: "",
    json: { ...status, kind: "Status" },
  });
}

const MESSAGE_LIMIT = 300;
// Several sentences: what a webhook or a schema has to say.
const STATUS_MESSAGE_LIMIT = 4_096;
const MOST_CAUSES = 100;
const LONGEST_WAIT_SECONDS = 300;

/** A Status, of what may be anything: as much of it as is read, of the types that it should have. */
function statusIn(value: unknown): ApiStatus | undefined {
  const { kind, code, reason, message, details } = members(value);
  if (kind !== "Status") return undefined;
  const { kind: objectKind, retryAfterSeconds, causes } = members(details);
  const read = (Array.isArray(causes) ? (causes as readonly unknown[]) : []).slice(0, MOST_CAUSES).map(causeIn);
  return {
    kind,
    ...(typeof code === "number" ? { code } : {}),
    ...(typeof reason === "string" ? { reason } : {}),
    ...(typeof message === "string" ? { message: keptText(message, STATUS_MESSAGE_LIMIT) } : {}),
    details: {
      ...(typeof objectKind === "string" ? { kind: objectKind } : {}),
      ...(typeof retryAfterSeconds === "number" ? { retryAfterSeconds } : {}),
      causes: read.filter((cause) => Object.keys(cause).length > 0),
    },
  };
}

type StatusCause = NonNullable<NonNullable<ApiStatus["details"]>["causes"]>[number];

function causeIn(cause: unknown): StatusCause {
  const texts = (["reason", "message", "field"] as const).map((key) => [key, members(cause)[key]] as const);
  return Object.fromEntries(texts.flatMap(([key, text]) => (typeof text === "string" ? [[key, keptText(text, MESSAGE_LIMIT)]] : [])));
}

function members(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
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
    case 429:
      // Of overload it has no such cause. Source: Kubernetes, pkg/registry/core/pod/storage/eviction.go.
      return budgetIn(status) === undefined ? "Unavailable" : "Blocked";
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

/** What a PodDisruptionBudget needs; its name is there alone. */
function budgetIn(status: ApiStatus | undefined): string | undefined {
  const cause = status?.details?.causes?.find(({ reason }) => reason === "DisruptionBudget");
  return cause === undefined ? undefined : cause.message || status?.message || "a PodDisruptionBudget does not allow it";
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
  if (code === "Unserved" && request !== undefined) return `the API server does not serve ${request.method} ${request.path}`;
  return message;
}
