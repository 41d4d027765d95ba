import type { AnyResource } from "@isthmus/core";
import { fleets, type Step, stepsOver } from "@isthmus/testing";
import fc from "fast-check";
import { joinedFleet, withoutDuplicates } from "./joinedFleet.ts";
import { networkingFleets } from "./networkingFleets.ts";

/** A world, and changes of it. */
export interface WorldTrace {
  readonly start: readonly AnyResource[];
  readonly steps: readonly Step[];
}

/** What discovery found and what users say about it, in change. */
export function networkingTraces(): fc.Arbitrary<WorldTrace> {
  const joined = fc.constantFrom([], joinedFleet);
  // Others take the place of what is joined, or are beside it.
  const random = fc.tuple(networkingFleets(), planeObjects()).map((parts) => parts.flat());
  const beside = fc.tuple(random, fc.constantFrom(2, 5, 100)).map(([objects, most]) => objects.slice(0, most));
  return traces(
    fc.oneof(
      random,
      fc.tuple(joined, beside).map((parts) => withoutDuplicates(parts.flat())),
    ),
  );
}

/** What agents report and what users say about it, in change. */
export function kubernetesTraces(): fc.Arbitrary<WorldTrace> {
  return traces(fc.tuple(fleets(), networkingFleets().map(aboutKubernetes), planeObjects()).map((parts) => parts.flat()));
}

function traces(worlds: fc.Arbitrary<readonly AnyResource[]>): fc.Arbitrary<WorldTrace> {
  return fc.tuple(worlds, worlds).chain(([start, others]) => stepsOver(start, others).map((steps) => ({ start, steps })));
}

const DISCOVERED = ["Mesh", "Workload", "Destination"];

/** What users say, said of the objects that agents report; and now and then a Destination that is given. */
function aboutKubernetes(fleet: readonly AnyResource[]): readonly AnyResource[] {
  const users = fleet.filter(({ kind, metadata }) => !DISCOVERED.includes(kind) || metadata.name.startsWith("cart-"));
  const text = JSON.stringify(users).replaceAll("mesh-", "istiod-istio-system-").replaceAll("gloo-istiod-istio-system-", "gloo-mesh-");
  return JSON.parse(text.replaceAll("cart", "a").replaceAll("stock", "a-b").replaceAll("shop", "c")) as readonly AnyResource[];
}

/** What else translation reads in the management cluster. */
function planeObjects(): fc.Arbitrary<readonly AnyResource[]> {
  const metadata = (name: string) => ({ name, namespace: "gloo-mesh" });
  const settings = fc.constantFrom(
    { mtls: { istio: { tlsMode: "DISABLE" } } },
    { mtls: { istio: { tlsMode: "ISTIO_MUTUAL" } } },
    { workloadClusterResources: { targets: "OWN_DESTINATIONS", clusters: { west: "ANY_DESTINATION" } } },
    { discovery: { selectors: [{ matchLabels: { mesh: "on" } }] } },
    { discovery: { selector: [{ matchLabels: { mesh: "on" } }] } },
    { cilium: { accessPolicies: "ENABLED" } },
    { cilium: { accessPolicies: "AUDIT" } },
    { cilium: { accessPolicies: "ENABLED", allowFrom: [{ namespace: "monitoring", ports: [15020] }] } },
    { policies: { namespace: "OWN" }, relay: { enabled: true } },
  );
  const objects: readonly fc.Arbitrary<AnyResource>[] = [
    settings.map((spec) => ({ apiVersion: "settings.mesh.gloo.solo.io/v1", kind: "Settings", metadata: metadata("settings"), spec })),
    fc
      .tuple(fc.constantFrom("east", "west"), fc.constantFrom("cluster.local", "east.test"), fc.constantFrom({}, { secretName: "x" }))
      .map(([name, clusterDomain, more]) => ({
        apiVersion: "multicluster.solo.io/v1alpha1",
        kind: "KubernetesCluster",
        metadata: metadata(name),
        spec: { clusterDomain, ...more },
      })),
    fc
      .constantFrom("a", "b")
      .map((name) => ({ apiVersion: "v1", kind: "Secret", metadata: metadata(`${name}.gloo-mesh`), type: "Opaque", data: {} })),
  ];
  return fc.tuple(...objects.map((object) => fc.option(object))).map((found) => found.filter((object) => object !== null));
}
