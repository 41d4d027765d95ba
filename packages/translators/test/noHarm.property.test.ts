import { kindOf, Settings, type SettingsSpec, TrafficPolicy, userStatusKinds } from "@isthmus/api";
import { type AnyResource, type Resource, refOf, snapshotOf } from "@isthmus/core";
import { type DocumentedSchema, documentedDefaults, runs, soundTranslation } from "@isthmus/testing";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Translation } from "../src/index.ts";
import { networkingFleets } from "./networkingFleets.ts";

const USER_KINDS = new Set(userStatusKinds().map(({ kind }) => kind));

function world(resources: readonly AnyResource[]): Translation {
  const parsed = resources.map(
    (resource): Resource => kindOf(resource.apiVersion, resource.kind)?.parse(structuredClone(resource)) ?? resource,
  );
  return soundTranslation(snapshotOf(parsed), { namespace: "gloo-mesh", stage: "networking" });
}

function outputsOf(of: Translation): readonly Resource[] {
  return [...of.networking].map(({ resource }) => resource);
}

/** What is there when a cluster is registered: nobody has written anything of ours. */
function registered(fleet: readonly AnyResource[]): readonly AnyResource[] {
  return fleet.filter(({ kind }) => !USER_KINDS.has(kind));
}

function settings(spec: SettingsSpec): AnyResource {
  return {
    apiVersion: Settings.apiVersion,
    kind: Settings.kind,
    metadata: { name: "settings", namespace: "gloo-mesh", generation: 1 },
    spec,
  };
}

const SPEC = Settings.definition.fields.spec as object as DocumentedSchema;
const SECTIONS = Object.keys(SPEC.properties ?? {});

interface Written {
  /** Such as `spec.relay.deleteBudget`. */
  readonly path: string;
  readonly spec: SettingsSpec;
}

/** What a section of the Settings says that holds anyway: nothing, and each default by itself. By the schema, so that what is new has one. */
function sayingTheDefault(section: string): readonly Written[] {
  const empty = SPEC.properties?.[section]?.type === "array" ? [] : {};
  const defaults = documentedDefaults(SPEC, "spec").filter(({ path }) => path.startsWith(`spec.${section}.`));
  return [
    { path: `spec.${section}`, spec: { [section]: empty } },
    // What entries of lists say has its worlds in packages/plane/test/schemaDefaults.test.ts.
    ...defaults
      .filter(({ path }) => !path.includes("[]"))
      .map(({ path, value }) => ({ path, spec: nested(path.split(".").slice(1), value) as SettingsSpec })),
  ];
}

function nested([step = "", ...steps]: readonly string[], value: unknown): object {
  const inner = steps.length === 0 ? value : nested(steps, value);
  return step.endsWith("{}") ? { [step.slice(0, -2)]: { east: inner } } : { [step]: inner };
}

describe("joining", () => {
  test("writes nothing: not before somebody writes a policy, a VirtualMesh or a TLS mode", () => {
    fc.assert(
      fc.property(networkingFleets(), (fleet) => {
        expect(outputsOf(world(registered(fleet))).map(refOf)).toEqual([]);
      }),
      { numRuns: runs(400) },
    );
  });

  test.each(SECTIONS)("writes nothing with Settings about %s", (section) => {
    const written = sayingTheDefault(section);
    fc.assert(
      fc.property(networkingFleets(), fc.constantFrom(...written), (fleet, { spec }) => {
        expect(outputsOf(world([...registered(fleet), settings(spec)])).map(refOf)).toEqual([]);
      }),
      { numRuns: runs(40) },
    );
  });
});

describe("Settings", () => {
  test.each(SECTIONS)("%s: what says the default changes nothing", (section) => {
    for (const { path, spec } of sayingTheDefault(section)) {
      fc.assert(
        fc.property(networkingFleets(), (fleet) => {
          const [plain, said] = [world(fleet), world([...fleet, settings(spec)])];
          expect({ path, outputs: outputsOf(said) }).toEqual({ path, outputs: outputsOf(plain) });
          expect({ path, reports: said.reports.filter(({ subject }) => subject.kind !== Settings.kind) }).toEqual({
            path,
            reports: plain.reports,
          });
        }),
        { numRuns: runs(16) },
      );
    }
  });

  test("the TLS mode that they say is that of rules, and nothing else", () => {
    const modeless = (resources: readonly Resource[]) =>
      JSON.stringify(
        resources.filter(({ kind }) => kind !== "DestinationRule"),
        (key, value: unknown) => (key === "tls" ? undefined : value),
      );
    fc.assert(
      fc.property(networkingFleets(), (fleet) => {
        const said = world([...fleet, settings({ mtls: { istio: { tlsMode: "ISTIO_MUTUAL" } } })]);
        expect(modeless(outputsOf(said))).toEqual(modeless(outputsOf(world(fleet))));
      }),
      { numRuns: runs(100) },
    );
  });
});

test("a policy that sets one thing of connections says nothing of TLS", () => {
  fc.assert(
    fc.property(networkingFleets(), (fleet) => {
      const policy: AnyResource = {
        apiVersion: TrafficPolicy.apiVersion,
        kind: TrafficPolicy.kind,
        metadata: { name: "careful", namespace: "gloo-mesh", generation: 1 },
        spec: { policy: { outlierDetection: { consecutiveErrors: 3 } } },
      };
      const rules = outputsOf(world([...registered(fleet), policy])).filter(({ kind }) => kind === "DestinationRule");
      const theirs = fleet.filter(({ kind }) => kind === "DestinationRule").map(({ spec }) => JSON.stringify(spec));
      for (const rule of rules) if (!theirs.some((spec) => spec.includes("tls"))) expect(JSON.stringify(rule)).not.toContain('"tls"');
    }),
    { numRuns: runs(100) },
  );
});
