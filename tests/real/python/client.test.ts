import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { KubernetesCluster, Secret } from "@isthmus/api";
import type { Cluster } from "@isthmus/ports";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type ManagementServer, startManagementServer } from "../harness/apps.ts";
import { clusterOf } from "../harness/clusters.ts";
import { describeReal } from "../harness/describeReal.ts";
import { type Fleet, startFleet } from "../harness/fleet.ts";
import { namespace } from "../harness/istioInstallation.ts";
import { applyAll } from "../harness/manifests.ts";

const client = fileURLToPath(new URL("client.py", import.meta.url));

describeReal("a client in Python", (components) => {
  let fleet: Fleet<"management">;
  let management: Cluster;
  let server: ManagementServer;

  beforeAll(async () => {
    fleet = await startFleet(components, ["management"], { crds: "all" });
    management = clusterOf(fleet.servers.management, "");
    await applyAll(management, [namespace("gloo-mesh")]);
    server = await startManagementServer({ server: fleet.servers.management, directory: fleet.directory, more: ["--reflection"] });
    await server.app.ready();
  });
  afterAll(async () => {
    await server?.app.program.stop();
    await fleet?.stop();
  });

  async function secretOf(name: string, key: string): Promise<string> {
    const data = (await management.get(Secret, { name, namespace: "gloo-mesh" }))?.data?.[key] ?? "";
    return Buffer.from(data, "base64").toString("utf8");
  }

  it("learns the services by reflection, registers, and says hello over mutual TLS", async () => {
    const root = join(fleet.directory, "root.pem");
    writeFileSync(root, await secretOf("relay-root-tls-secret", "ca.crt"));
    const token = await secretOf("relay-identity-token-secret", "token");
    const args = { address: server.relayAddress, root, token, cluster: "python", uid: "uid-of-python" };
    const { stdout } = await promisify(execFile)(
      "python3",
      [client, ...Object.entries(args).map(([name, value]) => `--${name}=${value}`)],
      { env: { ...process.env, PYTHONPATH: components.grpcPython }, timeout: 60_000 },
    );
    expect(JSON.parse(stdout)).toEqual({
      health: "SERVING",
      services: ["relay.v1.RegistrationService", "relay.v1.RelayService"],
      refusals: { Register: "UNAUTHENTICATED", Connect: "UNAUTHENTICATED" },
      first: "welcome",
      epoch: 1,
      protocolVersion: 1,
      heartbeatIntervalMs: 10_000,
      maxMessageBytes: 1_048_576,
    });
    const registered = await management.get(KubernetesCluster, { name: "python", namespace: "gloo-mesh" });
    expect(registered?.status?.clusterUid).toBe("uid-of-python");
  });
});
