import { execFile } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { KubernetesCluster, Secret } from "@isthmus/api";
import { kubernetesCluster, loadKubeconfig } from "@isthmus/kubernetes";
import type { Cluster } from "@isthmus/ports";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startManagementServer } from "./harness/apps.ts";
import type { Program } from "./harness/childProcess.ts";
import { clock, clusterOf } from "./harness/clusters.ts";
import { describeReal } from "./harness/describeReal.ts";
import { type Fleet, startFleet } from "./harness/fleet.ts";
import { namespace as namespaceOf } from "./harness/istioInstallation.ts";
import { applyAll } from "./harness/manifests.ts";
import { startTokenController } from "./harness/tokenController.ts";
import { waitFor } from "./harness/waitFor.ts";

const MESHCTL = fileURLToPath(new URL("../../apps/meshctl/bin/meshctl.js", import.meta.url));
const namespace = "gloo-mesh";
/** No certificate of an API server names it. */
const OTHER_ADDRESS = "127.0.0.2";

interface StoredKubeconfig {
  readonly clusters: readonly { readonly cluster: Readonly<Record<string, unknown>> }[];
}

describeReal("an API server that the management server reaches under another address than its user does", (components) => {
  let fleet: Fleet<"management" | "east">;
  let management: Cluster;
  let forwarder: Server;
  let address: string;
  /** Where the other address leads. */
  let target: string;
  const sockets = new Set<Socket>();
  const programs: (Program | undefined)[] = [];

  beforeAll(async () => {
    fleet = await startFleet(components, ["management", "east"], { crds: { management: "all" } });
    management = clusterOf(fleet.servers.management, "");
    programs.push(startTokenController(components, fleet.servers.east, fleet.directory));
    await applyAll(management, [namespaceOf(namespace)]);
    target = fleet.servers.east.url;
    forwarder = createServer((socket) => {
      const onward = connect(Number(new URL(target).port), "127.0.0.1");
      for (const one of [socket, onward]) sockets.add(one.on("error", () => one.destroy()).on("close", () => sockets.delete(one)));
      socket.pipe(onward).pipe(socket);
    }).listen(0, OTHER_ADDRESS);
    await once(forwarder, "listening");
    address = `${OTHER_ADDRESS}:${(forwarder.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    await Promise.all(programs.map((program) => program?.stop()));
    for (const socket of sockets) socket.destroy();
    forwarder?.close();
    await fleet?.stop();
  });

  async function stored(): Promise<string> {
    const secret = await management.get(Secret, { name: "east", namespace });
    return atob(secret?.data?.["kubeconfig"] ?? "");
  }

  it("is verified all the same: the stored kubeconfig has its certificate authority, and the name that its certificate bears", async () => {
    const places = ["--kubeconfig", fleet.servers.east.kubeconfig, "--mgmt-kubeconfig", fleet.servers.management.kubeconfig];
    await promisify(execFile)(process.execPath, [
      MESHCTL,
      "cluster",
      "register",
      "east",
      "--standard",
      `--api-server-address=${address}`,
      ...places,
    ]);
    const [{ cluster } = { cluster: {} }] = (JSON.parse(await stored()) as StoredKubeconfig).clusters;
    expect(cluster).toEqual({
      server: `https://${address}`,
      "certificate-authority-data": expect.any(String),
      "tls-server-name": "127.0.0.1",
    });
    const { app } = await startManagementServer({ server: fleet.servers.management, directory: fleet.directory });
    programs.push(app.program);
    await waitFor("the cluster to be connected", async () => {
      const found = await management.get(KubernetesCluster, { name: "east", namespace });
      return found?.status?.conditions?.find(({ type }) => type === "Connected")?.status === "True";
    });
    expect(app.program.output()).not.toContain("DEP0123");
  });

  it("gets no token when another one answers under that address, be it for the same name", async () => {
    const at = () => kubernetesCluster({ name: "east", kubeconfig: loadKubeconfig({ text }), clock, random: Math.random });
    const text = await stored();
    expect((await at().servedKinds()).length).toBeGreaterThan(0);
    target = fleet.servers.management.url;
    for (const socket of sockets) socket.destroy();
    await expect(at().servedKinds()).rejects.toMatchObject({ code: "Unavailable", message: expect.stringContaining("certificate") });
  });
});
