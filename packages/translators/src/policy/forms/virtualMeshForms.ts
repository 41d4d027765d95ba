import { VirtualMesh } from "@isthmus/api";
import { type Finding, warningFinding } from "../../findings.ts";
import { memoizeRow } from "../../incremental/memoizeRow.ts";
import { acceptedBefore, lastAcceptedKept, wasAccepted, writtenForm } from "../lastAccepted.ts";
import { isAccessClosed } from "../virtualMeshDoubts.ts";

/** What is in force of a VirtualMesh (docs/decisions/0150). */
export interface VirtualMeshInForce {
  /** Undefined: nothing. */
  readonly form: VirtualMesh | undefined;
  /** About the spec. */
  readonly findings: readonly Finding[];
  /** What is to be said where another form is in force. */
  readonly consequence: readonly Finding[];
}

/** A mesh as a spec names it. */
interface MeshReference {
  readonly name?: string;
  readonly namespace?: string;
}

/** What decides between the forms of a VirtualMesh. */
export interface VirtualMeshFacts {
  findingsOf(form: VirtualMesh): readonly Finding[];
  isFound(mesh: MeshReference): boolean;
}

/**
 * The form with the least wrong with it, the spec before the last accepted one: with no errors; else one that leaves out a mesh beside a new
 * name that is not found, perhaps a misspelt one; else with gateways that are gone of a form that was accepted before; else with nothing
 * federated; else with no mesh. That some mesh is not found is otherwise no reason for another form: a cluster that reports none would decide
 * what is in force on the others.
 */
export function virtualMeshInForce(virtualMesh: VirtualMesh, { findingsOf, isFound }: VirtualMeshFacts): VirtualMeshInForce {
  const { written, last, isClosing } = virtualMeshForms(virtualMesh);
  const findings = findingsOf(written);
  const isRenaming = last !== undefined && mayMisspell(written, last, isFound);
  const rank = Math.max(rankOf(written, findings, wasAccepted(virtualMesh)), isRenaming ? RENAMING : RIGHT);
  if (rank === RIGHT || last === undefined || rankOf(last, findingsOf(last), true) >= rank) {
    return { form: rank < REFUSED ? written : undefined, findings, consequence: [] };
  }
  return { form: last, findings, consequence: [lastAcceptedKept(last.metadata), ...(isClosing ? [CLOSED] : [])] };
}

interface VirtualMeshForms {
  readonly written: VirtualMesh;
  /** As it was last accepted, with access closed where the present spec closes it; undefined where that is no other form. */
  readonly last: VirtualMesh | undefined;
  /** Whether only the present spec closes access. */
  readonly isClosing: boolean;
}

/** The forms of a VirtualMesh that may be in force. What closes access counts whatever else is wrong: an error opens nothing. */
export const virtualMeshForms = memoizeRow((virtualMesh: VirtualMesh): VirtualMeshForms => {
  const written = writtenForm(virtualMesh);
  const last = acceptedBefore(VirtualMesh, virtualMesh);
  if (last === undefined || !isAccessClosed(written) || isAccessClosed(last)) return { written, last, isClosing: false };
  return { written, last: { ...last, spec: { ...last.spec, globalAccessPolicy: "ENABLED" } }, isClosing: true };
});

const RIGHT = 0;
const RENAMING = 1;
const WITHOUT_GATEWAYS = 2;
const WITHOUT_FEDERATION = 3;
// It keeps others from naming them.
const WITHOUT_MESHES = 4;
const REFUSED = 5;

/** Whether a spec leaves out a mesh of the last accepted one, and names another one that is not found. */
function mayMisspell(written: VirtualMesh, last: VirtualMesh, isFound: (mesh: MeshReference) => boolean): boolean {
  const [now, before] = [written, last].map(({ spec }) => spec?.meshes ?? []);
  const isIn = (meshes: readonly MeshReference[] = [], { name, namespace }: MeshReference): boolean =>
    meshes.some((mesh) => mesh.name === name && mesh.namespace === namespace);
  return (now ?? []).some((mesh) => !isIn(before, mesh) && !isFound(mesh)) && (before ?? []).some((mesh) => !isIn(now, mesh));
}

function rankOf({ spec }: VirtualMesh, findings: readonly Finding[], wasInForce: boolean): number {
  const wrong = findings.filter(({ state }) => state === "INVALID");
  const ranks = wrong.map(({ code }) => {
    if (MISSING.has(code)) return RIGHT;
    if (code === "DestinationUnknown" && wasInForce) return WITHOUT_GATEWAYS;
    return FEDERATING_NOTHING.has(code) ? WITHOUT_FEDERATION : REFUSED;
  });
  const unknown = wrong.filter(({ code }) => MISSING.has(code)).length;
  const isEmpty = unknown > 0 && unknown === spec?.meshes?.length;
  return Math.max(RIGHT, isEmpty ? WITHOUT_MESHES : RIGHT, ...ranks);
}

/** Findings beside which all of a VirtualMesh but its federation is in force. */
const FEDERATING_NOTHING: ReadonlySet<string> = new Set(["SelectorNotUnderstood", "HostnameSuffixInvalid"]);

/** Findings beside which a VirtualMesh is in force as it is written. */
export const MISSING: ReadonlySet<string> = new Set(["MeshUnknown"]);

const CLOSED = warningFinding(
  "LastAcceptedInForce",
  "spec.globalAccessPolicy: ENABLED is in force beside the last accepted spec, as an error never opens what is to be closed",
);
