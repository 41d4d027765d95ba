import { type Resource, snapshotOf } from "@isthmus/core";
import { expect, it } from "vitest";
import { emptyFleet, type Fleet } from "../../client/data/fleet.ts";
import { knownCertificates } from "../../client/model/certificateRows.ts";
import { clusterRows } from "../../client/model/clusters/clusterRows.ts";
import { registrationOf } from "../../client/model/clusters/registrations.ts";

function registration(namespace: string, state: string): Resource {
  return {
    apiVersion: "multicluster.solo.io/v1alpha1",
    kind: "KubernetesCluster",
    metadata: { name: "east", namespace, clusterName: "" },
    status: { state, agent: { version: state, certificateNotAfter: "2030-01-01T00:00:00Z" } },
  } as Resource;
}

const source = { kind: "store", name: "Redis", version: "0", namespace: "gloo-mesh" } as const;
const fleet = (objects: readonly Resource[]): Fleet => ({ ...emptyFleet(), source, snapshot: snapshotOf(objects), isReady: true });

it("a KubernetesCluster of another namespace registers nothing, whatever it says and however its namespace sorts", () => {
  const forged = ["aaa", "zzz"].map((namespace) => registration(namespace, "CONNECTED"));
  const known = fleet([...forged, registration("gloo-mesh", "OFFLINE")]);
  expect(clusterRows(known).map(({ agent }) => agent)).toEqual(["OFFLINE"]);
  expect(registrationOf(known, "east")?.metadata.namespace).toBe("gloo-mesh");
  expect(knownCertificates(known).certificates).toHaveLength(1);
  expect(registrationOf(fleet(forged), "east")).toBeUndefined();
  expect(knownCertificates(fleet(forged)).certificates).toEqual([]);
});
