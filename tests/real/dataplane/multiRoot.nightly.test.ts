import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Mesh, Pod, Secret, VirtualMesh } from "@isthmus/api";
import { createMeshRoot, fingerprints } from "@isthmus/certificates";
import type { AnyResource, TimedCondition } from "@isthmus/core";
import type { Cluster } from "@isthmus/ports";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { startManagementServer } from "../harness/apps.ts";
import { type Program, startProgram } from "../harness/childProcess.ts";
import { clusterAt } from "../harness/clusters.ts";
import { namespace } from "../harness/istioInstallation.ts";
import { applyAll, installCrds } from "../harness/manifests.ts";
import { ourCrds } from "../harness/meshCluster.ts";
import { giveRelaySecrets } from "../harness/relaySecrets.ts";
import { waitFor } from "../harness/waitFor.ts";
import { userObjectsOf } from "./endToEnd/userObjects.ts";
import { describeMeshes } from "./harness/describeMeshes.ts";
import { relayTo } from "./harness/networkRelay.ts";
import { meshRef, virtualMesh } from "./harness/resources.ts";
import { projectRoot } from "./harness/shared.ts";
import { clusterNames, type PairedCluster, startTestbed, type Testbed } from "./harness/testbed.ts";
import { writeTrustTopology } from "./harness/topology.ts";
import { freshConnections } from "./trust/freshConnections.ts";

vi.setConfig({ testTimeout: 600_000 });

const CHANGE = { timeoutMs: 400_000, everyMs: 1_000 };
const RELAY_PORT = 9900;
const THEIRS = { name: "their-root", namespace: "gloo-mesh" };
const REVIEWS_OF_TWO = "reviews.bookinfo.svc.cluster-2.global";

/** Pods of istiod show the variable that the testbed gives it. */
const showsMultiRoot: readonly AnyResource[] = [
  {
    apiVersion: "admissionregistration.k8s.io/v1beta1",
    kind: "MutatingAdmissionPolicy",
    metadata: { name: "istiod-variables" },
    spec: {
      matchConstraints: {
        resourceRules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["pods"] }],
      },
      matchConditions: [
        {
          name: "istiod",
          expression: "has(object.metadata.labels) && 'istio' in object.metadata.labels && object.metadata.labels.istio == 'pilot'",
        },
      ],
      failurePolicy: "Fail",
      reinvocationPolicy: "Never",
      mutations: [
        {
          patchType: "ApplyConfiguration",
          applyConfiguration: {
            expression:
              'Object{spec: Object.spec{containers: [Object.spec.containers{name: "discovery", env: [Object.spec.containers.env{name: "ISTIO_MULTIROOT_MESH", value: "true"}]}]}}',
          },
        },
      ],
    },
  },
  {
    apiVersion: "admissionregistration.k8s.io/v1beta1",
    kind: "MutatingAdmissionPolicyBinding",
    metadata: { name: "istiod-variables" },
    spec: { policyName: "istiod-variables" },
  },
] as unknown as readonly AnyResource[];

