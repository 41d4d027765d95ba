import { execFile } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { IssuedCertificate, KubernetesCluster, Secret, VirtualMesh } from "@isthmus/api";
import type { AnyResource } from "@isthmus/core";
import type { Cluster } from "@isthmus/ports";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type ManagementServer, startManagementServer } from "../harness/apps.ts";
import type { Program } from "../harness/childProcess.ts";
import { clusterOf } from "../harness/clusters.ts";
import { describeReal } from "../harness/describeReal.ts";
import { type Fleet, startFleet } from "../harness/fleet.ts";
import { namespace as namespaceOf } from "../harness/istioInstallation.ts";
import { applyAll } from "../harness/manifests.ts";
import { fillIstioCluster } from "../harness/meshCluster.ts";
import { startTokenController } from "../harness/tokenController.ts";
import { waitFor } from "../harness/waitFor.ts";
import { type InstalledProgram, startInstalled } from "./installedProgram.ts";
import { handOut, leaveOwnAuthority } from "./istiodRoots.ts";
import { namespace, release } from "./release.ts";

const MESHCTL = fileURLToPath(new URL("../../../apps/meshctl/bin/meshctl.js", import.meta.url));
const ORDER = { name: "istiod-istio-system-east", namespace };
const AGENT = { namespace, deployment: "gloo-mesh-agent", bin: "agent/bin/agent.js", pod: "gloo-mesh-agent-0" } as const;
const NAMESPACES = ["istio-system", "bookinfo"];

const trusting = {
  apiVersion: VirtualMesh.apiVersion,
  kind: VirtualMesh.kind,
  metadata: { name: "trusting", namespace },
  spec: {
    meshes: [ORDER],
    mtlsConfig: {
      shared: {
        rootCertificateAuthority: { generated: { rsaKeySizeBytes: 2048 } },
        intermediateCertOptions: { rsaKeySizeBytes: 2048 },
      },
      autoRestartPods: true,
    },
  },
} as unknown as AnyResource;

describeReal("an agent for certificates alone, as its chart installs it", (components) => {
  let fleet: Fleet<"management" | "east">;
  let [management, east]: Cluster[] = [];
  let server: ManagementServer | undefined;
  let tokens: Program | undefined;
  let agent: InstalledProgram | undefined;
  const controllers = new AbortController();
  const ends: Promise<void>[] = [];

  beforeAll(async () => {
    fleet = await startFleet(components, ["management", "east"], { crds: { east: "istio" } });
    const { servers, directory } = fleet;
    [management, east] = [clusterOf(servers.management, ""), clusterOf(servers.east, "east")];
    for (const one of [servers.management, servers.east]) await release({ components, server: one, directory }, "gloo-mesh-crds");
    await applyAll(management, [namespaceOf(namespace)]);
    tokens = startTokenController(components, servers.east, directory);
    ends.push((await fillIstioCluster(east, components, controllers.signal)).ended);
    await leaveOwnAuthority(east, NAMESPACES);
    server = await startManagementServer({ server: servers.management, directory, name: "mgmt-server" });
    await server.app.ready();
    const places = ["--kubeconfig", servers.east.kubeconfig, "--mgmt-kubeconfig", servers.management.kubeconfig];
    await promisify(execFile)(process.execPath, [MESHCTL, "cluster", "register", "east", "--standard", ...places]);
    const meshCertificates = { namespaces: ["istio-system"], restartPods: true };
    const values = { mode: "standard", relay: { cluster: "east" }, meshCertificates };
    await release({ components, server: servers.east, directory }, "gloo-mesh-agent", values);
    agent = await startInstalled({ ...AGENT, server: servers.east, directory, here: () => [] });
  });
  afterAll(async () => {
    await Promise.all([agent?.program, server?.app.program, tokens].map((program) => program?.stop()));
    controllers.abort();
    await Promise.allSettled(ends);
    await fleet?.stop();
  });

  it("brings its mesh below the root, with the rights that chart and registration grant, and nothing is forbidden", {
    timeout: 300_000,
  }, async () => {
    if (management === undefined || east === undefined) throw new Error("nothing was started");
    const [plane, cluster] = [management, east];
    await waitFor("the cluster to be connected", async () => {
      const found = await plane.get(KubernetesCluster, { name: "east", namespace });
      return found?.status?.conditions?.find(({ type }) => type === "Connected")?.status === "True";
    });
    await applyAll(plane, [trusting]);
    const cacerts = async () => (await cluster.get(Secret, { name: "cacerts", namespace: "istio-system" }))?.data;
    // Pods are restarted by the agent; what istiod hands out then is handed out here.
    const isBelowRoot = async () => {
      const data = await cacerts();
      if (data === undefined) return false;
      await handOut(cluster, atob(data["root-cert.pem"] ?? ""), NAMESPACES);
      return (atob(data["cert-chain.pem"] ?? "").match(/BEGIN CERTIFICATE/g) ?? []).length === 2;
    };
    await waitFor("a CA below the root", isBelowRoot, { timeoutMs: 240_000, everyMs: 1_000 });
    const root = (await plane.get(Secret, { name: "trusting.gloo-mesh", namespace }))?.data?.["root-cert.pem"] ?? "";
    const issued = new X509Certificate(atob((await cacerts())?.["ca-cert.pem"] ?? ""));
    expect(issued.checkIssued(new X509Certificate(atob(root)))).toBe(true);
    expect((await cluster.get(IssuedCertificate, ORDER))?.status?.reportedBy).toMatch(/^gloo-mesh-agent-0-/);
    expect(fleet.servers.east.planeRefusals()).toEqual([]);
  });
});
