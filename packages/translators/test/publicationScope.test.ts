import { kindOf, Settings } from "@isthmus/api";
import { type Resource, snapshotOf } from "@isthmus/core";
import { runs, soundTranslation } from "@isthmus/testing";
import fc from "fast-check";
import { expect, test } from "vitest";
import { isInScope, rescoped, type TranslateOptions, type Translation } from "../src/index.ts";
import { kubernetesTraces } from "./inputTraces.ts";

const OPTIONS: TranslateOptions = { namespace: "gloo-mesh", stage: "all" };

function settings(publish: string): Resource {
  const metadata = { name: "settings", namespace: "gloo-mesh" };
  return Settings.parse({ apiVersion: Settings.apiVersion, kind: Settings.kind, metadata, spec: { discovery: { publish } } });
}

function parsed(resource: Resource): Resource {
  return kindOf(resource.apiVersion, resource.kind)?.parse(resource) ?? resource;
}

function published(world: Translation): readonly string[] {
  return [...world.discovery.entries()].flatMap(([key, { resource }]) => (isInScope(world, resource) ? [key] : []));
}

test("what is to be published is known from what changed", () => {
  const scopes = fc.array(fc.constantFrom("ALL", "FEDERATED_OR_TARGETED", "FEDERATED_OR_TARGETED", "NONE"), { minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(kubernetesTraces(), scopes, ({ start, steps }, drawn) => {
      let given = snapshotOf(start.map(parsed)).apply({ put: [settings(drawn[0] ?? "ALL")], remove: [] });
      let world = soundTranslation(given, OPTIONS);
      const known = new Set(published(world));
      for (const [i, { put, remove }] of steps.entries()) {
        given = given.apply({ put: put.map(parsed), remove }).apply({ put: [settings(drawn[i % drawn.length] ?? "ALL")], remove: [] });
        const next = soundTranslation(given, OPTIONS, world);
        const scope = rescoped(next, world);
        const moved = scope === "all" ? [...next.discovery.entries()].map(([key]) => key) : scope;
        for (const key of [...next.discovery.changesSince(world.discovery).map((change) => change.key), ...moved]) {
          const output = next.discovery.at(key);
          if (output !== undefined && isInScope(next, output.resource)) known.add(key);
          else known.delete(key);
        }
        expect([...known].sort()).toEqual([...published(next)].sort());
        world = next;
      }
    }),
    { numRuns: runs(60) },
  );
});
