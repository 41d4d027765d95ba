import { afterAll, beforeAll } from "vitest";
import { accessPolicyCases } from "./cases/accessPolicies.ts";
import { analysisCases } from "./cases/analysis.ts";
import { failureCases } from "./cases/failures.ts";
import { federationCases } from "./cases/federation.ts";
import { forgedRequestCases } from "./cases/forgedRequests.ts";
import { headerCases } from "./cases/headers.ts";
import { mirrorCases } from "./cases/mirror.ts";
import { precedenceCases } from "./cases/precedence.ts";
import { requestMatcherCases } from "./cases/requestMatchers.ts";
import { serviceDependencyCases } from "./cases/serviceDependencies.ts";
import { sourceSelectorCases } from "./cases/sourceSelectors.ts";
import { tlsCases } from "./cases/tls.ts";
import { trafficShiftCases } from "./cases/trafficShift.ts";
import { describeMeshes } from "./harness/describeMeshes.ts";
import { type Meshes, meshesOn } from "./harness/meshes.ts";
import { startTestbed, type Testbed } from "./harness/testbed.ts";
import { writeTopology } from "./harness/topology.ts";

// What policies mean is what real traffic does under them: two real Istio clusters, their proxies, and what `meshctl translate` makes of both.
describeMeshes("real traffic", (parts) => {
  let testbed: Testbed | undefined;
  let meshes: Meshes | undefined;

  beforeAll(async () => {
    testbed = await startTestbed({ parts, topology: writeTopology });
    meshes = await meshesOn(testbed);
  });
  afterAll(() => testbed?.stop());

  function started(): Meshes {
    if (meshes === undefined) throw new Error("the meshes did not start");
    return meshes;
  }

  federationCases(started);
  trafficShiftCases(started);
  requestMatcherCases(started);
  sourceSelectorCases(started);
  failureCases(started);
  headerCases(started);
  forgedRequestCases(started);
  mirrorCases(started);
  tlsCases(started);
  accessPolicyCases(started);
  precedenceCases(started);
  serviceDependencyCases(started);
  analysisCases(started);
});
