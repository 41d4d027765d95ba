import { kindOf, Settings, type SettingsSpec, TrafficPolicy, userStatusKinds } from "@isthmus/api";
import { type AnyResource, type Resource, refOf, snapshotOf } from "@isthmus/core";
import { runs } from "@isthmus/testing";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Translation, translate } from "../src/index.ts";
import { networkingFleets } from "./networkingFleets.ts";

const USER_KINDS = new Set(userStatusKinds().map(({ kind }) => kind));

function world(resources: readonly AnyResource[]): Translation {
  const parsed = resources.map(
    (resource): Resource => kindOf(resource.apiVersion, resource.kind)?.parse(structuredClone(resource)) ?? resource,
  );
  return translate(snapshotOf(parsed), { namespace: "gloo-mesh", stage: "networking" });
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

interface SchemaNode {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly description?: string;
  readonly enum?: readonly string[];
}

const SECTIONS = Object.entries((Settings.definition.fields.spec as unknown as SchemaNode).properties ?? {});

interface Written {
  /** Such as `relay.deleteBudget`. */
  readonly path: string;
  readonly spec: SettingsSpec;
}

/** Each object of a section empty, and each word that its description calls the default written out: by the schema, so that what is new has one. */
function sayingTheDefault([name, schema]: readonly [string, SchemaNode]): readonly Written[] {
  const found: { readonly path: readonly string[]; readonly value: unknown }[] = [];
  const visit = (path: readonly string[], node: SchemaNode): void => {
    if (node.type === "array") found.push({ path, value: [] });
    if (node.type === "object") found.push({ path, value: {} });
    for (const word of node.enum ?? []) {
      if (new RegExp(`\\b${word}, the default|Default: ${word}\\b`).test(node.description ?? "")) found.push({ path, value: word });
    }
    const [, number] = /\. Default (\d+)\./.exec(node.description ?? "") ?? [];
    if (node.type === "integer" && number !== undefined) found.push({ path, value: Number(number) });
    for (const [member, child] of Object.entries(node.properties ?? {})) visit([...path, member], child);
  };
  visit([name], schema);
  return found.map(({ path, value }) => ({
    path: path.join("."),
    spec: path.reduceRight<unknown>((inner, step) => ({ [step]: inner }), value) as SettingsSpec,
  }));
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

  test.each(SECTIONS)("writes nothing with Settings about %s", (...section) => {
    const written = section[0] === "mtls" ? [{ path: "mtls", spec: { mtls: {} } }] : sayingTheDefault(section);
    fc.assert(
      fc.property(networkingFleets(), fc.constantFrom(...written), (fleet, { spec }) => {
        expect(outputsOf(world([...registered(fleet), settings(spec)])).map(refOf)).toEqual([]);
      }),
      { numRuns: runs(40) },
    );
  });
});

describe("Settings", () => {
  test.each(SECTIONS)("%s: what says the default changes nothing", (...section) => {
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
