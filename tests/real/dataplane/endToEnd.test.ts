import { afterAll, afterEach, beforeAll, vi } from "vitest";
import { accessPolicyCases } from "./endToEnd/accessPolicies.ts";
import { agentRestartCases } from "./endToEnd/agentRestarts.ts";
import { deletionCases } from "./endToEnd/deletion.ts";
import { type EndToEnd, IN_FORCE_MS, startEndToEnd } from "./endToEnd/endToEnd.ts";
import { federationCases } from "./endToEnd/federation.ts";
import { serverRestartCases } from "./endToEnd/serverRestart.ts";
import { trafficShiftCases } from "./endToEnd/trafficShift.ts";
import { describeMeshes } from "./harness/describeMeshes.ts";

// A case waits several times: each wait gives up by itself and says what it saw last.
vi.setConfig({ testTimeout: 5 * IN_FORCE_MS });

// What users get: management server and agents as processes between the API server that users write to and two real Istio clusters, whose
// proxies answer requests. How to add a case: README.md beside this file.
describeMeshes("from a user's object to the answer of a request", (parts) => {
  let endToEnd: EndToEnd | undefined;

  beforeAll(async () => {
    endToEnd = await startEndToEnd(parts);
  });
  afterEach(() => endToEnd?.tidy());
  afterAll(() => endToEnd?.stop());

  function started(): EndToEnd {
    if (endToEnd === undefined) throw new Error("the meshes did not start");
    return endToEnd;
  }

  federationCases(started);
  trafficShiftCases(started);
  accessPolicyCases(started);
  deletionCases(started);
  agentRestartCases(started);
  serverRestartCases(started);
});
