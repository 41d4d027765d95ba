import { afterAll, beforeAll } from "vitest";
import { failoverCases } from "./cases/failover.ts";
import { failoverSubsetCases } from "./cases/failoverSubsets.ts";
import { federatedFailoverCases } from "./cases/federatedFailover.ts";
import { describeMeshes } from "./harness/describeMeshes.ts";
import { type Meshes, meshesOn } from "./harness/meshes.ts";
import { startTestbed, type Testbed, threeClusterNames } from "./harness/testbed.ts";
import { writeFailoverTopology } from "./harness/topology.ts";

// Where requests go when servers, clusters and gateways fail: three real Istio clusters in three regions.
describeMeshes("real failover", (parts) => {
  let testbed: Testbed | undefined;
  let meshes: Meshes | undefined;

  beforeAll(async () => {
    testbed = await startTestbed({ parts, topology: writeFailoverTopology, clusters: threeClusterNames });
    meshes = await meshesOn(testbed);
  });
  afterAll(() => testbed?.stop());

  function started(): Meshes {
    if (meshes === undefined) throw new Error("the meshes did not start");
    return meshes;
  }

  failoverCases(started);
  failoverSubsetCases(started);
  federatedFailoverCases(started);
});
