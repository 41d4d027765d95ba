import { Destination, Service, VirtualDestination } from "@isthmus/api";
import { emptySnapshot, equalJson, type Resource, refOf, runToCompletion, type Snapshot, snapshotOf } from "@isthmus/core";
import { runs } from "@isthmus/testing";
import fc from "fast-check";
import { expect, test } from "vitest";
import { assignedVirtualIps, noVirtualIps, type VirtualIps } from "../src/attachment/federation/virtualIps.ts";
import type { AttachmentStep } from "../src/attachment/step.ts";
import { changesSince } from "../src/incremental/changes.ts";

/** A service, or a VirtualDestination where it has no cluster. */
interface Standing {
  readonly name: string;
  readonly namespace: string;
  readonly clusterName: string;
  readonly created: string | undefined;
  readonly isFederated: boolean;
}

// A hash is of name, namespace and cluster without separators: all that one word can be cut into share one.
const sharing = fc.constantFrom("baab", "aaaab", "aabbab", "bbbab").chain((word) =>
  fc.uniqueArray(fc.integer({ min: 1, max: word.length }), { minLength: 2, maxLength: 2 }).map((cuts) => {
    const [first = 0, second = 0] = cuts.sort((a, b) => a - b);
    return { name: word.slice(0, first), namespace: word.slice(first, second), clusterName: word.slice(second) };
  }),
);
// Found by search: each has the address that a service of those above tries first when it can't have its plain one.
const between = fc
  .constantFrom("s4404898", "s5145219", "s5577068", "s5895537", "s16731291", "s19478170")
  .map((name) => ({ name, namespace: "c", clusterName: "a" }));
const apart = fc.record({ name: fc.stringMatching(/^[xyz]{1,3}$/), namespace: fc.constant("n"), clusterName: fc.constantFrom("", "a") });
const created = fc.constantFrom(undefined, "2024-01-01T00:00:00Z", "2024-02-01T00:00:00Z", "2024-03-01T00:00:00Z");
const standing = fc
  .record({ place: fc.oneof(sharing, between, apart), created, isFederated: fc.integer({ min: 0, max: 3 }).map((n) => n > 0) })
  .map(({ place, ...rest }): Standing => ({ ...place, ...rest }));

function objectsOf({ name, namespace, clusterName, created: creationTimestamp, isFederated }: Standing): readonly Resource[] {
  const metadata = { name, namespace, clusterName, ...(creationTimestamp === undefined ? {} : { creationTimestamp }) };
  if (clusterName === "") return [VirtualDestination.parse({ ...VirtualDestination, metadata })];
  const ref = { name, namespace, clusterName };
  return [
    Service.parse({ ...Service, metadata }),
    Destination.parse({
      ...Destination,
      metadata: { name: `${name}-${namespace}-${clusterName}`, namespace: "gloo-mesh" },
      spec: { kubeService: { ref } },
      status: isFederated ? { appliedFederation: {} } : {},
    }),
  ];
}

function edited(inputs: Snapshot, { standing: one, isRemoval }: { readonly standing: Standing; readonly isRemoval: boolean }): Snapshot {
  const objects = objectsOf(one);
  const kinds = [Service, Destination, VirtualDestination];
  // A Service may be another while its Destination stays.
  const changed = objects.filter(
    (object) => !kinds.some((kind) => kind.kind === object.kind && equalJson(inputs.of<Resource>(kind).get(refOf(object)), object)),
  );
  return inputs.apply(isRemoval ? { put: [], remove: objects.map(refOf) } : { put: changed, remove: [] });
}

function assigned(inputs: Snapshot, earlier?: { readonly inputs: Snapshot; readonly virtualIps: VirtualIps }): VirtualIps {
  const translationContext = { ages: "CREATED" } as AttachmentStep["translationContext"];
  const since = earlier && { inputs: earlier.inputs, changes: changesSince(earlier.inputs, inputs), translationContext };
  const changes = inputs.of(Destination).changesSince((earlier?.inputs ?? emptySnapshot()).of(Destination));
  const before = earlier?.virtualIps ?? noVirtualIps;
  const step = { inputs, translationContext, since, offline: new Set<string>() };
  return runToCompletion(assignedVirtualIps(step, inputs.of(Destination), { before, changes }));
}

test("after every change, virtual IPs are those from scratch", () => {
  const edit = fc.record({ standing, isRemoval: fc.boolean() });
  const rounds = fc.array(fc.array(edit, { minLength: 1, maxLength: 3 }), { maxLength: 10 });
  const numRuns = runs(8_000);
  let [moved, kept] = [0, 0];
  fc.assert(
    fc.property(fc.array(standing, { maxLength: 20 }), rounds, (first, all) => {
      let inputs = snapshotOf(first.flatMap(objectsOf));
      let virtualIps = assigned(inputs);
      for (const edits of all) {
        const now = edits.reduce(edited, inputs);
        const after = assigned(now, { inputs, virtualIps });
        const scratch = assigned(now);
        expect(new Map([...after.losers].sort())).toEqual(new Map([...scratch.losers].sort()));
        expect(after.shared).toEqual(scratch.shared);
        if (after === virtualIps) kept++;
        else if (after.losers.size + virtualIps.losers.size > 0) moved++;
        [inputs, virtualIps] = [now, after];
      }
    }),
    { numRuns },
  );
  // They are neither computed again each time, nor never.
  expect(Math.min(moved, kept)).toBeGreaterThan(numRuns / 20);
});
