import { getHeapStatistics } from "node:v8";
import { Settings } from "@isthmus/api";
import { emptySnapshot, type Resource } from "@isthmus/core";
import { expect, it } from "vitest";
import { serverRoles } from "../src/roles.ts";

const { agentQuota } = serverRoles("gloo-mesh");

it("lets no single agent report more than an eighth of what the server may keep, unless a user says so", () => {
  const nothing = emptySnapshot();
  expect(agentQuota(nothing)).toEqual({ objects: 1_000_000, bytes: Math.floor(getHeapStatistics().heap_size_limit / 8) });
  const spec = { relay: { agentQuota: { bytes: 2_147_483_648 } } };
  const settings = Settings.parse({
    apiVersion: Settings.apiVersion,
    kind: Settings.kind,
    metadata: { name: "settings", namespace: "gloo-mesh", clusterName: "" },
    spec,
  } as Resource);
  expect(agentQuota(nothing.apply({ put: [settings], remove: [] }))).toEqual({ objects: 1_000_000, bytes: 2_147_483_648 });
});
