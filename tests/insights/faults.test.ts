import { formatRef } from "@isthmus/core";
import { sampled } from "@isthmus/testing";
import { describe, expect, test } from "vitest";
import { glob } from "../conformance/deliberate.ts";
import { accessFaults } from "./faults/access.ts";
import { clusterFaults } from "./faults/clusters.ts";
import { gatewayFaults } from "./faults/gateways.ts";
import { routingFaults } from "./faults/routing.ts";
import { trafficPolicyFaults } from "./faults/trafficPolicies.ts";
import { foundIn, shown } from "./found.ts";
import { healthyFleet } from "./healthy/fleet.ts";
import { variations } from "./healthy/variations.ts";

const healthy = await healthyFleet();

test("nothing is found in a healthy fleet", () => {
  expect(foundIn({ resources: healthy }).map(({ insight }) => shown(insight))).toEqual([]);
});

test.each(sampled(variations).map(({ title, change }) => [title, change] as const))("nothing is found when %s", (_, change) => {
  expect(foundIn({ resources: change(healthy) }).map(({ insight }) => shown(insight))).toEqual([]);
});

const faults = [...routingFaults, ...gatewayFaults, ...accessFaults, ...clusterFaults, ...trafficPolicyFaults];

describe("of one fault that is put into a healthy fleet", () => {
  test.each(sampled(faults).map((fault) => [`${fault.code}: ${fault.title}`, fault] as const))(
    "%s",
    (_, { change, code, on, also = {} }) => {
      const found = foundIn({ resources: change(healthy) }).map(({ insight }) => ({
        insight,
        name: `${insight.code} ${formatRef(insight.object)}`,
      }));
      const others = Object.keys(also).map((pattern) => ({ pattern, matches: glob(pattern) }));
      const unexpected = found.filter(
        ({ name, insight }) => formatRef(insight.object) !== on && !others.some(({ matches }) => matches.test(name)),
      );
      expect(found.map(({ name }) => name)).toContain(`${code} ${on}`);
      expect(unexpected.map(({ insight }) => shown(insight))).toEqual([]);
      const needless = others.filter(({ matches }) => !found.some(({ name }) => matches.test(name))).map(({ pattern }) => pattern);
      expect(needless).toEqual([]);
    },
  );
});
