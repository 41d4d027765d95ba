import { randomUUID } from "node:crypto";
import { setMaxListeners } from "node:events";
import { allKinds, Secret } from "@isthmus/api";
import { type Log, messageOf, type Resource } from "@isthmus/core";
import {
  agentSecrets,
  areRootsTrustedByAll,
  type Cluster,
  clusterRegistrations,
  ensureSecret,
  type KeptIdentity,
  keepJoinTokens,
  keepRelayIdentity,
  RELAY_SECRETS,
  type Server,
  type Store,
  serverRoles,
  startServer,
  systemClock,
} from "@isthmus/plane";
import {
  type GrpcServer,
  grpcConnector,
  type Lifetimes,
  makeIdentity,
  type RelayCredentials,
  rotateIdentity,
  startGrpcServer,
} from "@isthmus/relay";
import { type AgentLink, type RunningServerLink, startAgentLink, startServerLink } from "@isthmus/relay/session";
import { type SimulatedCluster, simulatedCluster } from "@isthmus/simulator";

export const NAMESPACE = "gloo-mesh";
export const SHARED_TOKEN = "the-shared-token-of-the-test-suite";
const KINDS = ["/Service"];
const clock = systemClock;
const SERVER_NAMES = ["gloo-mesh-mgmt-server.gloo-mesh"];

export interface Replica {
  readonly name: string;
  readonly server: Server;
  readonly link: RunningServerLink;
  readonly grpc: GrpcServer;
  readonly kept: KeptIdentity;
  readonly address: string;
  isConnected(clusterName: string): boolean;
}

export interface TestAgent {
  /** What it says of its connection, the newest last. */
  readonly states: string[];
  readonly cluster: SimulatedCluster;
  /** Its end of the relay, to say what no honest agent would. */
  readonly link: AgentLink;
  /** What the server tells it beside what is desired, the newest last. */
  readonly told: Resource[];
  isConnected(): boolean;
  credentials(): Promise<RelayCredentials | undefined>;
  stop(): Promise<void>;
}

export interface AgentOptions {
  readonly replica: Replica;
  readonly clusterName: string;
  readonly clusterUid?: string;
  readonly token?: string;
  /** The cluster of an agent that ran before. */
  readonly cluster?: SimulatedCluster;
  readonly clientCertificates?: boolean;
  /** What its hello says. Default: what its certificate says. */
  readonly helloUid?: string;
  /** The kinds (`kindKeyOf`) that it says to have reported everything of. Default: Services. */
  readonly kinds?: readonly string[];
  /** It has nothing but what Secrets of its cluster say: no root, and no token, is given to it. */
  readonly bySecretsAlone?: boolean;
}

export interface ReplicaOptions {
  readonly clientCertificates?: boolean;
  readonly lifetimes?: Partial<Lifetimes>;
  readonly rotationCheckMs?: number;
  /** How old its certificates are, if it makes them. Default: new. */
  readonly madeAgoMs?: number;
  /** What it shares with other replicas. Default: it does not. */
  readonly store?: Store;
  /** A token that does not come from its Secret. */
  readonly relayToken?: string;
  /** How it reaches the management cluster. Default: directly. */
  readonly over?: (cluster: Cluster) => Cluster;
}

/** Replicas of the management server over one simulated management cluster, with real sockets, and agents for them. */
export interface Replicas {
  readonly management: SimulatedCluster;
  readonly lines: string[];
  start(options?: ReplicaOptions): Promise<Replica>;
  agent(options: AgentOptions): Promise<TestAgent>;
  stop(): Promise<void>;
}

/** Retries at once what a real agent would wait half a minute for. */
const hasty = { ...clock, sleep: (ms: number, signal?: AbortSignal) => clock.sleep(ms / 50, signal) };

