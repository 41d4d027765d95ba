import {
  type AnyResource,
  type Meter,
  type OutputSet,
  type Owner,
  outputSet,
  type Resource,
  type ResourceRef,
  refOf,
  resourceKeyOf,
} from "@isthmus/core";
import { type Agent, type AgentLimits, type Notices, type Rejection, systemClock } from "@isthmus/plane";
import { createServerIdentity, grpcConnector, type Registered, type RelayCredentials, startGrpcServer } from "@isthmus/relay";
import { startServerLink } from "@isthmus/relay/session";
import type { SimulatedCluster } from "@isthmus/simulator";
import { networkingOwner } from "@isthmus/translators";
import { startFullAgent } from "./fullAgent.ts";
import { NAMESPACE, SHARED_TOKEN, until } from "./replicas.ts";

const clock = systemClock;

/** Bears the label by which the agent knows what it has written for its server. */
const OURS: Owner = networkingOwner(NAMESPACE);

/** A management server that somebody else has taken over: it holds the right certificate, and says what it likes, over a real socket. */
export interface HostileServer {
  /** `name.namespace` of every Service that the agent has ever reported. */
  reported(): ReadonlySet<string>;
  /** What the agent answered to the latest order, by `resourceKeyOf`. */
  rejections(): ReadonlyMap<string, Rejection>;
  /** Wants exactly these, as somebody's; what is gone is said to be gone for `evidence`. Resolves when the agent has answered. */
  want(resources: readonly Resource[], options?: { readonly owner?: Owner; readonly evidence?: ResourceRef }): Promise<void>;
  tell(notices: Pick<Notices, "put" | "remove">): void;
  ask(topic: string, body?: Uint8Array): Promise<Uint8Array>;
  readonly lines: readonly string[];
  /** What was counted, by metric and labels. */
  readonly counted: ReadonlyMap<string, number>;
  /** Resolves when the agent has said that it is there with everything. */
  synced(): Promise<void>;
  readonly agent: Agent;
  stop(): Promise<void>;
}

export interface HostileOptions {
  readonly cluster: SimulatedCluster;
  readonly limits?: AgentLimits;
  /** What it says first of what may be written: a spec of the KubernetesCluster. Default: everything. */
  readonly mode?: object | "untold";
}

/** The KubernetesCluster as a server tells its agent of it. */
export function modeNotice(clusterName: string, spec: object): AnyResource {
  return {
    apiVersion: "multicluster.solo.io/v1alpha1",
    kind: "KubernetesCluster",
    metadata: { name: clusterName, namespace: NAMESPACE, clusterName },
    spec,
  };
}

/** A hostile server, and the agent of `cluster` connected to it. */
export async function hostileServer({ cluster, limits, mode = { mode: "manage" } }: HostileOptions): Promise<HostileServer> {
  const stop = new AbortController();
  const lines: string[] = [];
  const at = (level: string) => (fields: object, message: string) => void lines.push(`${level} ${message} ${JSON.stringify(fields)}`);
  const log = { debug: () => undefined, info: at("info"), warn: at("warn"), error: at("error") };
  const quiet = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
  const counted = new Map<string, number>();
  const meter: Meter = {
    add: (name, labels = {}, by = 1) => {
      const key = `${name} ${Object.values(labels).join(" ")}`;
      counted.set(key, (counted.get(key) ?? 0) + by);
    },
    record: () => undefined,
  };
  let answered: { readonly wanted: OutputSet; readonly rejected: readonly Rejection[] } | undefined;
  const reported = new Set<string>();
  let isSynced = false;
  const identity = await createServerIdentity({ now: clock.now() });
  const link = startServerLink(
    {
      serverId: "hostile",
      handler: {
        connected: () => undefined,
        observed: (_, { put }) => {
          for (const { kind, metadata } of put) if (kind === "Service") reported.add(`${metadata.name}.${metadata.namespace}`);
        },
        synced: () => {
          isSynced = true;
        },
        acknowledged: (_, { rejected }, wanted) => {
          answered = { wanted, rejected };
        },
        disconnected: () => undefined,
      },
      clock,
      random: Math.random,
      log: quiet,
    },
    stop.signal,
  );
  if (mode !== "untold") link.sendNotices(cluster.name, { put: [modeNotice(cluster.name, mode as object)], remove: [] });
  const known = new Map<string, Registered>();
  const find = async (name: string) => known.get(name);
  const grpc = await startGrpcServer({
    host: "127.0.0.1",
    port: 0,
    identity,
    accept: link.accept,
    registrations: {
      find,
      lastKnown: find,
      past: async () => ({ wasRegistered: false, others: [] }),
      sharedTokenOpens: async () => "NEW_NAMES",
      register: async ({ clusterName, clusterUid }) => void known.set(clusterName, { uid: clusterUid }),
      remember: async () => undefined,
    },
    token: () => SHARED_TOKEN,
    clock,
    log: quiet,
  });
  let credentials: RelayCredentials | undefined;
  const connector = grpcConnector({
    address: `127.0.0.1:${grpc.port}`,
    clusterName: cluster.name,
    clusterUid: "uid",
    root: async () => identity.root,
    token: async () => SHARED_TOKEN,
    credentials: {
      load: async () => credentials,
      async save(next) {
        credentials = next;
      },
    },
    clock,
    random: Math.random,
    log: quiet,
  });
  const agent = startFullAgent(
    { cluster, clusterUid: "uid", connector, log, meter, ...(limits === undefined ? {} : { limits }) },
    stop.signal,
  );
  return {
    reported: () => reported,
    rejections: () => new Map((answered?.rejected ?? []).map((rejection) => [resourceKeyOf(rejection.ref), rejection])),
    async want(resources, { owner = OURS, evidence } = {}) {
      const wanted = outputSet(
        owner,
        resources.map((resource) => ({ resource, parents: [] })),
      ).inCluster(cluster.name);
      link.setDesired(cluster.name, wanted, {
        evidenceOf: (ref) => ({ reason: "InputRemoved", inputs: [evidence ?? ref] }),
      });
      await until(() => answered?.wanted === wanted, `the agent has answered for ${resources.map((one) => refOf(one).name).join(", ")}`);
    },
    tell: (notices) => link.sendNotices(cluster.name, notices),
    ask: (topic, body = new Uint8Array()) => link.ask(cluster.name, { topic, body }, AbortSignal.timeout(100_000)),
    lines,
    counted,
    synced: () => until(() => isSynced, "the agent has reported everything"),
    agent,
    async stop() {
      stop.abort(new Error("the test is over"));
      await Promise.all([agent.ended, link.closed]);
      await grpc.close();
    },
  };
}
