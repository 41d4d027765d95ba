import { Settings } from "@isthmus/api";
import { emptySnapshot, type Resource } from "@isthmus/core";
import { expect, it } from "vitest";
import { serverRoles } from "../src/roles.ts";

const { agentQuota } = serverRoles("gloo-mesh");

it("lets no single agent report more than an eighth of what the server may keep, unless a user says so", () => {
  const nothing = emptySnapshot();
  expect(agentQuota(nothing, 1_600_000_001)).toEqual({ objects: 1_000_000, bytes: 200_000_000 });
  const spec = { relay: { agentQuota: { bytes: 2_147_483_648 } } };
  const settings = Settings.parse({
    apiVersion: Settings.apiVersion,
    kind: Settings.kind,
    metadata: { name: "settings", namespace: "gloo-mesh", clusterName: "" },
    spec,
  } as Resource);
  expect(agentQuota(nothing.apply({ put: [settings], remove: [] }), 1_600_000_001)).toEqual({ objects: 1_000_000, bytes: 2_147_483_648 });
});
