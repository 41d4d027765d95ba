import {
  AccessPolicy,
  AuthorizationPolicy,
  Destination,
  kindOf,
  ServiceDependency,
  userStatusKinds,
  VirtualDestination,
} from "@isthmus/api";
import { type AnyResource, type Resource, refOf, resourceKeyOf, snapshotOf } from "@isthmus/core";
import { runs, soundTranslation } from "@isthmus/testing";
import fc from "fast-check";
import { expect, test } from "vitest";
import { statusesOf, type TranslateOptions, type Translation } from "../src/index.ts";
import { networkingFleets } from "./networkingFleets.ts";

const OPTIONS: TranslateOptions = { namespace: "gloo-mesh", stage: "networking" };
const USER_KINDS = userStatusKinds().map(({ kind }) => kind);

function world(resources: readonly Resource[], options = OPTIONS): Translation {
  return soundTranslation(snapshotOf(resources.map(parsed)), options);
}

function parsed(resource: Resource): Resource {
  return kindOf(resource.apiVersion, resource.kind)?.parse(frozen(resource)) ?? resource;
}

/** So that the one who alters an input gets caught. */
function frozen<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    Object.values(value).forEach(frozen);
  }
  return value;
}

function seen(of: Translation) {
  return { outputs: outputsOf(of), reports: of.reports, statuses: statusesOf(of) };
}

function outputsOf({ networking }: Translation) {
  return [...networking].map(({ resource }) => resource);
}

function options(): fc.Arbitrary<TranslateOptions> {
  return fc.boolean().map((disallowIntersectingConfig) => ({ ...OPTIONS, disallowIntersectingConfig }));
}

test("the order of the input does not matter", () => {
  fc.assert(
    fc.property(networkingFleets(), options(), (fleet, flags) => {
      const reversed = [...fleet].map((resource) => structuredClone(resource)).reverse();
      expect(seen(world(reversed, flags))).toEqual(seen(world(fleet, flags)));
    }),
    { numRuns: runs(100) },
  );
});

test("what follows from a change is what follows from scratch", () => {
  fc.assert(
    fc.property(networkingFleets(), networkingFleets(), options(), (before, after, flags) => {
      const gone = before.filter(({ kind, metadata }) => !after.some((one) => one.kind === kind && one.metadata.name === metadata.name));
      const first = world(before, flags);
      const next = first.inputs.apply({ put: after.map(parsed), remove: gone.slice(0, 3).map(refOf) });
      expect(seen(soundTranslation(next, flags, first))).toEqual(seen(soundTranslation(next, flags)));
    }),
    { numRuns: runs(100) },
  );
});

test("what did not change is not translated again", () => {
  fc.assert(
    fc.property(networkingFleets(), (fleet) => {
      const first = world(fleet);
      const again = soundTranslation(
        snapshotOf(fleet.map(parsed)).apply({ put: [...first.inputs.collections().values()].flatMap((all) => [...all]), remove: [] }),
        OPTIONS,
        first,
      );
      for (const target of again.cache.targets) expect(target).toBe(first.cache.targets.row(target.key));
    }),
    { numRuns: runs(50) },
  );
});

test("adding what is desired, and every status, changes nothing", () => {
  fc.assert(
    fc.property(networkingFleets(), (fleet) => {
      const first = world(fleet);
      const statuses = new Map(statusesOf(first).map(({ ref, status }) => [resourceKeyOf(ref), status]));
      const told = fleet.map((resource): AnyResource => {
        const status = statuses.get(resourceKeyOf(refOf(resource)));
        return status === undefined ? resource : { ...resource, status };
      });
      expect(seen(world([...told, ...outputsOf(first)]))).toEqual(seen(first));
    }),
    { numRuns: runs(100) },
  );
});

test("a TrafficPolicy that is refused everywhere leaves no trace", () => {
  fc.assert(
    fc.property(networkingFleets(), options(), (fleet, flags) => {
      const all = world(fleet, flags);
      for (const { ref, status } of statusesOf(all)) {
        if (ref.kind === AccessPolicy.kind) continue;
        // Others refer to a VirtualDestination by name: it is known, as it would not be without it.
        if (ref.kind === VirtualDestination.kind) continue;
        // Callers of one that is not understood keep what they know of the mesh: no Sidecar is written for them (ADR 0072).
        if (ref.kind === ServiceDependency.kind) continue;
        // With an earlier spec in force it is not as if it were gone.
        if (all.reports.some(({ subject, code }) => code === "LastAcceptedInForce" && resourceKeyOf(subject) === resourceKeyOf(ref)))
          continue;
        if (status["state"] !== "INVALID" || status["acceptedCount"] !== 0 || status["meshes"] !== undefined) continue;
        // A VirtualMesh has the meshes that it names also while they are unknown.
        if (JSON.stringify(status["conditions"]).includes('"MeshUnknown"')) continue;
        const others = fleet.filter((resource) => resourceKeyOf(refOf(resource)) !== resourceKeyOf(ref));
        expect(outputsOf(world(others, flags))).toEqual(outputsOf(all));
      }
    }),
    { numRuns: runs(100) },
  );
});

