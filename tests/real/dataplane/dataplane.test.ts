import { beforeAll } from "vitest";
import { istioValidationCases } from "../istioValidation/istioValidation.ts";
import { accessLogRecordCases } from "./cases/accessLogRecords.ts";
import { accessPolicyCases } from "./cases/accessPolicies.ts";
import { analysisCases } from "./cases/analysis.ts";
import { failureCases } from "./cases/failures.ts";
import { federationCases } from "./cases/federation.ts";
import { forgedRequestCases } from "./cases/forgedRequests.ts";
import { headerCases } from "./cases/headers.ts";
import { identityCases } from "./cases/identities.ts";
import { mirrorCases } from "./cases/mirror.ts";
import { precedenceCases } from "./cases/precedence.ts";
import { requestMatcherCases } from "./cases/requestMatchers.ts";
import { serviceDependencyCases } from "./cases/serviceDependencies.ts";
import { sourceSelectorCases } from "./cases/sourceSelectors.ts";
import { tlsCases } from "./cases/tls.ts";
import { trafficShiftCases } from "./cases/trafficShift.ts";
import { type Meshes, meshesOn } from "./harness/meshes.ts";
import { sharedTestbed } from "./harness/sharedTestbed.ts";
import type { Testbed } from "./harness/testbed.ts";
import { writeTopology } from "./harness/topology.ts";

const describeOnTestbed = sharedTestbed({ topology: writeTopology });

// What policies mean is what real traffic does under them: two real Istio clusters, their proxies, and what `meshctl translate` makes of both.
describeOnTestbed("real traffic", (testbed) => {
  const meshes = startedMeshes(testbed);
  federationCases(meshes);
  identityCases(meshes);
  trafficShiftCases(meshes);
  requestMatcherCases(meshes);
  sourceSelectorCases(meshes);
  failureCases(meshes);
  headerCases(meshes);
  forgedRequestCases(meshes);
  mirrorCases(meshes);
  tlsCases(meshes);
  accessPolicyCases(meshes);
  precedenceCases(meshes);
  serviceDependencyCases(meshes);
  analysisCases(meshes);
});

// What AccessLogRecords make real proxies send to the sink of an agent.
describeOnTestbed("access logs of real proxies", (testbed) => accessLogRecordCases(startedMeshes(testbed), testbed));

// Strict schemas of Istio's CRDs, then istiod's own validating webhook, as in a cluster; nothing is stored.
describeOnTestbed("Istio's validation", istioValidationCases);

function startedMeshes(testbed: () => Testbed): () => Meshes {
  let meshes: Meshes | undefined;
  beforeAll(async () => {
    meshes = await meshesOn(testbed());
  });
  return () => {
    if (meshes === undefined) throw new Error("the meshes did not start");
    return meshes;
  };
}
