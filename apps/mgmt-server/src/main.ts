import { randomBytes, randomUUID } from "node:crypto";
import { getHeapStatistics } from "node:v8";
import { hasUserStatus } from "@isthmus/api";
import { abortedAfter } from "@isthmus/core";
import { kubeconfigOfSecret, kubernetesAuthorizer, kubernetesCluster, loadKubeconfig } from "@isthmus/kubernetes";
import {
  agentCertificateLifetimeMs,
  alwaysLeader,
  areRootsTrustedByAll,
  clusterRegistrations,
  clusterUid,
  keepJoinTokens,
  keepRelayIdentity,
  mirrorJoinTokens,
  NAMES,
  RESUME_DELETES_TOPIC,
  type Server,
  serverRoles,
  startActivitySharing,
  startElection,
  startServer,
  storeKeys,
  systemClock,
} from "@isthmus/plane";
import { createLog, runProgram, startAdmin, startMetrics } from "@isthmus/process";
import { type GrpcServer, makeIdentity, rotateIdentity, startGrpcServer } from "@isthmus/relay";
import { type RunningServerLink, startServerLink } from "@isthmus/relay/session";
import { openStore } from "@isthmus/store/options";
import { fleetAccessLogPage } from "./accessLogs.ts";
import { serverAdminPages } from "./adminPages.ts";
import { apiSchemaPage, apisPage } from "./apis.ts";
import { readServerConfig, type ServerConfig } from "./config.ts";
import { workOnDirectClusters } from "./directClusters.ts";
import { insightsPage } from "./insightsPage.ts";
import { startMeshTraffic } from "./meshTraffic.ts";
import { observabilityLogsPage } from "./observabilityLogs.ts";

