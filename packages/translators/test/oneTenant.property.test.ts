import { Destination, kindOf, Mesh, Workload } from "@isthmus/api";
import { type AnyResource, formatRef, type Resource, refOf, snapshotOf } from "@isthmus/core";
import { runs, soundTranslation } from "@isthmus/testing";
import fc from "fast-check";
import { expect, test } from "vitest";
import { lastKnownMeshOf } from "../src/discovery/detectors/lastKnownMesh.ts";
import { statusesOf, type Translation } from "../src/index.ts";
import { ATTACKS, fleet, HOME, operations, type Tenancy, tenantsObjects, type Vouched, withTenant } from "./oneTenantInputs.ts";

// How many worlds; more of them: ISTHMUS_WORLDS=100000 npx vitest run packages/translators/test/oneTenant.property.test.ts
const WORLDS = Number(process.env["ISTHMUS_WORLDS"] ?? runs(400));
const SEED = Number(process.env["ISTHMUS_SEED"] ?? Date.now() % 2 ** 31);

// By names that come before all others, and after them.
const NAMESPACES = ["aaa", "zzz"];

/**
 * The relation. Two worlds hold the same objects, but for what a user creates who may write one namespace of one cluster. Then these are the same:
 *
 * 1. each object that is written to any cluster, but for those that are about a Destination or Workload of that namespace, and those that only that namespace's own policies ask for;
 * 2. each discovered Mesh, Workload and Destination of other namespaces, and its status;
 * 3. the status of each policy and VirtualMesh of others, but for what it says of targets in that namespace, and for warnings that name it.
 *
 * Left out are the counts of users' objects in the status of a Mesh, which count the tenant's, too, and Istio's own objects: which hosts those of one namespace may be about, Istio says (`exportTo`).
 */
const KNOWLEDGE = ["after a restart that remembers nothing", "with what was published before"] as const;

for (const knowledge of KNOWLEDGE)
  for (const vouched of ["by webhooks", "by nothing"] satisfies readonly Vouched[]) {
    const given = fleet(vouched);
    const memory = knowledge === KNOWLEDGE[0] ? [] : memoryOf(given);
    const alone = worldOf(given, memory);

    for (const namespace of NAMESPACES)
      test.each(Object.entries(ATTACKS))(
        `vouched for ${vouched}, ${knowledge}, nothing of others changes by namespace ${namespace}: %s`,
        (_, attack) => {
          const tenancy = { cluster: HOME, namespace };
          const attacked = worldOf(withTenant(given, attack({ namespace, clusterName: HOME })), memory);
          expect(viewOf(attacked, tenancy)).toEqual(viewOf(alone, tenancy));
        },
      );

    test(
      `vouched for ${vouched}, ${knowledge}, whatever is created in one namespace, nothing of others changes (seed ${SEED})`,
      () => {
        const tenancies = fc.constantFrom(...NAMESPACES).map((namespace): Tenancy => ({ cluster: HOME, namespace }));
        const worlds = tenancies.chain((tenancy) =>
          fc.record({ tenancy: fc.constant(tenancy), operation: operations(vouched), objects: tenantsObjects(tenancy) }),
        );
        fc.assert(
          fc.property(worlds, ({ tenancy, operation, objects }) => {
            const honest = fleet(vouched, operation);
            const known = knowledge === KNOWLEDGE[0] ? [] : memoryOf(honest);
            const attacked = worldOf(withTenant(honest, objects), known);
            expect(viewOf(attacked, tenancy)).toEqual(viewOf(worldOf(honest, known), tenancy));
          }),
          { numRuns: WORLDS, seed: SEED },
        );
      },
      60_000 + WORLDS * 1000,
    );
  }

/** What is known of each mesh by the time that the tenant comes. */
function memoryOf(objects: readonly AnyResource[]): readonly Resource[] {
  return [...worldOf(objects, []).attached.of(Mesh)].flatMap((mesh) => lastKnownMeshOf(mesh) ?? []);
}

function worldOf(objects: readonly AnyResource[], memory: readonly Resource[]): Translation {
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

function viewOf(world: Translation, tenancy: Tenancy): View {
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
