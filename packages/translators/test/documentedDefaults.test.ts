import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  AccessPolicy,
  ineffectiveFields,
  kindOf,
  Settings,
  TrafficPolicy,
  userStatusKinds,
  VirtualDestination,
  VirtualMesh,
} from "@isthmus/api";
import { type AnyResource, type Resource, snapshotOf } from "@isthmus/core";
import { type DocumentedSchema, type GoldenResult, readInput, sampled, withDocumentedDefaults } from "@isthmus/testing";
import { describe, expect, test } from "vitest";
import { translateDiscovery } from "../src/discovery/discovery.ts";
import { translateNetworking } from "./translateNetworking.ts";

const FOLDER = fileURLToPath(new URL("../testdata/", import.meta.url));
const SPECS = new Map(userStatusKinds().map((kind) => [kind.kind, specOf(kind)]));
const SECTIONS = Object.keys((SPECS.get(Settings.kind) as DocumentedSchema).properties ?? {});

function specOf(kind: object): DocumentedSchema {
  return (kind as typeof Settings).definition.fields.spec as object as DocumentedSchema;
}

/** What is written and said in the world of a golden pair, but of Settings: in some of them nobody has written any. */
function worldOf(name: string, change: (resources: readonly AnyResource[]) => readonly AnyResource[]) {
  const { options, resources } = readInput(readFileSync(join(FOLDER, `${name}.in.yaml`), "utf8"));
  const { unread: _, ...given } = options as { readonly unread?: unknown };
  const changed = change(resources as readonly AnyResource[]).map(
    (resource): Resource => kindOf(resource.apiVersion, resource.kind)?.parse(structuredClone(resource)) ?? resource,
  );
  const all = { namespace: "gloo-mesh", ages: "CREATED" as const, ...given };
  const result: GoldenResult = (name.startsWith("discovery/") ? translateDiscovery : translateNetworking)(snapshotOf(changed), all);
  const sets = "owner" in result.outputs ? [result.outputs] : result.outputs;
  return {
    outputs: sets.flatMap((set) => [...set].map(({ resource }) => spelledOut(resource, resource.kind))),
    reports: result.reports.filter(({ subject }) => subject.kind !== Settings.kind),
    statuses: [...(result.statuses ?? [])]
      .filter(({ kind }) => kind !== Settings.kind)
      .map((resource) => spelledOut(resource, resource.kind)),
  };
}

/** With all defaults in what repeats a user's spec, which says it as it is written. */
function spelledOut(value: unknown, kind: string): unknown {
  if (Array.isArray(value)) return value.map((entry) => spelledOut(entry, kind));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => {
      const schema = name === "spec" ? SPECS.get(kind) : PARTS[name];
      return [name, schema === undefined ? spelledOut(member, REPEATED[name] ?? kind) : withDocumentedDefaults(schema, member)];
    }),
  );
}

const REPEATED: Readonly<Record<string, string>> = {
  appliedTrafficPolicies: TrafficPolicy.kind,
  appliedAccessPolicies: AccessPolicy.kind,
  appliedVirtualMesh: VirtualMesh.kind,
  virtualDestinations: VirtualDestination.kind,
};
const { trafficShift } = TrafficPolicy.definition.fields.spec.properties.policy.properties;
const { failover } = VirtualMesh.definition.fields.spec.properties.federation.properties;
const { intermediateCertificateAuthority } = VirtualMesh.definition.fields.spec.properties.mtlsConfig.properties.shared.properties;
const PARTS: Readonly<Record<string, DocumentedSchema>> = {
  trafficShift: trafficShift as object,
  agentCa: intermediateCertificateAuthority as object,
  failover: failover as object,
};

const CASES = readdirSync(FOLDER, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".in.yaml"))
  .map((file) => file.slice(0, -".in.yaml".length))
  .sort();

function withDefaults(resource: AnyResource): AnyResource {
  const schema = SPECS.get(resource.kind);
  if (schema === undefined || kindOf(resource.apiVersion, resource.kind) === undefined) return resource;
  // Beside a member that is misspelt, the one that is perhaps meant says that it is not.
  if (ineffectiveFields(schema as never, resource["spec"] ?? {}, "").some(({ type }) => type === "unknown")) return resource;
  const { lastAccepted } = (resource["status"] ?? {}) as { readonly lastAccepted?: { readonly spec?: unknown } };
  const accepted = lastAccepted && { ...lastAccepted, spec: withDocumentedDefaults(schema, lastAccepted.spec) };
  return {
    ...resource,
    spec: withDocumentedDefaults(schema, resource["spec"] ?? {}),
    ...(accepted && { status: { ...(resource["status"] as object), lastAccepted: accepted } }),
  } as AnyResource;
}

describe("in each world of a golden pair", () => {
  test.each(sampled(CASES))("%s: every default that the schemas document is the same as its absence", (name) => {
    expect(worldOf(name, (resources) => resources.map(withDefaults))).toEqual(worldOf(name, (resources) => resources));
  });
});

describe.each(SECTIONS)("Settings about %s that say what holds anyway", (section) => {
  const spelled = withDocumentedDefaults(SPECS.get(Settings.kind) ?? {}, {}) as Readonly<Record<string, unknown>>;
  const spec = { [section]: spelled[section] };
  const settings = (namespace: string): AnyResource => ({
    apiVersion: Settings.apiVersion,
    kind: Settings.kind,
    metadata: { name: "settings", namespace, generation: 1 },
    spec,
  });

  // There are ten sections: of each a few cases at a time.
  test.each(sampled(sampled(CASES)))("%s: all else is unchanged", (name) => {
    const added = (resources: readonly AnyResource[]): readonly AnyResource[] =>
      resources.some(({ kind }) => kind === Settings.kind) ? resources : [...resources, settings("gloo-mesh")];
    expect(worldOf(name, added)).toEqual(worldOf(name, (resources) => resources));
  });
});
