import { randomBytes } from "node:crypto";
import { abortedAfter, type Resource, UsageError } from "@isthmus/core";
import {
  type Cluster,
  clusterRegistrations,
  ensureSecret,
  keepJoinTokens,
  keepRelayIdentity,
  RELAY_SECRETS,
  RESUME_DELETES_TOPIC,
  type Server,
  serverRoles,
  startServer,
  systemClock,
} from "@isthmus/plane";
import { createServerIdentity, type GrpcServer, type GrpcServerOptions, startGrpcServer } from "@isthmus/relay";
import { type RunningServerLink, startServerLink } from "@isthmus/relay/session";
import { type SimulatedCluster, startControllers } from "@isthmus/simulator";
import type { Logger } from "pino";
import { NAMESPACE, runAgent } from "./agent.ts";
import { startDemoClusters } from "./demoClusters.ts";
import type { KubeconfigEntry } from "./demoKubeconfig.ts";
import { startDataPlane } from "./traffic/dataPlane.ts";
import { type DemoTraffic, startDemoTraffic } from "./traffic/fleet.ts";
import { createDemoRoot, startIstiods } from "./trust/proxyTrust.ts";
import { statusErrorsOf } from "./waiting.ts";

const clock = systemClock;
const random = Math.random;
// So that a demo is like the one before.
const SEED = 20_26;
// An agent that is there answers at once.
const ASK_MS = 5_000;

/**
 * A management cluster and workload clusters, all simulated, with a real server and real agents that talk over real sockets: to each other, and to the
 * API servers of their clusters.
 */
export interface Demo {
  readonly management: SimulatedCluster;
  readonly workload: readonly SimulatedCluster[];
  /** How kubectl reaches them, the management cluster first. */
  readonly contexts: readonly KubeconfigEntry[];
  readonly server: Server;
  /** What agents have counted of the simulated traffic. */
  readonly traffic: DemoTraffic;
  /** Why a policy is rejected, as its status says within seconds; none where it is not. */
  rejection(policy: Resource): Promise<readonly string[]>;
  /** Whether all proxies trust one root, and have a certificate below it. */
  hasOneRoot(): boolean;
  /** Asks the agent of a cluster. Rejects when it has no answer. */
  ask(clusterName: string, query: { readonly topic: string; readonly body: Uint8Array }): Promise<Uint8Array>;
  /** Port on which agents are served. */
  readonly port: number;
  /** Starts the agent of a cluster, unless it runs. */
  startAgent(clusterName: string): void;
  stopAgent(clusterName: string): Promise<void>;
  isAgentRunning(clusterName: string): boolean;
  readonly ended: Promise<void>;
}

export interface DemoOptions {
  /** Port to serve agents on; another is taken, with a word about it, when it is not free. */
  readonly port: number;
  /** Workload clusters. Default: two. */
  readonly clusters?: number;
  /** Services in each beside Bookinfo. Default: none. */
  readonly services?: number;
  readonly log: Logger;
  /** Tells what happens in words. */
  readonly say: (line: string) => void;
}

/**
 * Creates the clusters and starts the server; agents run from `startAgent` on. Resolves when the server accepts agents on loopback;
 * everything ends when `signal` is aborted.
 */
