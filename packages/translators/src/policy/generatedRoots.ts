import { ROOT_OPTIONS, type Secret, type VirtualMesh } from "@isthmus/api";
import { userNameOf } from "./userResources.ts";

/** On a VirtualMesh: which of its generated roots is in use, a number from 1. Another number generates another root, and moves the meshes there. */
export const ROOT_GENERATION = "isthmus.mesh/root-generation";

/** The number of the generated root that is in use, 1 where none is given; undefined where what is given is no such number. */
export function rootGenerationOf({ metadata }: VirtualMesh): number | undefined {
  const text = metadata.annotations?.[ROOT_GENERATION];
  if (text === undefined) return 1;
  const number = Number(text);
  return Number.isInteger(number) && number >= 1 && number <= LAST_GENERATION && String(number) === text ? number : undefined;
}

/** Name of the Secret with the generated root that is in use. Source of the first one's: specification of the published product, "Generated root". */
export function generatedRootName(virtualMesh: VirtualMesh): string {
  return nameOfGeneration(virtualMesh, rootGenerationOf(virtualMesh) ?? 1);
}

/** The number of a generated root of a VirtualMesh by the name of its Secret; undefined for any other Secret. */
export function generationOfRoot(virtualMesh: VirtualMesh, secretName: string): number | undefined {
  const prefix = `${userNameOf(virtualMesh.metadata)}${SUFFIX}`;
  const number = secretName.startsWith(prefix) ? Number(secretName.slice(prefix.length)) : 1;
  return nameOfGeneration(virtualMesh, number) === secretName ? number : undefined;
}

function nameOfGeneration({ metadata }: VirtualMesh, number: number): string {
  return number === 1 ? userNameOf(metadata) : `${userNameOf(metadata)}${SUFFIX}${number}`;
}

/** How a generated root is made. */
export interface RootOptions {
  readonly ttlDays: number;
  readonly rsaKeySizeBytes: number;
  readonly orgName: string;
}

/** How the next generated root of a VirtualMesh is made: zero and empty stand for defaults, as everywhere in the published API. */
export function rootOptionsOf({ spec }: VirtualMesh): RootOptions {
  const { ttlDays, rsaKeySizeBytes, orgName } = spec?.mtlsConfig?.shared?.rootCertificateAuthority?.generated ?? {};
  return { ttlDays: ttlDays || 365, rsaKeySizeBytes: rsaKeySizeBytes || 4096, orgName: orgName || "gloo-mesh" };
}

/** What of a VirtualMesh's options is otherwise in the root that it has, as `option value` each. One of which it is unknown how it was made has none. */
export function changedRootOptions(
  virtualMesh: VirtualMesh,
  root: Secret,
): { readonly wanted: readonly string[]; readonly made: readonly string[] } {
  const [wanted, made] = [rootOptionsOf(virtualMesh), madeWith(root)];
  const changed = OPTIONS.filter((option) => made[option] !== undefined && made[option] !== wanted[option]);
  const named = (options: Partial<RootOptions>) => changed.map((option) => `${option} ${JSON.stringify(options[option])}`);
  return { wanted: named(wanted), made: named(made) };
}

function madeWith({ metadata }: Secret): Partial<RootOptions> {
  try {
    const made: unknown = JSON.parse(metadata.annotations?.[ROOT_OPTIONS] ?? "{}");
    return typeof made === "object" && made !== null ? made : {};
  } catch {
    // Somebody else wrote there.
    return {};
  }
}

const OPTIONS = ["ttlDays", "rsaKeySizeBytes", "orgName"] as const;
const SUFFIX = ".root-";
const LAST_GENERATION = 999_999;