export async function replicasOf(): Promise<Replicas> {
  const management = simulatedCluster({ name: "", clock, kinds: allKinds() });
  management.load([{ apiVersion: "v1", kind: "Namespace", metadata: { name: NAMESPACE } }]);
  const lines: string[] = [];
  const log = recording(lines);
  const stops: (() => Promise<void>)[] = [];

  async function start({
    clientCertificates = true,
    lifetimes = {},
    rotationCheckMs = 60_000,
    madeAgoMs = 0,
    store,
    relayToken,
    over = (cluster) => cluster,
  }: ReplicaOptions = {}): Promise<Replica> {
    const stop = new AbortController();
    setMaxListeners(0, stop.signal);
    const name = `replica-${stops.length}`;
    const reached = over(management);
    let link: RunningServerLink | undefined;
    let grpc: GrpcServer | undefined;
    const kept = await keepRelayIdentity(
      {
        cluster: management,
        namespace: NAMESPACE,
        make: () => makeIdentity({ names: SERVER_NAMES, now: clock.now() - madeAgoMs, lifetimes }),
        rotate: (made) =>
          rotateIdentity(made, {
            names: SERVER_NAMES,
            now: clock.now(),
            lifetimes,
            isTrustedByAll: (digest) => areRootsTrustedByAll(server.view, digest),
          }),
        rotationCheckMs,
        isLeader: () => true,
        givenToken: relayToken,
        makeToken: () => SHARED_TOKEN,
        changed: (identity) => grpc?.rotate(identity),
        clock,
        random: Math.random,
        log,
      },
      stop.signal,
    );
    const server = startServer(
      {
        cluster: reached,
        link: (handler, reportFilter) => {
          link = startServerLink({ serverId: name, handler, reportFilter, clock, random: Math.random, log }, stop.signal);
          return link;
        },
        ...serverRoles(NAMESPACE),
        resumeDeletes: () => Promise.resolve(),
        namespace: NAMESPACE,
        translation: { namespace: NAMESPACE, stage: "all" },
        ...(store === undefined ? {} : { sharing: { store, replica: name } }),
        clock,
        random: Math.random,
        log,
      },
      stop.signal,
    );
    if (link === undefined) throw new Error("the server created no link");
    grpc = await startGrpcServer({
      host: "127.0.0.1",
      port: 0,
      identity: kept.identity,
      accept: link.accept,
      registrations: clusterRegistrations(reached, {
        namespace: NAMESPACE,
        view: () => server.view,
        revokedBefore: (clusterName) => server.revokedBefore(clusterName),
      }),
      joinTokens: keepJoinTokens(reached, { namespace: NAMESPACE, clock }),
      token: () => kept.token,
      clientCertificates,
      ...(lifetimes.agent === undefined ? {} : { agentCertificateLifetimeMs: () => lifetimes.agent ?? 0 }),
      clock,
      log,
    });
    const serving = grpc;
    stops.push(async () => {
      stop.abort(new Error("the test is over"));
      await server.ended;
      await kept.ended;
      await serving.close();
    });
    const connected = { name: "relay_push_clients_connected", value: 1 };
    const { metrics } = link;
    return {
      name,
      server,
      link,
      grpc: serving,
      kept,
      address: `127.0.0.1:${serving.port}`,
      isConnected: (clusterName) =>
        metrics().some((metric) => metric.name === connected.name && metric.value === 1 && metric.labels["cluster"] === clusterName),
    };
  }

  async function agent(options: AgentOptions): Promise<TestAgent> {
    const { replica, clusterName, clusterUid = `uid-of-${clusterName}`, token = SHARED_TOKEN, clientCertificates = true } = options;
    const { helloUid = clusterUid, kinds = KINDS } = options;
    const cluster = options.cluster ?? simulatedCluster({ name: clusterName, clock, kinds: allKinds() });
    cluster.load([{ apiVersion: "v1", kind: "Namespace", metadata: { name: NAMESPACE } }]);
    const { bySecretsAlone = false } = options;
    if (!bySecretsAlone) {
      await ensureSecret(cluster, { name: RELAY_SECRETS.root, namespace: NAMESPACE }, async () => ({
        "ca.crt": replica.kept.identity.root,
      }));
    }
    const given = bySecretsAlone ? undefined : token;
    const secrets = agentSecrets(cluster, { namespace: NAMESPACE, token: given, clock, random: Math.random, log });
    const stop = new AbortController();
    const states: string[] = [];
    const told: Resource[] = [];
    const connector = grpcConnector({
      address: replica.address,
      clusterName,
      clusterUid,
      root: () => secrets.root(),
      token: () => secrets.token(),
      credentials: clientCertificates ? secrets.credentials : undefined,
      clock,
      random: Math.random,
      log,
    });
    const link = startAgentLink(
      {
        clusterName,
        kinds,
        agent: { instance: randomUUID(), version: "test", agentNamespace: NAMESPACE, clusterUid: helloUid },
        connector,
        handler: {
          desired: (desired) => link.acknowledge({ revision: desired.revision, rejected: [] }),
          notices: ({ put }) => void told.push(...put),
          state: (state, detail) => void states.push(`${state}: ${detail}`),
        },
        clock: hasty,
        random: Math.random,
        log,
      },
      stop.signal,
    );
    link.synced(kinds, []);
    const following = secrets.watch(() => void connector.reload(), stop.signal);
    const started: TestAgent = {
      states,
      cluster,
      link,
      told,
      isConnected: () => states.at(-1)?.startsWith("connected") === true,
      credentials: () => secrets.credentials.load(),
      async stop() {
        stop.abort(new Error("the agent was stopped"));
        await Promise.all([link.closed, following]);
      },
    };
    stops.push(started.stop);
    return started;
  }

  return {
    management,
    lines,
    start,
    agent,
    async stop() {
      for (const stop of stops.splice(0).reverse()) await stop();
    },
  };
}

/** Keeps every line that is logged, with its fields. */
function recording(lines: string[]): Log {
  const at = (level: string) => (fields: object, message: string) => void lines.push(`${level} ${message} ${JSON.stringify(fields)}`);
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}

// Finds what never comes; a busy machine may take most of it.
const LOST_MS = 100_000;

/** Waits until something is so. */
export async function until(isSo: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const end = Date.now() + LOST_MS;
  for (;;) {
    if (await Promise.resolve(isSo()).catch((error: unknown) => Promise.reject(new Error(`${what}: ${messageOf(error)}`)))) return;
    if (Date.now() > end) throw new Error(`waited in vain until ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** The decoded data of a Secret of the management plane; empty where there is none. */
export async function secretOf(cluster: SimulatedCluster, name: string): Promise<Readonly<Record<string, string>>> {
  const secret = await cluster.get(Secret, { name, namespace: NAMESPACE });
  return Object.fromEntries(Object.entries(secret?.data ?? {}).map(([key, value]) => [key, Buffer.from(value, "base64").toString()]));
}