test("a TrafficPolicy that is refused on the host of a VirtualDestination wants no subset of a Destination", () => {
  const gateway = { name: "mesh-west", namespace: "gloo-mesh" };
  const cart = { name: "cart", namespace: "shop", clusterName: "west" };
  const at = (apiVersion: string, kind: string, name: string, spec: object): AnyResource => ({
    apiVersion,
    kind,
    metadata: { name, namespace: "gloo-mesh" },
    spec,
  });
  const fleet = [
    at("discovery.mesh.gloo.solo.io/v1", "Mesh", "mesh-west", {
      istio: { installation: { namespace: "istio-system", cluster: "west", podLabels: { istio: "pilot" } }, trustDomain: "west" },
      agentInfo: { agentNamespace: "gloo-mesh" },
    }),
    at("networking.mesh.gloo.solo.io/v1", "VirtualMesh", "all", { meshes: [gateway], federation: { permissive: {} } }),
    at("discovery.mesh.gloo.solo.io/v1", "Destination", "cart-shop-west", {
      kubeService: {
        ref: cart,
        workloadSelectorLabels: { app: "cart" },
        labels: { app: "cart" },
        ports: [{ port: 80, name: "http", protocol: "TCP", targetPortNumber: 80 }],
        endpointSubsets: [{ endpoints: [{ ipAddress: "10.0.0.1", labels: { app: "cart" } }], ports: [{ port: 80, name: "http" }] }],
      },
      mesh: gateway,
    }),
    at("networking.enterprise.mesh.gloo.solo.io/v1beta1", "VirtualDestination", "global", {
      hostname: "cart.example.com",
      port: { number: 80 },
      meshList: { meshes: [gateway] },
      localized: { destinationSelectors: [{ kubeServiceMatcher: { labels: { app: "cart" } } }] },
    }),
  ];
  const policy = at("networking.mesh.gloo.solo.io/v1", "TrafficPolicy", "shift", {
    destinationSelector: [{ virtualDestinationRefs: { virtualDestinations: [{ name: "global", namespace: "gloo-mesh" }] } }],
    policy: { trafficShift: { destinations: [{ kubeService: { ...cart, subset: { version: "v1" } } }] } },
  });
  const all = world([...fleet, policy]);
  expect(statusesOf(all).find(({ ref }) => ref.kind === "TrafficPolicy")?.status["state"]).toBe("INVALID");
  expect(outputsOf(all)).toEqual(outputsOf(world(fleet)));
});

/** What an AuthorizationPolicy lets in, a rule each, by the object that says it. */
function letIn(of: Translation): ReadonlyMap<string, readonly string[]> {
  const policies = outputsOf(of).filter((resource): resource is AuthorizationPolicy => resource.kind === AuthorizationPolicy.kind);
  return new Map(policies.map((policy) => [resourceKeyOf(refOf(policy)), (policy.spec?.rules ?? []).map((rule) => JSON.stringify(rule))]));
}

const MISTAKES: readonly (readonly [string, (spec: Readonly<Record<string, unknown>>) => object])[] = [
  ["TrafficPolicy", (spec) => ({ ...spec, destinationSelectr: [] })],
  [
    "TrafficPolicy",
    (spec) => ({ ...spec, destinationSelector: [{ kubeServiceRefs: { services: [{ name: "cart", namespace: "shop" }] } }] }),
  ],
  ["TrafficPolicy", (spec) => ({ ...spec, policy: { ...(spec["policy"] as object), retries: { attempts: -1 } } })],
  ["VirtualMesh", (spec) => ({ ...spec, meshes: [...(spec["meshes"] as object[]), { name: "nobody" }] })],
  ["VirtualMesh", (spec) => ({ ...spec, meshes: [...(spec["meshes"] as object[]).slice(1), { name: "nobody", namespace: "gloo-mesh" }] })],
  ["VirtualMesh", (spec) => ({ ...spec, federation: { selectors: [{ destinationSelectors: [{}] }], destinationSelectors: [{}] } })],
  ["VirtualMesh", (spec) => ({ ...spec, meshes: [{ name: "nobody", namespace: "gloo-mesh" }], globalAccessPolicy: "DISABLED" })],
];

