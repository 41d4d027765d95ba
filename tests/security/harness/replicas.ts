import { randomUUID } from "node:crypto";
import { setMaxListeners } from "node:events";
import { allKinds } from "@isthmus/api";
import { messageOf } from "@isthmus/core";
import {
  agentSecrets,
  clusterRegistrations,
  ensureSecret,
  joinTokens,
  type Log,
  RELAY_SECRETS,
  relayIdentity,
  type Server,
  serverRoles,
  startServer,
  systemClock,
} from "@isthmus/plane";
import {
  type Credentials,
  createServerIdentity,
  type GrpcServer,
  grpcConnector,
  type ServerIdentity,
  startGrpcServer,
} from "@isthmus/relay";
import { type RunningServerLink, startAgentLink, startServerLink } from "@isthmus/relay/session";
import { type SimulatedCluster, simulatedCluster } from "@isthmus/simulator";

export const NAMESPACE = "gloo-mesh";
export const SHARED_TOKEN = "the-shared-token";
const KINDS = ["/Service"];
const clock = systemClock;

export interface Replica {
  readonly name: string;
  readonly server: Server;
  readonly link: RunningServerLink;
  readonly grpc: GrpcServer;
  readonly address: string;
  isConnected(clusterName: string): boolean;
}

export interface TestAgent {
  /** What it says of its connection, the newest last. */
  readonly states: string[];
  readonly cluster: SimulatedCluster;
  isConnected(): boolean;
  credentials(): Promise<Credentials | undefined>;
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
}

/** Replicas of the management server over one simulated management cluster, with real sockets, and agents for them. */
export interface Replicas {
  readonly management: SimulatedCluster;
  readonly identity: ServerIdentity;
  readonly lines: string[];
  start(options?: { readonly clientCertificates?: boolean }): Promise<Replica>;
  agent(options: AgentOptions): Promise<TestAgent>;
  stop(): Promise<void>;
}

/** Retries at once what a real agent would wait half a minute for. */
const hasty = { ...clock, sleep: (ms: number, signal?: AbortSignal) => clock.sleep(ms / 50, signal) };

export async function replicasOf(): Promise<Replicas> {
  const management = simulatedCluster({ name: "", clock, kinds: allKinds() });
  management.load([{ apiVersion: "v1", kind: "Namespace", metadata: { name: NAMESPACE } }]);
  const identity = await relayIdentity(management, { namespace: NAMESPACE, create: () => createServerIdentity({ now: clock.now() }) });
  const lines: string[] = [];
  const log = recording(lines);
  const stops: (() => Promise<void>)[] = [];

  async function start({ clientCertificates = true } = {}): Promise<Replica> {
    const stop = new AbortController();
    setMaxListeners(0, stop.signal);
    const name = `replica-${stops.length}`;
    let link: RunningServerLink | undefined;
    const server = startServer(
      {
        cluster: management,
        link: (handler) => {
          link = startServerLink({ serverId: name, handler, clock, random: Math.random, log }, stop.signal);
          return link;
        },
        ...serverRoles(NAMESPACE),
        resumeDeletes: () => Promise.resolve(),
        namespace: NAMESPACE,
        translation: { namespace: NAMESPACE, stage: "all" },
        clock,
        random: Math.random,
        log,
      },
      stop.signal,
    );
    if (link === undefined) throw new Error("the server made no link");
    const grpc = await startGrpcServer({
      host: "127.0.0.1",
      port: 0,
      identity,
      accept: link.accept,
      registrations: clusterRegistrations(management, { namespace: NAMESPACE, view: () => server.view }),
      joinTokens: joinTokens(management, { namespace: NAMESPACE, clock }),
      token: () => SHARED_TOKEN,
      clientCertificates,
      clock,
      log,
    });
    stops.push(async () => {
      stop.abort(new Error("the test is over"));
      await server.ended;
      await grpc.close();
    });
    const connected = { name: "relay_push_clients_connected", value: 1 };
    const { metrics } = link;
    return {
      name,
      server,
      link,
      grpc,
      address: `127.0.0.1:${grpc.port}`,
      isConnected: (clusterName) =>
        metrics().some((metric) => metric.name === connected.name && metric.value === 1 && metric.labels["cluster"] === clusterName),
    };
  }

  async function agent(options: AgentOptions): Promise<TestAgent> {
    const { replica, clusterName, clusterUid = `uid-of-${clusterName}`, token = SHARED_TOKEN, clientCertificates = true } = options;
    const cluster = options.cluster ?? simulatedCluster({ name: clusterName, clock, kinds: allKinds() });
    cluster.load([{ apiVersion: "v1", kind: "Namespace", metadata: { name: NAMESPACE } }]);
    await ensureSecret(cluster, { name: RELAY_SECRETS.root, namespace: NAMESPACE }, async () => ({ "ca.crt": identity.root }));
    const secrets = agentSecrets(cluster, { namespace: NAMESPACE, token });
    const stop = new AbortController();
    const states: string[] = [];
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
        kinds: KINDS,
        agent: { instance: randomUUID(), version: "test", agentNamespace: NAMESPACE, clusterUid },
        connector,
        handler: {
          desired: (desired) => link.acknowledge({ revision: desired.revision, rejected: [] }),
          state: (state, detail) => void states.push(`${state}: ${detail}`),
        },
        clock: hasty,
        random: Math.random,
        log,
      },
      stop.signal,
    );
    link.synced(KINDS, []);
    const started: TestAgent = {
      states,
      cluster,
      isConnected: () => states.at(-1)?.startsWith("connected") === true,
      credentials: () => secrets.credentials.load(),
      async stop() {
        stop.abort(new Error("the agent was stopped"));
        await link.closed;
      },
    };
    stops.push(started.stop);
    return started;
  }

  return {
    management,
    identity,
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

/** Waits until something is so. */
export async function until(isSo: () => boolean | Promise<boolean>, what: string, timeoutMs = 10_000): Promise<void> {
  const end = Date.now() + timeoutMs;
  for (;;) {
    if (await Promise.resolve(isSo()).catch((error: unknown) => Promise.reject(new Error(`${what}: ${messageOf(error)}`)))) return;
    if (Date.now() > end) throw new Error(`waited in vain until ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
