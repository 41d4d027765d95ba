import { kindOf } from "@isthmus/api";
import { type AnyResource, type Resource, snapshotOf } from "@isthmus/core";
import { leastCpuMs, MOST_GROWTH, PATIENCE_MS } from "@isthmus/testing";
import { describe, expect, it } from "vitest";
import { type TranslateOptions, translate } from "../src/index.ts";
import { joinedFleet } from "./joinedFleet.ts";

const OPTIONS: TranslateOptions = { namespace: "gloo-mesh", stage: "networking" };
const NETWORKING = "networking.mesh.gloo.solo.io/v1";

function parsed(object: unknown): Resource {
  const { apiVersion, kind } = object as AnyResource;
  return kindOf(apiVersion, kind)?.parse(object) ?? expect.fail(`${kind} is not known`);
}

function object(kind: string, spec: object, apiVersion = NETWORKING): AnyResource {
  return { apiVersion, kind, metadata: { name: "large", namespace: "shop" }, spec };
}

function list<T>(length: number, make: (i: number) => T): readonly T[] {
  return Array.from({ length }, (_, i) => make(i));
}

function members(length: number): Readonly<Record<string, string>> {
  return Object.fromEntries(list(length, (i) => [`x-${i}`, "v"]));
}

/** One object with a list that has `length` entries: of 256, the most that most lists may have, the translation must not take the square. */
const OBJECTS: readonly (readonly [string, (length: number) => AnyResource])[] = [
  [
    "subsets of a shift",
    (length) => {
      const service = { name: "cart", namespace: "shop", clusterName: "east" };
      const destinations = list(length, (i) => ({ weight: 1, kubeService: { ...service, subset: { version: `v${i}` } } }));
      return object("TrafficPolicy", { policy: { trafficShift: { destinations } } });
    },
  ],
  [
    "request matchers",
    (length) =>
      object("TrafficPolicy", {
        httpRequestMatchers: list(length, (i) => ({ uri: { prefix: `/${i}` } })),
        policy: { requestTimeout: "2s" },
      }),
  ],
  ["headers", (length) => object("TrafficPolicy", { policy: { headerManipulation: { appendRequestHeaders: members(4 * length) } } })],
  [
    "services of a selector",
    (length) => {
      const services = list(length, (i) => ({ name: `s${i}`, namespace: "shop", clusterName: "east" }));
      return object("TrafficPolicy", { destinationSelector: [{ kubeServiceRefs: { services } }], policy: { requestTimeout: "2s" } });
    },
  ],
  [
    "callers of a policy",
    (length) => {
      const serviceAccounts = list(length, (i) => ({ name: `s${i}`, namespace: "shop", clusterName: "east" }));
      return object("AccessPolicy", { sourceSelector: [{ kubeServiceAccountRefs: { serviceAccounts } }] });
    },
  ],
  ["paths of a policy", (length) => object("AccessPolicy", { allowedPaths: list(16 * length, (i) => `/${i}`) })],
  [
    "hosts of a user's VirtualService",
    (length) => {
      const route = [{ destination: { host: "cart" } }];
      const made = object(
        "VirtualService",
        { hosts: list(16 * length, (i) => `h${i}.example.com`), http: [{ route }] },
        "networking.istio.io/v1beta1",
      );
      return { ...made, metadata: { ...made.metadata, clusterName: "east" } };
    },
  ],
];

describe("one object costs its length", () => {
  const base = joinedFleet.map(parsed);
  const before = translate(snapshotOf(base), OPTIONS);

  it.each(OBJECTS)(
    "as %s",
    (_, make) => {
      const cost = (length: number): number => {
        const one = make(length);
        // Another object each time: what is known of one is remembered.
        return leastCpuMs(() => void translate(snapshotOf([...base, parsed(structuredClone(one))]), OPTIONS, before));
      };
      let least = Number.POSITIVE_INFINITY;
      for (let round = 0; round < 3 && least >= MOST_GROWTH; round++) least = Math.min(least, cost(256) / cost(64));
      expect(least).toBeLessThan(MOST_GROWTH);
    },
    PATIENCE_MS,
  );
});