async function run(config: ServerConfig, signal: AbortSignal): Promise<void> {
  const log = createLog({ logger: NAMES[config.generation].server, verbose: config.verbose });
  const { namespace } = config;
  const random = Math.random;
  const clock = systemClock;
  const kubeconfig = loadKubeconfig({
    ...(config.kubeconfig === undefined ? {} : { path: config.kubeconfig }),
    ...(config.context === undefined ? {} : { context: config.context }),
  });
  const cluster = kubernetesCluster({ name: "", kubeconfig, clock, random, keepsLastWriter: hasUserStatus });
  log.info({ server: kubeconfig.server, namespace }, "starting");

  const ownUid = await clusterUid(cluster, { clock, log }, signal);
  const lease = { name: NAMES[config.generation].server, namespace };
  // A new name at each start: a replica that starts again is another one.
  const instance = `${config.replica}-${randomUUID()}`;
  const election = config.leaderElection ? startElection({ cluster, lease, identity: instance, clock, random, log }, signal) : undefined;
  let grpc: GrpcServer | undefined;
  const agentLifetimeMs = () => agentCertificateLifetimeMs(server.view, namespace);
  const names = [...defaultNames(namespace), ...config.serverNames];
  const kept = await keepRelayIdentity(
    {
      cluster,
      namespace,
      make: () => makeIdentity({ names, now: clock.now() }),
      rotate: (made) =>
        rotateIdentity(made, {
          names,
          now: clock.now(),
          lifetimes: { agent: agentLifetimeMs() },
          isTrustedByAll: (digest) => areRootsTrustedByAll(server.view, digest),
        }),
      rotationCheckMs: ROTATION_CHECK_MS,
      isLeader: () => election?.isLeader ?? true,
      givenToken: config.token,
      makeToken: () => randomBytes(32).toString("base64url"),
      changed: (identity) => grpc?.rotate(identity),
      clock,
      random,
      log,
    },
    signal,
  );

  let link: RunningServerLink | undefined;
  const read = () => [...(link?.metrics() ?? []), ...(grpc?.metrics() ?? []), ...server.metrics()];
  const metrics = startMetrics({ source: "server", read });
  const store = await openStore(config.store, {
    keys: () => storeKeys({ cluster, namespace, random: () => randomBytes(32) }, signal),
    refused: (what) => metrics.add("gloo_mesh_store_refused_total", { what }),
    clock,
    log,
  });
  const server: Server = startServer(
    {
      cluster,
      link: (handler, reportFilter) => {
        link = startServerLink(
          {
            serverId: config.replica,
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
      ...serverRoles(namespace, config.generation),
      heapBytes: getHeapStatistics().heap_size_limit,
      resumeDeletes: async (name) => {
        await link?.ask(name, { topic: RESUME_DELETES_TOPIC, body: new Uint8Array() }, abortedAfter(ASK_MS, signal));
      },
      namespace,
      ownUid,
      ...(store === undefined ? {} : { sharing: { store, replica: config.replica, version: config.version } }),
      translation: { namespace, stage: "all", disallowIntersectingConfig: config.disallowIntersectingConfig },
      ...(election === undefined ? {} : { leadership: election }),
      writesEvents: config.insightEvents,
      clock,
      random,
      log,
      meter: metrics,
    },
    signal,
  );
  if (link === undefined) throw new Error("the server created no link");
  const registrations = clusterRegistrations(cluster, {
    namespace,
    view: () => server.view,
    revokedBefore: (name) => server.revokedBefore(name),
  });
  const leadership = election ?? alwaysLeader;
  const mirrored =
    store === undefined ? undefined : mirrorJoinTokens({ cluster, namespace, store, leadership, clock, random, log }, signal);
  const ownName = config.singleCluster;
  const direct = workOnDirectClusters(
    {
      management: cluster,
      connect: (name, text) =>
        kubernetesCluster({ name, kubeconfig: kubeconfigOfSecret(text), clock, random, keepsLastWriter: hasUserStatus }),
      server,
      accept: link.accept,
      registrations,
      namespace,
      own:
        ownName === undefined
          ? undefined
          : { name: ownName, cluster: kubernetesCluster({ name: ownName, kubeconfig, clock, random, keepsLastWriter: hasUserStatus }) },
      writeNamespaces: config.writeNamespaces,
      generation: config.generation,
      leadership,
      clock,
      random,
      log,
      meter: metrics,
    },
    signal,
  );
  const traffic = startMeshTraffic({ server, ask: link.ask, clock }, signal);
  const isRegistered = (name: string) => (server.view.isComplete ? server.store.clusters.has(name) : undefined);
  const { activity } = traffic;
  const { store: shared } = server.sharing;
  const counted =
    shared && startActivitySharing({ store: shared, instance: server.sharing.instance, activity, isRegistered, clock, log }, signal);
  const admin = await startAdmin({
    host: config.adminHost,
    port: config.adminPort,
    isReady: () => server.isReady,
    metrics,
    pages: {
      ...serverAdminPages(server),
      "/insights": insightsPage(server),
      "/access-logs": fleetAccessLogPage(server, link.ask),
      "/v1/apis": apisPage(server),
      "/v1/apis/{id}/schema": apiSchemaPage(server),
      "/traffic": traffic.page,
      "/metrics/mesh": traffic.metricsPage,
    },
    posts: {
      "/v0/observability/logs": observabilityLogsPage(server, link.ask, clock),
      "/v0/observability/metrics/node": traffic.nodePage,
      "/v0/observability/metrics/edge": traffic.edgePage,
    },
    authorize: kubernetesAuthorizer({ kubeconfig, clock }).authorize,
    ...(config.adminTls === undefined ? {} : { tls: config.adminTls }),
  });
  grpc = await startGrpcServer({
    host: config.host,
    port: config.port,
    identity: kept.identity,
    accept: link.accept,
    registrations,
    joinTokens: keepJoinTokens(cluster, { namespace, clock }),
    token: () => kept.token,
    clientCertificates: config.clientCertificates,
    reflection: config.reflection,
    limits: { connections: config.maxConnections, connectionsPerAddress: config.maxConnectionsPerAddress },
    agentCertificateLifetimeMs: agentLifetimeMs,
    clock,
    log,
  }).catch(async (error: unknown) => {
    // What is open would keep the process from ending.
    await admin.close();
    throw error;
  });
  log.info({ port: grpc.port, adminPort: admin.port }, `serving agents on port ${grpc.port}; metrics and health on port ${admin.port}`);
  if (!config.clientCertificates)
    log.warn({}, "client certificates are disabled: any holder of the relay token can impersonate any cluster");

  signal.addEventListener("abort", () => log.info({}, "stopping"), { once: true });
  await Promise.all([server.ended, direct, traffic.ended, counted?.ended, kept.ended, mirrored, link.closed.then(() => grpc?.close())]);
  await election?.resign();
  await Promise.all([admin.close(), store?.close()]);
}

// Certificates of ours live for a year and longer: a minute sooner or later is all the same.
const ROTATION_CHECK_MS = 60_000;

// An agent that is there answers at once.
const ASK_MS = 5_000;

function defaultNames(namespace: string): readonly string[] {
  return [`gloo-mesh-mgmt-server.${namespace}`, `enterprise-networking.${namespace}`, `*.${namespace}`, "localhost"];
}

process.exitCode = await runProgram((signal) => run(readServerConfig(process.argv.slice(2)), signal));
