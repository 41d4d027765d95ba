import { randomBytes } from "node:crypto";
import { kubernetesAuthorizer, kubernetesCluster, loadKubeconfig } from "@isthmus/kubernetes";
import {
  clusterRegistrations,
  joinTokens,
  RESUME_DELETES_TOPIC,
  relayIdentity,
  relayToken,
  type Server,
  serverRoles,
  startServer,
  systemClock,
} from "@isthmus/plane";
import { createLog, runProgram, startAdmin, startMetrics } from "@isthmus/process";
import { createServerIdentity, type GrpcServer, startGrpcServer } from "@isthmus/relay";
import { type RunningServerLink, startServerLink } from "@isthmus/relay/session";
import { adminPages } from "./adminPages.ts";
import { type Config, readConfig } from "./config.ts";

async function run(config: Config, signal: AbortSignal): Promise<void> {
  const log = createLog({ logger: "gloo-mesh-mgmt-server", verbose: config.verbose });
  const { namespace } = config;
  const random = Math.random;
  const clock = systemClock;
  const kubeconfig = loadKubeconfig({
    ...(config.kubeconfig === undefined ? {} : { path: config.kubeconfig }),
    ...(config.context === undefined ? {} : { context: config.context }),
  });
  const cluster = kubernetesCluster({ name: "", kubeconfig, clock, random });
  log.info({ server: kubeconfig.server, namespace }, "starting");

  const create = () => createServerIdentity({ names: [...defaultNames(namespace), ...config.serverNames], now: clock.now() });
  const identity = await relayIdentity(cluster, { namespace, create }, signal);
  const token = await relayToken(cluster, { namespace, given: config.token, create: () => randomBytes(32).toString("base64url") }, signal);

  let link: RunningServerLink | undefined;
  let grpc: GrpcServer | undefined;
  const read = () => [...(link?.metrics() ?? []), ...(grpc?.metrics() ?? []), ...server.metrics()];
  const metrics = startMetrics({ source: "server", read });
  const server: Server = startServer(
    {
      cluster,
      link: (handler) => {
        link = startServerLink(
          { serverId: config.replica, handler, remembers: (name) => server.store.remembers(name), clock, random, log },
          signal,
        );
        return link;
      },
      ...serverRoles(namespace),
      resumeDeletes: async (name) => {
        await link?.ask(
          name,
          { topic: RESUME_DELETES_TOPIC, body: new Uint8Array() },
          AbortSignal.any([signal, AbortSignal.timeout(ASK_MS)]),
        );
      },
      namespace,
      translation: { namespace, stage: "all", disallowIntersectingConfig: config.disallowIntersectingConfig },
      clock,
      random,
      log,
      meter: metrics,
    },
    signal,
  );
  if (link === undefined) throw new Error("the server made no link");
  grpc = await startGrpcServer({
    host: config.host,
    port: config.port,
    identity,
    accept: link.accept,
    registrations: clusterRegistrations(cluster, { namespace, view: () => server.view }),
    joinTokens: joinTokens(cluster, { namespace, clock }),
    token: () => token,
    clientCertificates: config.clientCertificates,
    clock,
    log,
  });
  const admin = await startAdmin({
    host: config.adminHost,
    port: config.adminPort,
    isReady: () => server.world !== undefined,
    metrics,
    pages: adminPages(server),
    authorize: kubernetesAuthorizer({ kubeconfig, clock }).authorize,
  });
  log.info({ port: grpc.port, adminPort: admin.port }, `agents are served on port ${grpc.port}; metrics and health on port ${admin.port}`);
  if (!config.clientCertificates)
    log.warn({}, "client certificates are switched off: whoever has the relay token can speak for any cluster");

  signal.addEventListener("abort", () => log.info({}, "stopping"), { once: true });
  await Promise.all([server.ended, link.closed.then(() => grpc?.close())]);
  await admin.close();
}

// An agent that is there answers at once.
const ASK_MS = 5_000;

function defaultNames(namespace: string): readonly string[] {
  return [`gloo-mesh-mgmt-server.${namespace}`, `enterprise-networking.${namespace}`, `*.${namespace}`, "localhost"];
}

process.exitCode = await runProgram((signal) => run(readConfig(process.argv.slice(2)), signal));
