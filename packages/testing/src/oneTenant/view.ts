import { Destination, kindOf, Mesh, Workload } from "@isthmus/api";
import { type AnyResource, formatRef, type Resource, refOf, snapshotOf } from "@isthmus/core";
import { lastKnownMeshOf, statusesOf, type Translation } from "@isthmus/translators";
import { soundTranslation } from "../soundTranslation.ts";
import type { Tenancy } from "./inputs.ts";

/** What is known of each mesh by the time that the tenant comes. */
export function memoryOf(objects: readonly AnyResource[]): readonly Resource[] {
  return [...translationOf(objects, []).attached.of(Mesh)].flatMap((mesh) => lastKnownMeshOf(mesh) ?? []);
}

/** What becomes of these objects, which must be ones that their kinds take. */
export function translationOf(objects: readonly AnyResource[], memory: readonly Resource[]): Translation {
  const resources = objects.map((one): Resource => {
    const kind = kindOf(one.apiVersion, one.kind);
    if (kind === undefined) throw new Error(`${one.kind} is no kind in roles.ts`);
    return kind.parse(one);
  });
  return soundTranslation(snapshotOf([...resources, ...memory]), {
    namespace: "gloo-mesh",
    stage: "all",
    disallowIntersectingConfig: false,
  });
}

type View = Readonly<Record<string, unknown>>;

/** What a world is for others than the tenant: see the relation in oneTenant.property.long.test.ts. */
export function viewOf(world: Translation, tenancy: Tenancy): View {
  const view = new Map<string, unknown>();
  const isIn = ({ clusterName, namespace }: { readonly clusterName?: string; readonly namespace?: string }) =>
    clusterName === tenancy.cluster && namespace === tenancy.namespace;
  for (const { resource, target, parents } of world.networking) {
    if (isTargetOf(world, target, tenancy) || isIn(resource.metadata)) continue;
    // What they ask for themselves, as access logs.
    if (parents.length > 0 && parents.every(isIn)) continue;
    view.set(formatRef(refOf(resource)), resource);
  }
  for (const { resource } of world.discovery) {
    if (!isOf(resource, tenancy)) view.set(`discovered ${formatRef(refOf(resource))}`, resource);
  }
  for (const { ref, status } of statusesOf(world)) {
    if (ref.clusterName === tenancy.cluster && ref.namespace === tenancy.namespace) continue;
    const found = ref.kind === Destination.kind ? world.attached.of(Destination).get(ref) : world.attached.of(Workload).get(ref);
    if (found !== undefined && isOf(found, tenancy)) continue;
    if (ref.kind === Mesh.kind && isMeshOf(world.attached.of(Mesh).get(ref), tenancy)) continue;
    const { userObjects: _, ...rest } = status;
    view.set(`status ${formatRef(ref)}`, withoutTargetsOf(world, rest, tenancy));
  }
  return Object.fromEntries([...view].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Whether an object was discovered in the tenant's namespace. */
function isOf(resource: Resource, tenancy: Tenancy): boolean {
  const { spec } = resource as Destination & Workload;
  const { clusterName = "", namespace = "" } = spec?.kubeService?.ref ?? spec?.kubernetes?.controller ?? {};
  return (clusterName === tenancy.cluster && namespace === tenancy.namespace) || isMeshOf(resource as Mesh, tenancy);
}

function isMeshOf(mesh: Mesh | undefined, { cluster, namespace }: Tenancy): boolean {
  const { installation } = mesh?.spec?.istio ?? mesh?.spec?.osm ?? {};
  return installation?.cluster === cluster && installation.namespace === namespace;
}

function isTargetOf(world: Translation, target: string, tenancy: Tenancy): boolean {
  const inputs = world.cache.targets.row(target)?.inputs;
  if (inputs === undefined) return false;
  if ("destination" in inputs) return isOf(inputs.destination, tenancy);
  if ("workload" in inputs) return isOf(inputs.workload, tenancy);
  return "mesh" in inputs && isMeshOf(inputs.mesh, tenancy);
}

/** A status without what it says of targets of the tenant. */
function withoutTargetsOf(world: Translation, status: object, tenancy: Tenancy): unknown {
  return JSON.parse(JSON.stringify(status), (key, value: unknown) => {
    // Of how many targets it is said, and what is said of the tenant's.
    if (["targetCount", "acceptedCount", "warningCount"].includes(key) || (key === "message" && /^(valid|accepted on)/.test(String(value))))
      return undefined;
    if (key === "warnings") {
      const left = (value as readonly string[]).filter((text) => !text.includes(tenancy.namespace));
      return left.length === 0 ? undefined : left;
    }
    if (!["destinations", "workloads", "meshes"].includes(key) || typeof value !== "object" || value === null || Array.isArray(value))
      return value;
    const left = Object.entries(value).filter(([name]) => {
      const found = world.attached.of(Destination).row(name) ?? world.attached.of(Workload).row(name) ?? world.attached.of(Mesh).row(name);
      return found === undefined || !isOf(found, tenancy);
    });
    return Object.fromEntries(left);
  });
}
