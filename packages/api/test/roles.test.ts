import { kindKeyOf } from "@isthmus/core";
import { expect, test } from "vitest";
import {
  agentKinds,
  allKinds,
  deliveredKinds,
  discoveryKinds,
  kindOf,
  managementKinds,
  publishedKinds,
  Secret,
  userKinds,
} from "../src/index.ts";

test("the table names each kind once", () => {
  const keys = allKinds().map(kindKeyOf);
  expect(new Set(keys).size).toBe(keys.length);
});

test("a kind is found by every version that it understands, and by no other", () => {
  for (const kind of allKinds()) {
    for (const version of kind.versions) expect(kindOf(version, kind.kind)).toBe(kind);
    expect(kindOf(`${kind.apiVersion}x`, kind.kind)).toBeUndefined();
  }
  expect(kindOf("v1", "Potato")).toBeUndefined();
});

test("secrets never leave a workload cluster, nor are they written there", () => {
  expect(agentKinds()).not.toContain(Secret);
  expect(deliveredKinds()).not.toContain(Secret);
});

test("what is discovered is published, and read back for its status", () => {
  for (const kind of discoveryKinds()) {
    expect(publishedKinds()).toContain(kind);
    expect(managementKinds()).toContain(kind);
    expect(agentKinds()).not.toContain(kind);
  }
});

test("users write what is neither published nor a Secret: a backup holds it", () => {
  expect(userKinds().map(({ kind }) => kind)).toEqual([
    "Settings",
    "KubernetesCluster",
    "TrafficPolicy",
    "AccessPolicy",
    "VirtualMesh",
    "VirtualDestination",
    "ServiceDependency",
    "AccessLogRecord",
    "WasmDeployment",
  ]);
});
