import { kindOf, Workload } from "@isthmus/api";
import { type Output, type Resource, type ResourceRef, refOf, resourceKeyOf, snapshotOf } from "@isthmus/core";
import { fleets, fleetTraces, runs } from "@isthmus/testing";
import fc from "fast-check";
import { expect, test } from "vitest";
import { type DiscoveryTranslation, translateDiscovery } from "../src/discovery/discovery.ts";

const OPTIONS = { namespace: "gloo-mesh" };

function seen({ outputs, reports }: DiscoveryTranslation) {
  return { outputs: [...outputs], reports };
}

function byKey({ outputs }: DiscoveryTranslation): ReadonlyMap<string, Output> {
  return new Map([...outputs].map((output) => [resourceKeyOf(refOf(output.resource)), output]));
}

type NamedObject = Partial<Pick<ResourceRef, "kind" | "name" | "namespace" | "clusterName">>;

function nameOf({ kind = "", name = "", namespace = "", clusterName = "" }: NamedObject): string {
  return [kind.toLowerCase(), name, namespace, clusterName].join("/");
}

/** The controller of a Workload. One that an operator's own kind makes is no object that is read: its ReplicaSets and pods are the parents. */
function controllersIn({ resource }: Output): readonly NamedObject[] {
  const controller = resource.kind === Workload.kind ? Workload.parse(resource).spec?.kubernetes?.controller : undefined;
  // Its name ends in the controller's kind.
  const kind = resource.metadata.name.slice(resource.metadata.name.lastIndexOf("-") + 1);
  return controller === undefined ? [] : [{ ...controller, kind }];
}

test("what follows from a change is what follows from scratch, and what it leaves alone stays the same object", () => {
  fc.assert(
    fc.property(fleetTraces(), ({ start, steps }) => {
      let snapshot = snapshotOf(start);
      let discovery = translateDiscovery(snapshot, OPTIONS);
      for (const step of steps) {
        snapshot = snapshot.apply(step);
        const next = translateDiscovery(snapshot, OPTIONS, discovery.memory);
        expect(seen(next)).toEqual(seen(translateDiscovery(snapshot, OPTIONS)));
        const before = byKey(discovery);
        for (const [key, output] of byKey(next)) {
          const previous = before.get(key);
          if (previous !== undefined && JSON.stringify(previous) === JSON.stringify(output))
            expect(output.resource).toBe(previous.resource);
        }
        discovery = next;
      }
    }),
    { numRuns: runs(150) },
  );
});

test("neither the order of the input nor what was discovered before matters", () => {
  fc.assert(
    fc.property(fleets(), fc.nat(), (fleet, turn) => {
      const discovery = translateDiscovery(snapshotOf(fleet), OPTIONS);
      const at = fleet.length === 0 ? 0 : turn % fleet.length;
      const turned = [...fleet.slice(at), ...fleet.slice(0, at)].map((resource) => structuredClone(resource)).reverse();
      expect(seen(translateDiscovery(snapshotOf(turned), OPTIONS))).toEqual(seen(discovery));
      const published = [...discovery.outputs].map(({ resource }) => resource);
      expect(seen(translateDiscovery(snapshotOf([...fleet, ...published]), OPTIONS))).toEqual(seen(discovery));
    }),
    { numRuns: runs(150) },
  );
});

test("names are DNS-safe, objects fit their schemas, and refer to meshes that are there", () => {
  fc.assert(
    fc.property(fleets(), (fleet) => {
      const resources = [...translateDiscovery(snapshotOf(fleet), OPTIONS).outputs].map(({ resource }) => resource);
      const names = new Set(resources.map(({ metadata }) => metadata.name));
      for (const resource of resources) {
        expect(resource.metadata.name).toMatch(/^[a-z0-9]([a-z0-9-]{0,73}[a-z0-9])?$/);
        expect(kindOf(resource.apiVersion, resource.kind)?.parse(resource)).toEqual(resource);
        const mesh = (resource as Resource & { readonly spec?: { readonly mesh?: { readonly name: string } } }).spec?.mesh;
        if (mesh !== undefined) expect(names).toContain(mesh.name);
      }
    }),
    { numRuns: runs(150) },
  );
});

test("each object of a collision is reported, and none is reported for nothing", () => {
  fc.assert(
    fc.property(fleets(), (fleet) => {
      const { outputs, reports } = translateDiscovery(snapshotOf(fleet), OPTIONS);
      const collisions = reports.filter(({ code }) => code === "NameCollision");
      const displaced = collisions.filter(({ state }) => state === "INVALID").map(({ subject }) => resourceKeyOf(subject));
      const found = new Set([...outputs].flatMap((output) => [...output.parents, ...controllersIn(output)].map(nameOf)));
      for (const { state, subject } of collisions) expect(found.has(nameOf(subject))).toBe(state === "WARNING");
      expect(new Set(displaced).size).toBe(displaced.length);
      expect(collisions.length === 0 || displaced.length > 0).toBe(true);
    }),
    { numRuns: runs(150) },
  );
});

test("what agents send of their objects is all that discovery reads", () => {
  fc.assert(
    fc.property(fleets(), (fleet) => {
      const sent = fleet.map((resource) => {
        const kind = kindOf(resource.apiVersion, resource.kind);
        return kind?.project?.(kind.parse(resource)) ?? resource;
      });
      expect(seen(translateDiscovery(snapshotOf(sent), OPTIONS))).toEqual(seen(translateDiscovery(snapshotOf(fleet), OPTIONS)));
    }),
    { numRuns: runs(150) },
  );
});
