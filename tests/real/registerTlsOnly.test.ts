import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { KubernetesCluster, Secret } from "@isthmus/api";
import type { AnyResource } from "@isthmus/core";
import type { Cluster } from "@isthmus/ports";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type ManagementServer, startManagementServer } from "./harness/apps.ts";
import { anyKind, clusterOf } from "./harness/clusters.ts";
import { describeReal } from "./harness/describeReal.ts";
import { type FakeKubelet, startFakeKubelet } from "./harness/fakeKubelet.ts";
import { type Fleet, startFleet } from "./harness/fleet.ts";
import { namespace as namespaceOf } from "./harness/istioInstallation.ts";
import { applyAll } from "./harness/manifests.ts";

const MESHCTL = fileURLToPath(new URL("../../apps/meshctl/bin/meshctl.js", import.meta.url));
const namespace = "gloo-mesh";
const TOKEN = { name: "relay-identity-token-secret", namespace };
const CERTIFICATE = { name: "relay-client-tls-secret", namespace };
const Deployment = anyKind("apps/v1", "Deployment", "deployments");

interface Answer {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

// One story: each test continues where the one before it ended.
describeReal("a cluster is registered without client certificates", (components) => {
  let fleet: Fleet<"management" | "east">;
  let management: Cluster;
  let east: Cluster;
  let server: ManagementServer;
  let kubelet: FakeKubelet | undefined;

  beforeAll(async () => {
    fleet = await startFleet(components, ["management", "east"], { crds: { management: "all" } });
    management = clusterOf(fleet.servers.management, "");
    east = clusterOf(fleet.servers.east, "east");
    await applyAll(management, [namespaceOf(namespace)]);
    const more = ["--disable-client-certificates"];
    server = await startManagementServer({ server: fleet.servers.management, directory: fleet.directory, more });
    await server.app.ready();
  });
  afterAll(async () => {
    await kubelet?.stop();
    await server?.app.program.stop();
    await fleet?.stop();
  });

  function meshctl(...args: readonly string[]): Promise<Answer> {
    const { management: mgmt, east: remote } = fleet.servers;
    const places = ["--kubeconfig", remote.kubeconfig, "--mgmt-kubeconfig", mgmt.kubeconfig];
    const env = { PATH: process.env["PATH"] ?? "", COLUMNS: "200" };
    return new Promise((resolve) => {
      execFile(process.execPath, [MESHCTL, "cluster", ...args, ...places], { env }, (error, out, err) =>
        resolve({ code: error === null ? 0 : Number(error.code), out, err }),
      );
    });
  }
  const register = (...more: readonly string[]) =>
    meshctl("register", "east", "--relay-server-address", server.relayAddress, "--timeout", "60s", ...more);
  const registration = () => management.get(KubernetesCluster, { name: "east", namespace });
  const token = async (cluster: Cluster) => (await cluster.get(Secret, TOKEN))?.data?.["token"];

  /** The Deployment of a server with these arguments, as a chart would have it. */
  async function deployed(...args: readonly string[]): Promise<void> {
    const labels = { app: "gloo-mesh-mgmt-server" };
    const containers = [{ name: "mgmt-server", image: "image", args }];
    const spec = { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } } };
    const metadata = { name: "gloo-mesh-mgmt-server", namespace };
    await applyAll(management, [{ apiVersion: "apps/v1", kind: "Deployment", metadata, spec } as unknown as AnyResource]);
  }

  it("refuses an agent that is set up in another way than the server, before anything is created", async () => {
    await deployed("--disable-client-certificates");
    const other = await register();
    expect(other).toMatchObject({ code: 2, err: expect.stringContaining("so the agent has to, too: add --disable-client-certificates") });
    expect(other.err).toContain("Nothing was created.");
    await deployed("--port=9900");
    expect(await register("--disable-client-certificates")).toMatchObject({
      code: 2,
      err: expect.stringContaining("requires client certificates: leave out --disable-client-certificates"),
    });
    expect(await registration()).toBeUndefined();
    expect(await east.list(Deployment, { namespace })).toMatchObject({ items: [] });
    await deployed("--disable-client-certificates");
  });

  it("refuses a token that somebody has put there and that is not the shared one", async () => {
    const wrong = { apiVersion: "v1", kind: "Secret", metadata: TOKEN, data: { token: btoa("another token") } };
    await applyAll(east, [namespaceOf(namespace), wrong as AnyResource]);
    const refused = await register("--disable-client-certificates");
    expect(refused).toMatchObject({
      code: 2,
      err: expect.stringContaining("does not have the shared token of the management cluster: delete it"),
    });
    expect(await registration()).toBeUndefined();
    await east.delete({ apiVersion: "v1", kind: "Secret", ...TOKEN, clusterName: "east" });
  });

  it("passes all gates with the shared token, and in the mode that is asked for", async () => {
    kubelet = startFakeKubelet({ server: fleet.servers.east, cluster: east, directory: fleet.directory });
    const { code, err } = await register("--disable-client-certificates", "--mode", "observe");
    expect(code, err).toBe(0);
    expect(err).toMatch(/✓ token .*the shared token, on each call of the agent: its holder can act as any cluster/);
    expect(err).toMatch(/✓ certificate .*none: the management server knows this cluster by its UID/);
    expect((await registration())?.spec?.mode).toBe("observe");
    expect(await token(east)).toBe(await token(management));
    expect(await east.get(Secret, CERTIFICATE)).toBeUndefined();
    const again = await register("--disable-client-certificates");
    expect(again.code, again.err).toBe(0);
    expect((await registration())?.spec?.mode).toBe("observe");
  });

  it("deregisters, and prints what registers it from the other side", async () => {
    expect((await meshctl("deregister", "east")).code).toBe(0);
    expect([await registration(), await token(east)]).toEqual([undefined, undefined]);
    const address = ["--relay-server-address", server.relayAddress, "--disable-client-certificates"];
    const join = await meshctl("register", "east", "--print-join", ...address);
    expect(join.code, join.err).toBe(0);
    expect(join.err).toContain("It contains the shared token, whose holder can act as any cluster.");
    expect(join.out).toContain(`token: ${await token(management)}`);
    expect(join.out).toContain("--disable-client-certificates");
    const committed = await meshctl("register", "east", "--print-gitops", ...address);
    expect(committed.out).not.toContain(await token(management));
    expect(committed.err).toContain("meshctl cluster token shared --agent-namespace gloo-mesh | kubectl apply -f -");
  });
});
