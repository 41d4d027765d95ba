import { ApiError, badRequest, type FieldError, invalidError } from "./apiError.ts";
import { forbidden, required, tooLong, unsupported, unsupportedOf } from "./fieldErrors.ts";

/** How a write is to be made. */
export interface WriteOptions {
  readonly dryRun: boolean;
  /** Who writes, as `managedFields` names it. */
  readonly manager: string;
  readonly fieldValidation: "Strict" | "Warn" | "Ignore";
  readonly force: boolean;
}

type OptionsKind = "CreateOptions" | "UpdateOptions" | "PatchOptions";

/** Reads the options of a write from its query. `userAgent` names the writer who gives no name. Throws ApiError. */
export function writeOptions(
  query: URLSearchParams,
  kind: OptionsKind,
  { userAgent, isApply }: { readonly userAgent: string; readonly isApply: boolean },
): WriteOptions {
  const errors: FieldError[] = [];
  const dryRun = query.getAll("dryRun");
  if (dryRun.some((each) => each !== "All")) errors.push(unsupported("dryRun", dryRun, ["All"]));
  const validation = query.get("fieldValidation") ?? "";
  if (!["", "Strict", "Warn", "Ignore"].includes(validation))
    errors.push(unsupported("fieldValidation", validation, ["", "Ignore", "Warn", "Strict"]));
  const manager = query.get("fieldManager") ?? "";
  if (manager.length > 128) errors.push(tooLong("fieldManager", 128));
  const force = query.get("force") === "true";
  if (isApply && manager === "") errors.push(required("fieldManager", "is required for apply patch"));
  if (!isApply && query.has("force")) errors.push(forbidden("force", "may not be specified for non-apply patch"));
  if (errors.length > 0) throw invalidError({ group: "meta.k8s.io", kind }, "", errors);
  return {
    dryRun: dryRun.length > 0,
    manager: manager === "" ? (userAgent.split("/")[0] ?? "").slice(0, 128) || "unknown" : manager,
    fieldValidation: validation === "" ? "Warn" : (validation as WriteOptions["fieldValidation"]),
    force,
  };
}

/** What a delete asks for. */
export interface DeleteOptions {
  readonly dryRun: boolean;
  readonly propagation: "Background" | "Foreground" | "Orphan" | undefined;
  readonly gracePeriodSeconds: number | undefined;
  readonly uid: string | undefined;
  readonly resourceVersion: string | undefined;
}

/** Reads the options of a delete from its body, and those of the query where the body lacks them. Throws ApiError. */
export function deleteOptions(query: URLSearchParams, body: Readonly<Record<string, unknown>>): DeleteOptions {
  const dryRun = Array.isArray(body["dryRun"]) && body["dryRun"].length > 0 ? body["dryRun"] : query.getAll("dryRun");
  const propagation = body["propagationPolicy"] ?? query.get("propagationPolicy") ?? undefined;
  const grace = body["gracePeriodSeconds"] ?? query.get("gracePeriodSeconds") ?? undefined;
  const orphan = body["orphanDependents"] ?? undefined;
  const errors: FieldError[] = [];
  if (dryRun.some((each: unknown) => each !== "All")) errors.push(unsupported("dryRun", dryRun, ["All"]));
  if (propagation !== undefined && propagation !== "" && !["Background", "Foreground", "Orphan"].includes(String(propagation))) {
    errors.push(unsupportedOf("propagationPolicy", propagation, ["Foreground", "Background", "Orphan", "nil"]));
  }
  if (errors.length > 0) throw invalidError({ group: "meta.k8s.io", kind: "DeleteOptions" }, "", errors);
  const preconditions = (body["preconditions"] ?? {}) as { readonly uid?: unknown; readonly resourceVersion?: unknown };
  if (grace !== undefined && !Number.isInteger(Number(grace))) throw badRequest(`invalid gracePeriodSeconds: ${String(grace)}`);
  return {
    dryRun: dryRun.length > 0,
    propagation:
      (propagation === "" ? undefined : (propagation as DeleteOptions["propagation"])) ?? (orphan === true ? "Orphan" : undefined),
    gracePeriodSeconds: grace === undefined ? undefined : Number(grace),
    uid: typeof preconditions.uid === "string" ? preconditions.uid : undefined,
    resourceVersion: typeof preconditions.resourceVersion === "string" ? preconditions.resourceVersion : undefined,
  };
}

/** The body is in a form that is not read here. */
export function unsupportedMediaType(accepted: readonly string[]): ApiError {
  const message = `the body of the request was in an unknown format - accepted media types include: ${accepted.join(", ")}`;
  return new ApiError(415, "UnsupportedMediaType", message);
}