test("a mistake in a TrafficPolicy or a VirtualMesh that was accepted changes nothing that is written", () => {
  fc.assert(
    fc.property(networkingFleets(), fc.constantFrom(...MISTAKES), options(), (fleet, [kind, mistaken], flags) => {
      const statuses = new Map(statusesOf(world(fleet, flags)).map(({ ref, status }) => [resourceKeyOf(ref), status]));
      const told = fleet.map((resource): AnyResource => {
        const status = statuses.get(resourceKeyOf(refOf(resource)));
        return status === undefined ? resource : { ...resource, status };
      });
      const isAccepted = ({ status }: AnyResource) => (status as { readonly state?: string } | undefined)?.state === "ACCEPTED";
      const changed = told.map((one): AnyResource => {
        if (one.kind !== kind || !isAccepted(one)) return one;
        return { ...one, spec: mistaken(one["spec"] as Readonly<Record<string, unknown>>) };
      });
      expect(outputsOf(world(changed, flags))).toEqual(outputsOf(world(told, flags)));
    }),
    { numRuns: runs(800) },
  );
});

test("a mistake in an AccessPolicy takes no AuthorizationPolicy away, and denies all callers who was not before", () => {
  fc.assert(
    fc.property(networkingFleets(), fc.nat(3), (fleet, choice) => {
      const before = world(fleet);
      const statuses = new Map(statusesOf(before).map(({ ref, status }) => [resourceKeyOf(ref), status]));
      const mistakes = [
        { requiredHeaders: ["x"] },
        { allowedPaths: ["/{x}"] },
        { sourceSelector: [{ kubeIdentityMatchr: {} }] },
        { allowedPorts: "http" },
      ];
      const mistaken = fleet.map((resource): AnyResource => {
        const status = statuses.get(resourceKeyOf(refOf(resource)));
        if (resource.kind !== AccessPolicy.kind) return status === undefined ? resource : { ...resource, status };
        const spec = { ...(resource["spec"] as object), ...mistakes[choice] };
        return { ...resource, spec, ...(status === undefined ? {} : { status }) } as AnyResource;
      });
      const after = letIn(world(mistaken));
      for (const [key, rules] of letIn(before)) {
        expect([...after.keys()]).toContain(key);
        expect(rules).toEqual(expect.arrayContaining([...(after.get(key) ?? [])]));
      }
    }),
    { numRuns: runs(200) },
  );
});

test("limited to its own cluster, nothing of a workload cluster is in force anywhere else", () => {
  fc.assert(
    fc.property(networkingFleets(), options(), (fleet, flags) => {
      const settings = { workloadClusterResources: { targets: "OWN_DESTINATIONS" } };
      const metadata = { name: "settings", namespace: "gloo-mesh" };
      const all = world(
        [...fleet, { apiVersion: "settings.mesh.gloo.solo.io/v1", kind: "Settings", metadata, spec: settings } as Resource],
        flags,
      );
      for (const { spec, status } of all.attached.of(Destination)) {
        const { appliedTrafficPolicies = [], appliedAccessPolicies = [], appliedFederation } = status ?? {};
        const refs = [...appliedTrafficPolicies, ...appliedAccessPolicies].map(({ ref }) => ref);
        const places = [...refs, appliedFederation?.virtualMeshRef].map((ref) => ref?.clusterName);
        expect([undefined, spec?.kubeService?.ref?.clusterName]).toEqual(expect.arrayContaining(places));
      }
    }),
    { numRuns: runs(100) },
  );
});

test("everything that a user wrote has one status, and every error is in it", () => {
  fc.assert(
    fc.property(networkingFleets(), options(), (fleet, flags) => {
      const all = world(fleet, flags);
      const statuses = statusesOf(all);
      const keys = statuses.map(({ ref }) => resourceKeyOf(ref));
      expect(new Set(keys).size).toBe(keys.length);
      for (const resource of fleet.filter(({ kind }) => USER_KINDS.includes(kind))) expect(keys).toContain(resourceKeyOf(refOf(resource)));
      for (const { subject, message, state } of all.reports) {
        if (!USER_KINDS.includes(subject.kind)) continue;
        const status = statuses.find(({ ref }) => resourceKeyOf(ref) === resourceKeyOf(subject))?.status;
        expect(JSON.stringify(status)).toContain(JSON.stringify(message));
        if (state === "INVALID") expect(status?.["state"]).toBe("INVALID");
      }
    }),
    { numRuns: runs(100) },
  );
});

test("outputs fit their schemas and have names that Kubernetes takes", () => {
  fc.assert(
    fc.property(networkingFleets(), (fleet) => {
      for (const resource of outputsOf(world(fleet))) {
        expect(resource.metadata.name).toMatch(/^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/);
        expect(kindOf(resource.apiVersion, resource.kind)?.parse(resource)).toEqual(resource);
      }
    }),
    { numRuns: runs(100) },
  );
});
