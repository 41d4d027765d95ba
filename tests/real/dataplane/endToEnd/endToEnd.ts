import { readFileSync } from "node:fs";
import { join } from "node:path";
import { KubernetesCluster, Mesh } from "@isthmus/api";
import type { AnyResource } from "@isthmus/core";
import { KUBECONFIG_SECRET_TYPE } from "@isthmus/plane";
import type { Cluster } from "@isthmus/ports";
import { type App, startAgent, startManagementServer } from "../../harness/apps.ts";
import { clusterAt } from "../../harness/clusters.ts";
import { namespace } from "../../harness/istioInstallation.ts";
import { applyAll, installCrds } from "../../harness/manifests.ts";
import { ourCrds } from "../../harness/meshCluster.ts";
import { giveRelaySecrets } from "../../harness/relaySecrets.ts";
import { waitFor } from "../../harness/waitFor.ts";
import type { MeshParts } from "../harness/describeMeshes.ts";
import { meshRef } from "../harness/resources.ts";
import type { Stream } from "../harness/stream.ts";
import {
  type Answers,
  type ClusterName,
  clusterNames,
  type PairedCluster,
  type RequestOptions,
  startTestbed,
  type Testbed,
  type TestbedOptions,
} from "../harness/testbed.ts";
import type { Traffic } from "../harness/traffic.ts";
import { type Place, type UserObjects, userObjectsOf } from "./userObjects.ts";

/** After a change traffic must be as it says within this time, on a machine that has much else to do. */
export const IN_FORCE_MS = 60_000;

// More than a client's pool of connections to a few servers holds: each may see the old rules once more.
const REQUESTS_OF_A_PROBE = 24;
const DEFAULT_CLIENT = "cluster-1/productpage-v1";
const EVERY_MS = 250;

/** Requests of one client to one host. */
export interface RequestPath extends Pick<RequestOptions, "host" | "port" | "path"> {
  /** `cluster/deployment`. Default: cluster-1/productpage-v1. */
  readonly client?: string;
}

/** What the testbed begins with. */
export interface EndToEndOptions extends Pick<TestbedOptions, "topology" | "topologyName" | "hasOwnRoots"> {
  /** Whether the server connects to the clusters itself, with agents for certificates alone. Default: agents connect to it. */
  readonly isStandard?: boolean;
}

/** Two real meshes, their users' API server, and our programs as processes between them. */
export interface EndToEnd extends UserObjects {
  /** Of the testbed. */
  readonly directory: string;
  /** As their administrator. */
  readonly clusters: Readonly<Record<Place, Cluster>>;
  readonly server: App;
  readonly agents: Readonly<Record<PairedCluster, App>>;
  /** Makes requests until all of a probe's are answered as `expectation`, which throws otherwise, says; fails after IN_FORCE_MS. */
  soon(path: RequestPath, expectation: (answers: Answers) => void): Promise<void>;
  /** Steady requests from now on, over connections that have seen the rules of now. */
  traffic(path: Pick<RequestPath, "client" | "host">): Promise<Traffic>;
  /** What the proxies of pods (`cluster/deployment`) use now. */
  readonly certificatesOf: Testbed["certificatesOf"];
  /** Steady requests from whichever pod of a cluster's first client is ready. */
  stream(from: ClusterName, host: string, requestsPerSecond?: number): Stream;
  /** Ends all steady requests, and starts those of our programs that do not run: what one case left does not reach the next one. */
  tidy(): Promise<void>;
  stop(): Promise<void>;
}

/** The same on a testbed of its own, which ends with it. */
export async function startEndToEnd(parts: MeshParts, options: EndToEndOptions): Promise<EndToEnd> {
  const testbed = await startTestbed({ parts, ...options, management: true });
  try {
    const endToEnd = await endToEndOn(testbed, options);
    return { ...endToEnd, stop: () => endToEnd.stop().finally(() => testbed.stop()) };
  } catch (error) {
    await testbed.stop();
    throw error;
  }
}

