import { type KeepingLastAccepted, lastAcceptedSpecOf } from "@isthmus/api";
import { equalJson, type Kind } from "@isthmus/core";
import { type Finding, invalidFinding, warningFinding } from "../findings.ts";

/** What is in force of an object whose last accepted spec is kept in its status. */
export interface SpecInForce<S> {
  /** Undefined: nothing of it, as it has errors and nothing was accepted before, as far as is known. */
  readonly spec: S | undefined;
  /** About the spec by itself. */
  readonly findings: readonly Finding[];
}

/** An object's spec, and the one that was accepted last, as its status has it. */
export interface KeptSpec<S> {
  readonly spec: S;
  /** Undefined where none is known, or it is not understood. */
  readonly last: S | undefined;
  readonly lastAccepted: { readonly generation?: number } | undefined;
}

/** The spec; where it has errors the last accepted one; where that has some too, or none is known, nothing. */
export function specInForce<S>({ spec, last, lastAccepted }: KeptSpec<S>, findingsOf: (spec: S) => readonly Finding[]): SpecInForce<S> {
  const findings = findingsOf(spec);
  if (isWithoutErrors(findings)) return { spec, findings };
  if (last === undefined || equalJson(last, spec) || !isWithoutErrors(findingsOf(last))) return { spec: undefined, findings };
  return { spec: last, findings: [...findings, lastAcceptedKept(lastAccepted)] };
}

/** An object as it is written, without what its status says. */
export function writtenForm<R extends KeepingLastAccepted>(object: R): R {
  if (object.status === undefined) return object;
  const { status: _, ...written } = object;
  return written as R;
}

/**
 * An object as it was last accepted, with all else that its metadata says today; undefined where that is what it says now, or nothing is
 * known of it.
 */
export function acceptedBefore<R extends KeepingLastAccepted>(kind: Kind<R>, object: R): R | undefined {
  const spec = lastAcceptedSpecOf(kind, object);
  if (spec === undefined || equalJson(spec, object.spec ?? {})) return undefined;
  const { generation: _, ...metadata } = object.metadata;
  const { generation } = object.status?.lastAccepted ?? {};
  return { ...writtenForm(object), metadata: generation === undefined ? metadata : { ...metadata, generation }, spec };
}

/** Whether what an object says now was in force as it is written. */
export function wasAccepted({ spec = {}, status }: KeepingLastAccepted): boolean {
  const { lastAccepted } = status ?? {};
  return lastAccepted !== undefined && (lastAccepted.spec === undefined || equalJson(lastAccepted.spec, spec));
}

/** Says that the last accepted spec stays in force, as the present one has errors. */
export function lastAcceptedKept({ generation }: { readonly generation?: number } = {}): Finding {
  return warningFinding(
    "LastAcceptedInForce",
    `spec: has errors, so the last accepted spec${named(generation)}, status.lastAccepted, stays in force: correct it`,
  );
}

/** Says that of a policy on one target. */
export function lastAcceptedKeptHere({ generation }: { readonly generation?: number } = {}): Finding {
  return invalidFinding(
    "LastAcceptedInForce",
    `this policy cannot be translated, so its last accepted spec${named(generation)}, status.lastAccepted, stays in force here: correct or delete it`,
  );
}

function named(generation: number | undefined): string {
  return generation === undefined ? "" : ` (generation ${generation})`;
}

/** Whether nothing found of something keeps it from being in force. */
export function isWithoutErrors(findings: readonly Finding[]): boolean {
  return findings.every(({ state }) => state !== "INVALID");
}
