import { randomUUID } from "node:crypto";
import { kindKeyOf } from "@isthmus/core";
import { type AccessLogSink, type MeshScrape, parseAccessLogQuery, startAccessLogSink, startMeshScrape } from "@isthmus/dataplane";
import {
  ACCESS_LOGS_TOPIC,
  type Agent,
  agentRoles,
  agentSecrets,
  answerQuery,
  type Cluster,
  MESH_METRICS_TOPIC,
  startAgent,
  systemClock,
} from "@isthmus/plane";
import { grpcConnector } from "@isthmus/relay";
import { startAgentLink } from "@isthmus/relay/session";
import type { Logger } from "pino";
import { version } from "../package.json";
import type { DataPlane } from "./traffic/dataPlane.ts";
import type { ProxyTrust } from "./trust/proxyTrust.ts";

/** Namespace of the management plane. */
export const NAMESPACE = "gloo-mesh";
const clock = systemClock;
const random = Math.random;

export interface DemoAgentOptions {
  /** Of the server, on loopback. */
  readonly port: number;
  readonly dataPlane: DataPlane;
  readonly trust: ProxyTrust;
  readonly log: Logger;
}

/** Runs the agent of a cluster as its program does, until `signal` is aborted: it also scrapes the proxies, and takes their access logs. */
export async function runAgent(cluster: Cluster, { port, dataPlane, trust, log }: DemoAgentOptions, signal: AbortSignal): Promise<void> {
  const clusterName = cluster.name;
  const clusterUid = `uid-of-${clusterName}`;
  const secrets = agentSecrets(cluster, { namespace: NAMESPACE, token: undefined, clock, random, log });
  const connector = grpcConnector({
    address: `127.0.0.1:${port}`,
    clusterName,
    clusterUid,
    root: () => secrets.root(),
    token: () => secrets.token(),
    credentials: secrets.credentials,
    clock,
    random,
    log,
  });
  const roles = agentRoles(NAMESPACE);
  const links: Promise<void>[] = [];
  const reads = proxyReaders(clusterName, { dataPlane, log });
  const agent: Agent = startAgent(
    {
      cluster,
      link: (handler) => {
        const service = { name: "gloo-mesh-agent", grpcPort: 9977 };
        const about = { instance: randomUUID(), version, agentNamespace: NAMESPACE, service, clusterUid };
        const link = startAgentLink(
          {
            clusterName,
            kinds: roles.sentKinds.map(kindKeyOf),
            userKinds: roles.userKinds.map(kindKeyOf),
            agent: about,
            connector,
            handler,
            answer: answerQuery(() => agent, reads.answers),
            clock,
            random,
            log,
          },
          signal,
        );
        links.push(link.closed);
        return link;
      },
      ...roles,
      ...reads.processes,
      leafValidity: async (address) => trust.validityAt({ cluster: clusterName, address }),
      clock,
      random,
      log,
    },
    signal,
  );
  await Promise.all([agent.ended, secrets.watch(() => void connector.reload(), signal), ...links]);
}

/** What an agent reads of proxies, and what it answers of that. */
function proxyReaders(cluster: string, { dataPlane, log }: Pick<DemoAgentOptions, "dataPlane" | "log">) {
  let scrape: MeshScrape | undefined;
  let logs: AccessLogSink | undefined;
  const processes: Pick<Parameters<typeof startAgent>[0], "meshMetrics" | "accessLogs"> = {
    meshMetrics({ targets }, term) {
      const places = { reachedAt: dataPlane.reachedAt.bind(undefined, cluster), allowance: { loopback: true } };
      // Somebody is watching.
      const limits = { intervalMs: SCRAPE_MS };
      scrape = startMeshScrape({ targets, epoch: randomUUID(), limits, ...places, clock, log }, term);
      return scrape;
    },
    accessLogs(podsAt, until) {
      logs = startAccessLogSink({ host: "127.0.0.1", port: 0, podsAt: dataPlane.podsAt(cluster, podsAt), clock, log }, until);
      logs.listening.then(
        (port) => dataPlane.agentAt(cluster, port),
        () => undefined,
      );
      until.addEventListener("abort", () => dataPlane.agentAt(cluster, undefined), { once: true });
      return logs;
    },
  };
  const answers = {
    [MESH_METRICS_TOPIC]: (body: Uint8Array) => {
      if (scrape === undefined) throw new Error("this agent does not scrape proxies yet");
      return scrape.answer(body);
    },
    [ACCESS_LOGS_TOPIC]: (body: Uint8Array) => {
      if (logs === undefined) throw new Error("this agent takes no access logs yet");
      return encoded(logs.query(parseAccessLogQuery(new TextDecoder().decode(body))));
    },
  };
  return { processes, answers };
}

function encoded(answer: object): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(answer));
}

const SCRAPE_MS = 2_000;
