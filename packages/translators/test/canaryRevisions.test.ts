import { readFileSync } from "node:fs";
import { VirtualMesh } from "@isthmus/api";
import { type Resource, snapshotOf } from "@isthmus/core";
import { readInput, soundTranslation } from "@isthmus/testing";
import { expect, test } from "vitest";

const CANARY = new URL("../testdata/discovery/workloads/a-canary-stays-in-its-virtual-mesh.in.yaml", import.meta.url);
const { resources } = readInput(readFileSync(CANARY, "utf8"));

/** The mesh of each workload, where VirtualMeshes are of this cluster; undefined: where there are none. */
function meshesOfWorkloads(virtualMeshesOf: string | undefined): unknown {
  const given = resources.flatMap((one): readonly Resource[] => {
    if (one.kind !== VirtualMesh.kind) return [one];
    return virtualMeshesOf === undefined ? [] : [{ ...one, metadata: { ...one.metadata, clusterName: virtualMeshesOf } }];
  });
  const { discovery } = soundTranslation(snapshotOf(given), { namespace: "gloo-mesh", stage: "discovery" });
  const workloads = [...discovery].map(({ resource }) => resource).filter(({ kind }) => kind === "Workload");
  return workloads.map(({ metadata, ...rest }) => [metadata.name, (rest as { readonly spec?: { readonly mesh?: object } }).spec?.mesh]);
}

test("a VirtualMesh of the management cluster keeps workloads of a canary revision where they are", () => {
  expect(meshesOfWorkloads("")).not.toEqual(meshesOfWorkloads(undefined));
});

test.each(["cluster-1", "cluster-2"])("one that the agent of %s reports moves no workload", (cluster) => {
  expect(meshesOfWorkloads(cluster)).toEqual(meshesOfWorkloads(undefined));
});
