import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { AnyResource } from "@isthmus/core";
import { expect } from "vitest";
import { agentView, writeList } from "./discovered.ts";
import { meshctlTranslate, type Translated } from "./meshctl.ts";
import { kubernetesClusters, meshRef, settings, virtualMesh } from "./resources.ts";
import type { ClusterName, RequestOptions, Testbed } from "./testbed.ts";

/** What users have written. */
export interface Written {
  readonly policies?: readonly AnyResource[];
  /** Default: federates everything. null: there is none. */
  readonly virtualMesh?: AnyResource | null;
  /** Default: there are none. */
  readonly settings?: AnyResource;
  /** Istio objects that users wrote themselves, in a cluster. */
  readonly own?: Partial<Readonly<Record<ClusterName, readonly AnyResource[]>>>;
  /** What somebody makes of what is translated, before the meshes get it. Default: nothing. */
  readonly changed?: (items: readonly AnyResource[]) => readonly AnyResource[];
  /** Further flags of `meshctl translate`. */
  readonly flags?: readonly string[];
}

/** What a management plane makes of a situation, in force in the real meshes. */
export interface InForce extends Translated {
  /** The status of a policy by name. */
  status(name: string): { readonly state?: string; readonly warnings?: readonly string[]; readonly errors?: readonly string[] };
}

/** Real meshes with our offline management plane before them. */
export interface Meshes
  extends Pick<Testbed, "request" | "traffic" | "answerHead" | "statuses" | "setServer" | "refuseConnections" | "counter" | "analyze"> {
  /** Translates what users wrote, and what the clusters show, and puts the result in force. Fails the test when a mesh refuses it. */
  apply(written: Written): Promise<InForce>;
  /**
   * Uses up the connections between a client and a host that were open before the last `apply`: each may see the old
   * rules once more. `request` does so by itself, the first time.
   */
  settle(path: RequestPath): Promise<void>;
}

type RequestPath = Pick<RequestOptions, "from" | "identity" | "host" | "port">;

// More than a client's pool of connections to a few servers holds.
const SETTLING_REQUESTS = 24;

export async function meshesOn(testbed: Testbed): Promise<Meshes> {
  const { clusters } = testbed;
  const folder = join(testbed.directory, "input");
  // Suites that share a testbed each have what is there when they begin.
  mkdirSync(folder, { recursive: true });
  const views = clusters.map(async (name) => writeList(join(folder, `${name}.json`), await agentView(name, testbed.kubeconfig(name))));
  await Promise.all(views);

  const settled = new Map<string, Promise<unknown>>();

  async function settle({ from = "cluster-1", identity, host, port = 9080 }: RequestPath): Promise<void> {
    const path = { from, host, port, ...(identity === undefined ? {} : { identity }) };
    const key = JSON.stringify(path);
    const settling = settled.get(key) ?? testbed.request({ ...path, count: 1, warmup: SETTLING_REQUESTS });
    settled.set(key, settling);
    await settling;
  }

  async function apply(written: Written): Promise<InForce> {
    const { policies = [], own = {}, flags = [] } = written;
    settled.clear();
    const mesh = written.virtualMesh === undefined ? virtualMesh({ meshes: clusters.map(meshRef) }) : written.virtualMesh;
    const ownOf = (cluster: ClusterName) => own[cluster] ?? [];
    const usersObjects = clusters.flatMap((cluster) => ownOf(cluster).map((object) => inCluster(object, cluster)));
    const saidByDefault = process.env["ISTHMUS_SETTINGS"] === "explicit" ? [settings()] : [];
    const said = written.settings === undefined ? saidByDefault : [written.settings];
    const gloo = [...kubernetesClusters(clusters), ...said, ...(mesh === null ? [] : [mesh]), ...policies];
    writeList(join(folder, "written.json"), [...gloo, ...usersObjects]);
    const translated = await meshctlTranslate([folder], flags);

    const items = written.changed?.(translated.items) ?? translated.items;
    const objects = clusters.map((cluster) => [cluster, [...ownOf(cluster), ...istioObjectsFor(cluster, items)]] as const);
    const applied = await testbed.apply(Object.fromEntries(objects));
    const refused = applied.objects.filter(({ ok }) => !ok);
    expect({ refused, xdsRejected: applied.xds_rejected, synced: applied.synced }, translated.messages).toEqual({
      refused: [],
      xdsRejected: {},
      synced: true,
    });
    return { ...translated, status: (name) => statusOf(name, translated.items) };
  }

  return {
    apply,
    settle,
    async request(options) {
      await settle(options);
      return testbed.request(options);
    },
    traffic: testbed.traffic,
    answerHead: testbed.answerHead,
    statuses: testbed.statuses,
    setServer: testbed.setServer,
    refuseConnections: testbed.refuseConnections,
    counter: testbed.counter,
    analyze: testbed.analyze,
  };
}

/** What is for the proxies of a cluster, as its API server takes it. */
function istioObjectsFor(cluster: ClusterName, items: readonly AnyResource[]): readonly AnyResource[] {
  return items
    .filter(({ apiVersion, metadata }) => apiVersion.includes(".istio.io/") && metadata.clusterName === cluster)
    .map((item) => {
      const { clusterName, ...metadata } = item.metadata;
      return { ...item, metadata };
    });
}

function inCluster(object: AnyResource, clusterName: ClusterName): AnyResource {
  return { ...object, metadata: { ...object.metadata, clusterName } };
}

function statusOf(name: string, items: readonly AnyResource[]): ReturnType<InForce["status"]> {
  const found = items.find(({ metadata, status }) => metadata.name === name && metadata.namespace === "gloo-mesh" && status !== undefined);
  if (found === undefined) throw new Error(`${name} got no status`);
  return found.status as ReturnType<InForce["status"]>;
}
