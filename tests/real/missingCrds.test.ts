import { KubernetesCluster, TrafficPolicy } from "@isthmus/api";
import type { Cluster } from "@isthmus/ports";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type ManagementServer, startManagementServer } from "./harness/apps.ts";
import { clusterOf } from "./harness/clusters.ts";
import { describeReal } from "./harness/describeReal.ts";
import { type Fleet, startFleet } from "./harness/fleet.ts";
import { namespace } from "./harness/istioInstallation.ts";
import { applyAll, installCrds } from "./harness/manifests.ts";
import { ourCrds } from "./harness/meshCluster.ts";
import { waitFor } from "./harness/waitFor.ts";

const nameOf = ({ apiVersion, plural }: { readonly apiVersion: string; readonly plural: string }) =>
  `${plural}.${apiVersion.split("/")[0]}`;
const REGISTRATION = nameOf(KubernetesCluster);
const POLICY = nameOf(TrafficPolicy);

// One story: each test continues where the one before it ended.
describeReal("a management server without its CRDs, on a real API server", (components) => {
  let fleet: Fleet<"management">;
  let management: Cluster;
  let server: ManagementServer;

  beforeAll(async () => {
    fleet = await startFleet(components, ["management"]);
    management = clusterOf(fleet.servers.management, "");
    await applyAll(management, [namespace("gloo-mesh")]);
    server = await startManagementServer({ server: fleet.servers.management, directory: fleet.directory });
  });
  afterAll(async () => {
    await server?.app.program.stop();
    await fleet?.stop();
  });

  const readiness = async (): Promise<number> => (await fetch(`${server.adminUrl}/readyz`)).status;
  /** What the log says of missing CRDs, the last line of it. */
  const lastWarning = () =>
    server.app.program
      .output()
      .split("\n")
      .findLast((line) => line.includes("does not have the CRDs"));

  it("is alive and not ready, and names each with the remedy", async () => {
    await waitFor("the warning", () => lastWarning() !== undefined);
    for (const name of [REGISTRATION, POLICY]) expect(lastWarning()).toContain(name);
    expect(lastWarning()).toContain("kubectl apply --filename deploy/crds");
    expect([await readiness(), (await fetch(`${server.adminUrl}/healthz`)).status]).toEqual([503, 200]);
  });

  it("is ready with KubernetesCluster's, and still names another one that is missing", async () => {
    await installCrds(
      management,
      ourCrds().filter(({ metadata }) => metadata.name !== POLICY),
    );
    await waitFor("the server to be ready", async () => (await readiness()) === 200);
    await waitFor("the one that is missing", () => lastWarning()?.includes(REGISTRATION) === false);
    expect(lastWarning()).toContain(POLICY);
  });

  it("says when none is missing any more, without a restart", async () => {
    await installCrds(management, ourCrds());
    await waitFor("the server to say so", () => server.app.program.output().includes("all required CRDs are now installed"));
    expect([await readiness(), server.app.program.isRunning]).toEqual([200, true]);
  });
});
