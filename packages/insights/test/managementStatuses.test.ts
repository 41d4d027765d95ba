import { VirtualMesh } from "@isthmus/api";
import { type AnyResource, emptySnapshot, type Resource, snapshotOf } from "@isthmus/core";
import { soundTranslation } from "@isthmus/testing";
import { expect, test } from "vitest";
import { insightsOf, isStatusRead } from "../src/index.ts";
import { withManagementStatuses } from "../src/managementStatuses.ts";
import { fixture, insightsAbout, OPTIONS } from "./fixtures.ts";

const codes = ({ all }: { readonly all: readonly { readonly code: string }[] }) => all.map(({ code }) => code);
const isVirtualMesh = ({ kind }: Resource) => kind === VirtualMesh.kind;

test("statuses that translation has not read count as soon as the server says them, and no longer than that", () => {
  const withStatus = snapshotOf(fixture("CRT1011", "finds"));
  const specs = fixture("CRT1011", "finds").map((object) => ({
    ...object,
    status: isVirtualMesh(object) ? {} : (object as AnyResource)["status"],
  }));
  const translation = soundTranslation(snapshotOf(specs as readonly Resource[]), {
    namespace: OPTIONS.namespace,
    stage: "all",
    ages: "CREATED",
  });
  expect(codes(insightsOf(translation, OPTIONS))).not.toContain("CRT1011");
  const found = insightsOf(translation, { ...OPTIONS, management: withStatus });
  expect(codes(found)).toContain("CRT1011");
  const renewed = snapshotOf(fixture("CRT1011", "quiet"));
  expect(codes(insightsOf(translation, { ...OPTIONS, management: renewed }, found))).not.toContain("CRT1011");
});

test("an object is the same one as long as neither it nor its status changes, and the spec is that which is in force", () => {
  const [given] = fixture("CRT1011", "finds").filter(isVirtualMesh) as [VirtualMesh];
  const inForce: VirtualMesh = { ...given, spec: {}, status: {} };
  const [inputs, management] = [snapshotOf([inForce]), snapshotOf([given])];
  const [first] = withManagementStatuses(inputs, management).of(VirtualMesh);
  expect(first).toEqual({ ...given, spec: {} });
  expect([...withManagementStatuses(inputs, management).of(VirtualMesh)][0]).toBe(first);
  expect([...withManagementStatuses(emptySnapshot(), management).of(VirtualMesh)]).toEqual([]);
  expect([given, { apiVersion: "v1", kind: "Service" }].map(isStatusRead)).toEqual([true, false]);
});

test("of a VirtualMesh in another cluster its status says nothing: its agent could have written it", () => {
  const [given] = fixture("CRT1011", "finds").filter(isVirtualMesh) as [VirtualMesh];
  const abroad = { ...given, metadata: { ...given.metadata, clusterName: "cluster-1" } };
  expect(codes(insightsAbout([given]))).toContain("CRT1011");
  expect(codes(insightsAbout([abroad]))).not.toContain("CRT1011");
});
