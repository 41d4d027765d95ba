import { randomUUID } from "node:crypto";
import { kindKeyOf } from "@isthmus/core";
import { type AccessLogSink, type MeshScrape, startAccessLogSink, startMeshScrape, wasmOutcomesText } from "@isthmus/dataplane";
import {
  ACCESS_LOGS_TOPIC,
  type Agent,
  agentRoles,
  agentSecrets,
  answerQuery,
  MESH_METRICS_TOPIC,
  startAgent,
  startElection,
  clusterUid as uidOf,
} from "@isthmus/plane";
import { runProgram, startMetrics } from "@isthmus/process";
import { grpcConnector, replicaKeys, startReplicaPort } from "@isthmus/relay";
import { type RunningAgentLink, startAgentLink } from "@isthmus/relay/session";
import { answerAccessLogs, answerOwnAccessLogs } from "./accessLogs.ts";
import { agentAdminPages } from "./adminPages.ts";
import { agentProgram, openAdminPort } from "./agentProgram.ts";
import { runForCertificates } from "./certificatesAlone.ts";
import { type AgentConfig, readAgentConfig } from "./config.ts";
import { httpClient } from "./httpClient.ts";
import { answerMeshMetrics } from "./meshMetrics.ts";
import { answerReplica, otherReplicas, replicaClient } from "./replicas.ts";
import { type StartedWasmFilters, startWasmFilters } from "./wasmFilters.ts";
import { WASM_OUTCOMES_TOPIC } from "./wasmReplicas.ts";
import { offeredServices, startWorkloadHttp } from "./workloadHttp.ts";

const VERSION = "0.1.0";

async function run(config: AgentConfig, signal: AbortSignal): Promise<void> {
  const { clusterName, namespace } = config;
  const ours = agentProgram(config);
  const { cluster, kubeconfig, identity, lease, certificates, clock, random, log } = ours;
  log.info({ cluster: clusterName, server: kubeconfig.server, relay: config.serverAddress }, "starting");

  const clusterUid = await uidOf(cluster, { clock, log }, signal);
  const secrets = agentSecrets(cluster, { namespace, token: config.token, clock, random, log });
  const connector = grpcConnector({
    address: config.serverAddress,
    authority: config.authority,
    clusterName,
    clusterUid,
    root: () => secrets.root(),
    verifiesServer: config.verifiesServer,
    token: () => secrets.token(),
    credentials: config.clientCertificates ? secrets.credentials : undefined,
    clock,
    random,
    log,
  });
  let link: RunningAgentLink | undefined;
  // One replica has nobody to ask, and without a client certificate none can show who it is.
  const keys = config.leaderElection && config.clientCertificates ? replicaKeys({ load: secrets.credentials.load, clock, log }) : undefined;
  const following = secrets.watch(() => {
    void connector.reload();
    void keys?.reload();
    link?.retry();
  }, signal);
  const roles = agentRoles(config.managementNamespace, namespace);
  const election = config.leaderElection ? startElection({ cluster, lease, identity, clock, random, log }, signal) : undefined;
  const { wasm: wasmConfig } = config;
  let wasm: StartedWasmFilters | undefined;
  let accessLogs: AccessLogSink | undefined;
  const others = () => otherReplicas(agent.view.snapshot, { name: config.instance, namespace, clusterName });
  const replicas = replicaClient({ others, keys, port: config.replicaPort, log });
  let scrape: MeshScrape | undefined;
  /** The port for proxies, since it is open. */
  let taken: number | undefined;
  const metrics = startMetrics({
    source: "agent",
    read: () => [...(link?.metrics() ?? []), ...agent.metrics(), ...(accessLogs?.metrics() ?? []), ...(scrape?.metrics() ?? [])],
  });
  const agent: Agent = startAgent(
    {
      cluster,
      link: (handler, turn) => {
        const instance = `${config.instance}-${randomUUID()}`;
        const about = { instance, version: VERSION, agentNamespace: namespace, service: config.service, clusterUid };
        link = startAgentLink(
          {
            clusterName,
            kinds: roles.sentKinds.map(kindKeyOf),
            userKinds: roles.userKinds.map(kindKeyOf),
            agent: about,
            connector,
            handler,
            answer: answerQuery(() => agent, {
              [ACCESS_LOGS_TOPIC]: (body) => answerAccessLogs(accessLogs, body, replicas),
              [MESH_METRICS_TOPIC]: (body) => answerMeshMetrics(scrape, body),
            }),
            clock,
            random,
            log,
          },
          turn,
        );
        return link;
      },
      ...roles,
      limits: config.limits,
      ...certificates,
      schemas: { http: httpClient },
      ...(election === undefined ? {} : { leadership: election }),
      clock,
      random,
      log,
      meter: metrics,
      ...(wasmConfig === undefined
        ? {}
        : {
            wasmFilters(sources, until) {
              const started = startWasmFilters(
                { config: wasmConfig, others: keys && election && { replicas, leadership: election }, clock, log },
                sources,
                until,
              );
              wasm = started;
              return started;
            },
          }),
      meshMetrics({ targets }, term) {
        scrape = startMeshScrape({ targets, epoch: randomUUID(), clock, log }, term);
        return scrape;
      },
      ...(keys === undefined
        ? {}
        : {
            replicaQueries(until) {
              const answer = answerReplica({
                [ACCESS_LOGS_TOPIC]: (body) => answerOwnAccessLogs(accessLogs, body),
                [WASM_OUTCOMES_TOPIC]: () => wasmOutcomesText(wasm?.ownOutcomes() ?? []),
              });
              const { replicaHost: host, replicaPort: port, instance: name } = config;
              return startReplicaPort({ host, port, name, keys, answer, clock, log }, until);
            },
          }),
      accessLogs(podsAt, until) {
        const besides = wasm === undefined ? [] : [wasm.service];
        accessLogs = startAccessLogSink({ host: config.workloadHost, port: config.workloadPort, podsAt, besides, clock, log }, until);
        accessLogs.listening.then(
          (port) => {
            taken = port;
          },
          () => undefined,
        );
        return accessLogs;
      },
    },
    signal,
  );
  const beside =
    config.workloadHttpPort === undefined
      ? undefined
      : startWorkloadHttp(
          {
            host: config.workloadHost,
            port: config.workloadHttpPort,
            clusterName,
            lacking: () => (taken === undefined ? "the port for proxies is not open" : undefined),
            offered: () => offeredServices(taken, wasmConfig !== undefined),
            clock,
            log,
          },
          signal,
        );
  const pages = agentAdminPages(agent, clusterName, () => accessLogs);
  const admin = await openAdminPort(config, ours, { isReady: () => agent.view.isComplete, metrics, pages, signal });
  await Promise.all([agent.ended, following, beside?.ended]);
  await election?.resign();
  await admin.close();
}

process.exitCode = await runProgram((signal) => {
  const config = readAgentConfig(process.argv.slice(2));
  return config.isStandard ? runForCertificates(config, signal) : run(config, signal);
});