// One story. The agents run in the networks of their clusters, as they ask proxies there.
describeMeshes("meshes with several roots at a time, on real Istio", (parts) => {
  const started: { stop(): Promise<void> | undefined }[] = [];
  let testbed: Testbed;
  let clusters: Readonly<Record<PairedCluster | "management", Cluster>>;
  let write: (...management: readonly AnyResource[]) => Promise<unknown>;

  beforeAll(async () => {
    testbed = await startTestbed({
      parts,
      ...{ topologyName: "topology-trust.json", topology: writeTrustTopology, management: true, hasOwnRoots: true, isMultiRoot: true },
    });
    const { directory, kubeconfig } = testbed;
    const [management, one, two] = (["management", ...clusterNames] as const).map((name) =>
      clusterAt(kubeconfig(name), name === "management" ? "" : name),
    ) as [Cluster, Cluster, Cluster];
    clusters = { management, "cluster-1": one, "cluster-2": two };
    const users = userObjectsOf(clusters);
    write = (...objects) => users.usersWrite({ management: objects, "cluster-1": [freshConnections], "cluster-2": [freshConnections] });
    await Promise.all(Object.values(clusters).map((cluster) => installCrds(cluster, ourCrds())));
    await Promise.all([one, two].map((cluster) => applyAll(cluster, showsMultiRoot)));
    await applyAll(management, [namespace("gloo-mesh")]);
    const server = await startManagementServer({ server: { planeKubeconfig: kubeconfig("management") }, directory });
    started.push(server.app.program);
    await server.app.ready();
    for (const name of clusterNames) await startAgentInside(name, server.relayAddress);
    for (const name of clusterNames) await waitFor(`the Mesh of ${name}`, () => management.get(Mesh, meshRef(name)));
  }, 300_000);
  afterAll(async () => {
    for (const program of started.reverse()) await program.stop();
    await testbed?.stop();
  });

  async function startAgentInside(name: PairedCluster, address: string): Promise<void> {
    const { directory, network, kubeconfigInside } = testbed;
    await giveRelaySecrets(clusters.management, clusters[name]);
    const socket = join(directory, `${name}.sock`);
    const outside = relayTo(address, socket);
    started.push({ stop: () => void outside.close() });
    const { command, env } = network(name);
    const [first = "", ...rest] = command;
    const inside = (program: string, args: readonly string[]): Program => {
      const log = join(directory, `${program}-${name}.log`);
      const running = startProgram({
        name: program,
        command: first,
        args: [...rest, process.execPath, ...args],
        log,
        env,
        cwd: projectRoot,
      });
      started.push(running);
      return running;
    };
    const script = fileURLToPath(new URL("harness/relayInside.ts", import.meta.url));
    const relay = inside("relay", [join(projectRoot, "tools/run.mjs"), script, "127.0.0.1", `${RELAY_PORT}`, socket]);
    await waitFor("the way out", async () => relay.output().includes("listening"));
    inside("agent", [
      join(projectRoot, "apps/agent/bin/agent.js"),
      ...[`--cluster=${name}`, `--kubeconfig=${kubeconfigInside(name)}`, `--relay-address=127.0.0.1:${RELAY_PORT}`],
      ...["--admin-host=127.0.0.1", "--admin-port=9091", "--workload-host=127.0.0.1", "--workload-port=0"],
    ]);
  }

  function trusting(rootCertificateAuthority: object): AnyResource {
    const intermediateCertOptions = { rsaKeySizeBytes: 2048 };
    return virtualMesh({ mtlsConfig: { shared: { rootCertificateAuthority, intermediateCertOptions }, autoRestartPods: true } });
  }

  async function isApplied({ metadata: { name, namespace: place = "" } }: AnyResource): Promise<boolean> {
    const found = await clusters.management.get(VirtualMesh, { name, namespace: place });
    const conditions = (found?.status?.conditions ?? []) as readonly TimedCondition[];
    const applied = conditions.find(({ type }) => type === "Applied");
    return applied?.status === "True" && applied.observedGeneration === found?.metadata.generation;
  }

  const podNames = async () => {
    const all = await Promise.all(clusterNames.map(async (name) => (await clusters[name].list(Pod)).items));
    return all
      .flat()
      .map(({ metadata }) => metadata.name)
      .sort();
  };

  async function rootIn(ref: { readonly name: string; readonly namespace: string }): Promise<string> {
    const secret = await clusters.management.get(Secret, ref);
    const [fingerprint = ""] = await fingerprints(atob(secret?.data?.["root-cert.pem"] ?? ""));
    return fingerprint;
  }

  async function trustedRoots(): Promise<readonly string[]> {
    const slots = ["productpage-v1", "productpage-v1~2", "reviews-v1", "istio-ingressgateway"];
    const all = await testbed.certificatesOf(clusterNames.flatMap((name) => slots.map((slot) => `${name}/${slot}`)));
    return [...new Set(Object.values(all).flatMap(({ roots }) => roots))];
  }

  it("come below a generated root, for which istiod alone restarts", async () => {
    const isProxy = (name: string) => !name.startsWith("istiod-");
    const before = (await podNames()).filter(isProxy);
    const mesh = trusting({ generated: { rsaKeySizeBytes: 2048 } });
    await write(mesh);
    await waitFor("the root to be in force", () => isApplied(mesh), CHANGE);
    expect((await podNames()).filter(isProxy)).toEqual(before);
    expect(await trustedRoots()).toEqual([await rootIn({ name: "virtual-mesh.gloo-mesh", namespace: "gloo-mesh" })]);
  });

  it("move to a root of the user without a failed request, and nothing restarts", async () => {
    const options = { commonName: "their root", organization: "them", lifetimeMs: 3650 * 86_400_000, now: Date.now() };
    const { certificate, key } = await createMeshRoot(options, "P-256");
    const data = { "root-cert.pem": btoa(certificate), "key.pem": btoa(key) };
    await applyAll(clusters.management, [{ apiVersion: "v1", kind: "Secret", metadata: THEIRS, data } as AnyResource]);
    const before = await podNames();
    const stream = testbed.stream("cluster-1", REVIEWS_OF_TWO);
    const mesh = trusting({ secret: THEIRS });
    const start = performance.now();
    await write(mesh);
    await waitFor("the new root to be in force", () => isApplied(mesh), CHANGE);
    const { failed, failures, sent } = await stream.stop();
    console.log(
      `a root rotation with several roots at a time: ${Math.round((performance.now() - start) / 1_000)} s, ${sent} requests, ${failed} failed`,
    );
    expect([failures, failed]).toEqual([{}, 0]);
    expect(sent).toBeGreaterThan(300);
    expect(await podNames()).toEqual(before);
    expect(await trustedRoots()).toEqual([await rootIn(THEIRS)]);
  });
});