/** Starts our programs; resolves when the meshes of both clusters are discovered. Whatever ran is stopped when something does not start. */
export async function endToEndOn(testbed: Testbed, { isStandard = false }: Pick<EndToEndOptions, "isStandard"> = {}): Promise<EndToEnd> {
  const apps: App[] = [];
  const streams: Pick<Traffic | Stream, "stop">[] = [];
  async function stop(): Promise<void> {
    await Promise.all(streams.map((traffic) => traffic.stop()));
    await Promise.all(apps.map(({ program }) => program.stop()));
  }

  try {
    const { directory, kubeconfig } = testbed;
    const management = clusterAt(kubeconfig("management"), "");
    const [one, two] = [clusterAt(kubeconfig("cluster-1"), "cluster-1"), clusterAt(kubeconfig("cluster-2"), "cluster-2")];
    const clusters = { management, "cluster-1": one, "cluster-2": two };
    await Promise.all(Object.values(clusters).map((cluster) => installCrds(cluster, ourCrds())));
    await applyAll(management, [namespace("gloo-mesh")]);
    // As the charts install it: with a store, so that it carries out what users deleted while it did not run.
    const more = [`--store-path=${join(directory, "store")}`];
    const server = await startManagementServer({ server: { planeKubeconfig: kubeconfig("management") }, directory, more });
    apps.push(server.app);
    await server.app.ready();

    async function agentOf(cluster: Cluster): Promise<App> {
      const planeKubeconfig = kubeconfig(cluster.name as PairedCluster);
      if (isStandard) await giveKubeconfig(management, cluster.name, planeKubeconfig);
      else await giveRelaySecrets(management, cluster);
      const relayAddress = isStandard ? undefined : server.relayAddress;
      const agent = await startAgent({ server: { planeKubeconfig }, cluster: cluster.name, relayAddress, directory });
      apps.push(agent);
      return agent;
    }
    const [agentOfOne, agentOfTwo] = await Promise.all([agentOf(one), agentOf(two)]);
    for (const name of clusterNames) await waitFor(`the Mesh of ${name}`, () => management.get(Mesh, meshRef(name)));

    return {
      directory,
      clusters,
      server: server.app,
      agents: { "cluster-1": agentOfOne, "cluster-2": agentOfTwo },
      ...userObjectsOf(clusters),
      async soon(path, expectation) {
        const probe = async () => {
          expectation(await testbed.request({ ...requestFrom(path), count: REQUESTS_OF_A_PROBE }));
          return true;
        };
        await waitFor(`answers of ${path.host}`, probe, { timeoutMs: IN_FORCE_MS, everyMs: EVERY_MS });
      },
      certificatesOf: testbed.certificatesOf,
      stream(from, host, requestsPerSecond) {
        const stream = testbed.stream(from, host, requestsPerSecond);
        streams.push(stream);
        return stream;
      },
      async traffic(path) {
        await testbed.request({ ...requestFrom(path), count: 1, warmup: REQUESTS_OF_A_PROBE });
        const traffic = testbed.traffic(path.client ?? DEFAULT_CLIENT, path.host);
        streams.push(traffic);
        return traffic;
      },
      async tidy() {
        await Promise.all(streams.splice(0).map((traffic) => traffic.stop()));
        for (const app of apps) if (!app.program.isRunning) await app.restart();
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** As `meshctl cluster register --standard` leaves it. */
async function giveKubeconfig(management: Cluster, name: string, file: string): Promise<void> {
  const metadata = { name, namespace: "gloo-mesh" };
  const data = { kubeconfig: btoa(readFileSync(file, "utf8")) };
  await applyAll(management, [
    { apiVersion: "v1", kind: "Secret", metadata, type: KUBECONFIG_SECRET_TYPE, data },
    { apiVersion: KubernetesCluster.apiVersion, kind: KubernetesCluster.kind, metadata, spec: { secretName: name } },
  ] as readonly AnyResource[]);
}

function requestFrom({ client = DEFAULT_CLIENT, ...path }: RequestPath): RequestOptions {
  const [from, deployment = ""] = client.split("/");
  return { ...path, from: from as PairedCluster, deployment };
}
