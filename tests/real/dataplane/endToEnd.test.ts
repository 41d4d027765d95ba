import { afterAll, afterEach, beforeAll, vi } from "vitest";
import { ingressCases } from "../charts/ingress.ts";
import { wasmFilterCases } from "./cases/wasmFilters.ts";
import { accessPolicyCases } from "./endToEnd/accessPolicies.ts";
import { agentRestartCases } from "./endToEnd/agentRestarts.ts";
import { deletionCases } from "./endToEnd/deletion.ts";
import { type EndToEnd, endToEndOn, IN_FORCE_MS } from "./endToEnd/endToEnd.ts";
import { federationCases } from "./endToEnd/federation.ts";
import { serverRestartCases } from "./endToEnd/serverRestart.ts";
import { trafficShiftCases } from "./endToEnd/trafficShift.ts";
import { sharedTestbed } from "./harness/sharedTestbed.ts";
import { writeTopology } from "./harness/topology.ts";

// A case waits several times: each wait gives up by itself and says what it saw last.
vi.setConfig({ testTimeout: 5 * IN_FORCE_MS });

// Real Istio clusters with an API server for users: each suite brings a management plane of its own.
const describeOnTestbed = sharedTestbed({ topology: writeTopology, management: true });

// What users get: management server and agents as processes between the API server that users write to and two real Istio clusters, whose
// proxies answer requests. How to add a case: README.md beside this file.
describeOnTestbed("from a user's object to the answer of a request", (testbed) => {
  let endToEnd: EndToEnd | undefined;

  beforeAll(async () => {
    endToEnd = await endToEndOn(testbed());
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

describeOnTestbed("Wasm filters of real proxies", wasmFilterCases);

describeOnTestbed("the relay through a real Istio ingress gateway, as the charts render it", ingressCases);
