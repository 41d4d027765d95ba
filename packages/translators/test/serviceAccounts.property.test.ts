import { Destination } from "@isthmus/api";
import { type AnyResource, snapshotOf } from "@isthmus/core";
import { drawsEachCase, runs } from "@isthmus/testing";
import fc from "fast-check";
import { expect, test } from "vitest";
import { translateDiscovery } from "../src/discovery/discovery.ts";

const ACCOUNTS = ["default", "cart", "cart-next"];

/** Of one Service: what its controllers make next, its pods, and whose its addresses are; undefined: of nobody known. */
interface World {
  readonly templates: readonly string[];
  /** "": not said. */
  readonly pods: readonly { readonly account: string; readonly hasSidecar: boolean; readonly isOfController: boolean }[];
  readonly addresses: readonly (number | undefined)[];
}

const worlds: fc.Arbitrary<World> = fc.record({
  templates: fc.array(fc.constantFrom(...ACCOUNTS), { minLength: 1, maxLength: 2 }),
  pods: fc.array(
    fc.record({ account: fc.constantFrom(...ACCOUNTS, ...ACCOUNTS, ""), hasSidecar: fc.boolean(), isOfController: fc.boolean() }),
    {
      maxLength: 3,
    },
  ),
  addresses: fc.array(fc.option(fc.nat(3), { nil: undefined, freq: 8 }), { maxLength: 3 }),
});

test("a Destination names the service accounts of all of its pods, now and next, or none while one is not known", () => {
  const seen = { none: 0, one: 0, several: 0 };
  fc.assert(
    fc.property(worlds, (world) => {
      const { templates, pods, addresses } = world;
      const named = accountsIn(world);
      const isKnown = pods.every(({ account }) => account !== "") && addresses.every((i) => i !== undefined && pods[i] !== undefined);
      const expected = isKnown ? [...new Set([...templates, ...pods.map(({ account }) => account)])].sort() : undefined;
      expect(named).toEqual(expected);
      seen[named === undefined ? "none" : named.length === 1 ? "one" : "several"] += 1;
    }),
    { numRuns: runs(300) },
  );
  if (drawsEachCase()) expect(Math.min(...Object.values(seen))).toBeGreaterThan(0);
});

function accountsIn({ templates, pods, addresses }: World): readonly string[] | undefined {
  const object = (apiVersion: string, kind: string, name: string, rest: object, namespace = "shop"): AnyResource => {
    const { metadata = {}, ...body } = rest as { readonly metadata?: object };
    return { apiVersion, kind, metadata: { name, namespace, clusterName: "east", ...metadata }, ...body };
  };
  const labels = { app: "cart" };
  const template = (spec: object, more: object = {}) => ({ metadata: { labels: { ...labels, ...more } }, spec });
  const sidecar = { name: "istio-proxy", image: "istio/proxyv2:1.27.0" };
  // As Kubernetes has it: no name in a template is the default one.
  const accountOf = (account: string) => (account === "default" ? {} : { serviceAccountName: account });
  const { outputs } = translateDiscovery(
    snapshotOf([
      object(
        "apps/v1",
        "Deployment",
        "istiod",
        { spec: { template: template({ containers: [{ name: "discovery", image: "istio/pilot:1.27.0" }] }, { app: "istiod" }) } },
        "istio-system",
      ),
      object("v1", "ConfigMap", "istio", { data: { mesh: "trustDomain: east\n" } }, "istio-system"),
      object("v1", "Service", "cart", { spec: { selector: labels, ports: [{ port: 80 }] } }),
      ...templates.map((account, i) =>
        object("apps/v1", "StatefulSet", `cart-${i}`, {
          spec: { template: template({ ...accountOf(account), containers: [{ name: "app", image: "app:1" }, sidecar] }) },
        }),
      ),
      ...pods.map(({ account, hasSidecar, isOfController }, i) =>
        object("v1", "Pod", `cart-0-${i}`, {
          metadata: {
            labels,
            ...(isOfController
              ? { ownerReferences: [{ apiVersion: "apps/v1", kind: "StatefulSet", name: "cart-0", controller: true }] }
              : {}),
          },
          spec: {
            ...(account === "" ? {} : { serviceAccountName: account }),
            containers: [{ name: "app", image: "app:1" }, ...(hasSidecar ? [sidecar] : [])],
          },
        }),
      ),
      object("discovery.k8s.io/v1", "EndpointSlice", "cart-x", {
        metadata: { labels: { "kubernetes.io/service-name": "cart" } },
        addressType: "IPv4",
        ports: [{ port: 80 }],
        endpoints: addresses.map((pod, i) => ({
          addresses: [`10.0.0.${i}`],
          ...(pod === undefined ? {} : { targetRef: { kind: "Pod", name: `cart-0-${pod}`, namespace: "shop" } }),
        })),
      }),
    ]),
    { namespace: "gloo-mesh" },
  );
  const found = [...outputs].map(({ resource }) => resource).find(({ kind }) => kind === Destination.kind) as Destination | undefined;
  expect(found?.spec?.kubeService?.ref?.name).toBe("cart");
  return found?.spec?.kubeService?.serviceAccounts;
}
