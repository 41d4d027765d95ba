import { asSeems, type IneffectiveField, ineffectiveFields, VirtualMesh } from "@isthmus/api";
import { memoizeRow } from "../incremental/memoizeRow.ts";

/** What of a VirtualMesh is not understood and may have been meant to restrict it. */
export interface VirtualMeshDoubts {
  /** Paths of fields without which too much could be federated: nothing is. */
  readonly federation: ReadonlySet<string>;
  /** Paths of fields without which another gateway could be opened than was meant: none takes its place. */
  readonly gateways: ReadonlySet<string>;
  /** The path of a misspelt globalAccessPolicy that says ENABLED, and counts. */
  readonly access: string | undefined;
}

/** What is unknown in a VirtualMesh, by what it may have been meant for. */
export const virtualMeshDoubts = memoizeRow((virtualMesh: VirtualMesh): VirtualMeshDoubts => {
  const unknown = ineffectiveFields(SPEC, virtualMesh.spec, "spec").filter(({ type }) => type === "unknown");
  const pathsOf = (isMeant: (field: IneffectiveField) => boolean) => new Set(unknown.filter(isMeant).map(({ path }) => path));
  const access = unknown.find(({ path, hint }) => isIn("spec", path) && hint === "globalAccessPolicy")?.path;
  const isEnabled = access !== undefined && seemingAccess(virtualMesh) === "ENABLED";
  return { federation: pathsOf(isNarrowing), gateways: pathsOf(isAboutGateways), access: isEnabled ? access : undefined };
});

/** Whether calls in the meshes of a VirtualMesh require an AccessPolicy. */
export function isAccessClosed(virtualMesh: VirtualMesh): boolean {
  return virtualMesh.spec?.globalAccessPolicy === "ENABLED" || virtualMeshDoubts(virtualMesh).access !== undefined;
}

const SPEC = VirtualMesh.definition.fields.spec;
// What else stands beside the selectors says nothing of what is federated to whom.
const OTHERS = Object.keys(SPEC.properties.federation.properties).filter((name) => !["selectors", "permissive"].includes(name));
const GATEWAYS = "eastWestIngressGatewaySelectors";

function isNarrowing({ path, hint }: IneffectiveField): boolean {
  return isIn("spec.federation", path) && !(hint !== undefined && OTHERS.includes(hint));
}

function isAboutGateways({ path, hint }: IneffectiveField): boolean {
  if (path.startsWith(`spec.federation.${GATEWAYS}[`)) return true;
  return (isIn("spec.federation", path) && hint === GATEWAYS) || (isIn("spec", path) && hint === "federation");
}

/** Whether a path names a member of an object itself, not of what is in it. */
function isIn(object: string, path: string): boolean {
  const rest = path.slice(object.length + 1);
  return path.startsWith(`${object}.`) && !rest.includes(".") && !rest.includes("[");
}

function seemingAccess({ spec }: VirtualMesh): unknown {
  return (asSeems(SPEC, spec) as VirtualMesh["spec"])?.globalAccessPolicy;
}
