import { afterAll, beforeAll } from "vitest";
import { accessLogRecordCases } from "./cases/accessLogRecords.ts";
import { describeMeshes } from "./harness/describeMeshes.ts";
import { type Meshes, meshesOn } from "./harness/meshes.ts";
import { startTestbed, type Testbed } from "./harness/testbed.ts";
import { writeTopology } from "./harness/topology.ts";

// What AccessLogRecords make real proxies send to the sink of an agent.
describeMeshes("access logs of real proxies", (parts) => {
  let testbed: Testbed | undefined;
  let meshes: Meshes | undefined;

  beforeAll(async () => {
    testbed = await startTestbed({ parts, topology: writeTopology });
    meshes = await meshesOn(testbed);
  });
  afterAll(() => testbed?.stop());

  function running(): { readonly testbed: Testbed; readonly meshes: Meshes } {
    if (testbed === undefined || meshes === undefined) throw new Error("the meshes did not start");
    return { testbed, meshes };
  }

  accessLogRecordCases(
    () => running().meshes,
    () => running().testbed,
  );
});
