import { runs } from "@isthmus/testing";
import {
  ATTACKS,
  fleet,
  HOME,
  memoryOf,
  operations,
  type Tenancy,
  tenantsObjects,
  translationOf,
  type Vouched,
  viewOf,
  withTenant,
} from "@isthmus/testing/oneTenant";
import fc from "fast-check";
import { expect, test } from "vitest";

// How many worlds; more of them: ISTHMUS_WORLDS=100000 npx vitest run --config vitest.long.config.ts packages/translators/test/oneTenant.property.long.test.ts
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
    const alone = translationOf(given, memory);

    for (const namespace of NAMESPACES)
      test.each(Object.entries(ATTACKS))(
        `vouched for ${vouched}, ${knowledge}, nothing of others changes by namespace ${namespace}: %s`,
        (_, attack) => {
          const tenancy = { cluster: HOME, namespace };
          const attacked = translationOf(withTenant(given, attack({ namespace, clusterName: HOME })), memory);
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
            const attacked = translationOf(withTenant(honest, objects), known);
            expect(viewOf(attacked, tenancy)).toEqual(viewOf(translationOf(honest, known), tenancy));
          }),
          { numRuns: WORLDS, seed: SEED },
        );
      },
      60_000 + WORLDS * 1000,
    );
  }