export async function startDemo({ port, log, say, ...scale }: DemoOptions, signal: AbortSignal): Promise<Demo> {
  const clusters = await startDemoClusters({ namespace: NAMESPACE, clock, random, scale });
  const management = clusters.management.simulated;
  const workload = clusters.workload.map(({ simulated }) => simulated);
  await createDemoRoot({ management, workload, clock });
  const trust = startIstiods(workload, { clock, log }, signal);
  const controllers = [management, ...workload].map((cluster) => startControllers(cluster, { clock, random, log }, signal));

  const { server, link, grpc, token, root } = await startPlane({ management: clusters.management.client, port, log, say }, signal);
  for (const { client } of clusters.workload) {
    // What `meshctl cluster register` copies into a cluster.
    await ensureSecret(client, { name: RELAY_SECRETS.root, namespace: NAMESPACE }, async () => ({ "ca.crt": root }));
    await ensureSecret(client, { name: RELAY_SECRETS.token, namespace: NAMESPACE }, async () => ({ token }));
  }
  const dataPlane = await startDataPlane(
    { clusters: workload, translation: () => server.translation, namespace: NAMESPACE, isMutual: trust.isMutual, seed: SEED, clock },
    signal,
  );
  const counted = startDemoTraffic({ server, link, clock }, signal);
  const running = new Map<string, { readonly stop: AbortController; readonly ended: Promise<void> }>();

  function start(clusterName: string): void {
    const cluster = clusters.workload.find(({ simulated }) => simulated.name === clusterName)?.client;
    if (cluster === undefined || running.has(clusterName)) return;
    const stop = new AbortController();
    const ended = runAgent(cluster, { port: grpc.port, dataPlane, trust, log }, AbortSignal.any([signal, stop.signal]));
    running.set(clusterName, { stop, ended });
  }

  async function stopAgent(clusterName: string): Promise<void> {
    const agent = running.get(clusterName);
    running.delete(clusterName);
    agent?.stop.abort(new Error("the agent was stopped"));
    await agent?.ended;
  }

  return {
    management,
    workload,
    contexts: [clusters.management, ...clusters.workload].map(({ entry }) => entry),
    server,
    traffic: counted,
    rejection: (policy) => statusErrorsOf(management, policy, signal),
    hasOneRoot: trust.hasOneRoot,
    ask: (clusterName, query) => link.ask(clusterName, query, abortedAfter(ASK_MS, signal)),
    port: grpc.port,
    startAgent: start,
    stopAgent,
    isAgentRunning: (clusterName) => running.has(clusterName),
    ended: Promise.all([server.ended, link.closed.then(() => grpc.close()), counted.ended, trust.ended, ...controllers]).then(async () => {
      await Promise.all([...running.values()].map(({ ended }) => ended));
      await dataPlane.ended;
      await clusters.close();
    }),
  };
}

interface Plane {
  readonly server: Server;
  readonly link: RunningServerLink;
  readonly grpc: GrpcServer;
  readonly token: string;
  readonly root: string;
}

async function startPlane(
  { management, port, log, say }: Omit<DemoOptions, "port"> & { readonly port: number; readonly management: Cluster },
  signal: AbortSignal,
): Promise<Plane> {
  let grpc: GrpcServer | undefined;
  const kept = await keepRelayIdentity(
    {
      cluster: management,
      namespace: NAMESPACE,
      make: () => createServerIdentity({ now: clock.now() }),
      // The certificates of a demo outlive it.
      rotate: (made) => Promise.resolve(made),
      rotationCheckMs: 60_000,
      isLeader: () => true,
      givenToken: undefined,
      makeToken: () => randomBytes(32).toString("base64url"),
      changed: (identity) => grpc?.rotate(identity),
      clock,
      random,
      log,
    },
    signal,
  );
  let link: RunningServerLink | undefined;
  const server: Server = startServer(
    {
      cluster: management,
      link: (handler, reportFilter) => {
        link = startServerLink(
          {
            serverId: "demo",
            handler,
            reportFilter,
            remembers: (name) => server.store.remembers(name),
            tellsFirst: true,
            clock,
            random,
            log,
          },
          signal,
        );
        return link;
      },
      ...serverRoles(NAMESPACE),
      resumeDeletes: async (name) => {
        await link?.ask(name, { topic: RESUME_DELETES_TOPIC, body: new Uint8Array() }, abortedAfter(ASK_MS, signal));
      },
      namespace: NAMESPACE,
      translation: { namespace: NAMESPACE, stage: "all" },
      clock,
      random,
      log,
    },
    signal,
  );
  if (link === undefined) throw new Error("the server created no link");
  grpc = await listen(
    {
      host: "127.0.0.1",
      port,
      identity: kept.identity,
      accept: link.accept,
      registrations: clusterRegistrations(management, { namespace: NAMESPACE, view: () => server.view }),
      joinTokens: keepJoinTokens(management, { namespace: NAMESPACE, clock }),
      token: () => kept.token,
      clock,
      log,
    },
    say,
  );
  return { server, link, grpc, token: kept.token, root: kept.identity.root };
}

async function listen(options: GrpcServerOptions, say: (line: string) => void): Promise<GrpcServer> {
  try {
    return await startGrpcServer(options);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    const grpc = await startGrpcServer({ ...options, port: 0 });
    say(`Port ${options.port} is already in use: serving agents on port ${grpc.port} instead.`);
    return grpc;
  }
}
