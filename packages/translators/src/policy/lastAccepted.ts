import { equalJson } from "@isthmus/core";
import { type Finding, warningFinding } from "../findings.ts";

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
  if (isSound(findings)) return { spec, findings };
  if (last === undefined || equalJson(last, spec) || !isSound(findingsOf(last))) return { spec: undefined, findings };
  return { spec: last, findings: [...findings, lastAcceptedKept(lastAccepted)] };
}

/** Says that the last accepted spec stays in force, as the present one has errors. */
export function lastAcceptedKept({ generation }: { readonly generation?: number } = {}): Finding {
  const which = generation === undefined ? "" : ` (generation ${generation})`;
  return warningFinding(
    "LastAcceptedInForce",
    `spec: has errors, so the last accepted spec${which}, status.lastAccepted, stays in force: correct it`,
  );
}

function isSound(findings: readonly Finding[]): boolean {
  return findings.every(({ state }) => state !== "INVALID");
}
