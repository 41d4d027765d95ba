import { afterAll, beforeAll, describe } from "vitest";
import { applyContract } from "./clusterContract/apply.ts";
import { ownKindContract } from "./clusterContract/ownKind.ts";
import { readContract } from "./clusterContract/reads.ts";
import { type ClusterUnderTest, type Subject, subjectOf } from "./clusterContract/subject.ts";
import { watchContract } from "./clusterContract/watch.ts";
import { writeContract } from "./clusterContract/writes.ts";

/**
 * What the loops may rely on of every `Cluster`: the simulated one and the one over a real kube-apiserver pass the same
 * suite. The cluster needs no controllers; each run works in namespaces of its own and leaves them behind.
 */
export function clusterContract(name: string, makeCluster: () => Promise<ClusterUnderTest>): void {
  describe(`${name} keeps the contract of a cluster`, () => {
    let under: ClusterUnderTest | undefined;
    let subject: Subject | undefined;

    beforeAll(async () => {
      under = await makeCluster();
      subject = await subjectOf(under.cluster);
    }, 120_000);
    afterAll(async () => under?.stop());

    const current = (): Subject => {
      if (subject === undefined) throw new Error("the cluster did not start");
      return subject;
    };
    readContract(current);
    writeContract(current);
    applyContract(current);
    watchContract(current);
    ownKindContract(current);
  });
}
