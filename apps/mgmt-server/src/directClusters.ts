import { randomUUID } from "node:crypto";
import { type Clock, kindKeyOf, type Log, type Meter, UsageError } from "@isthmus/core";
import {
  type Agent,
  type AgentLimits,
  agentRoles,
  answerQuery,
  type Cluster,
  type ClusterRegistrations,
  clusterUid,
  type DeletionLog,
  type Generation,
  keepConnected,
  type Leadership,
  NAMES,
  type Server,
  startAgent,
  startConnections,
  whileLeading,
} from "@isthmus/plane";
import { type InMemoryNetwork, inMemoryNetwork } from "@isthmus/relay/inMemory";
import { type Acceptor, startAgentLink } from "@isthmus/relay/session";

/** Where the server writes without a relay: the clusters of kubeconfig Secrets, and perhaps its own. */
export interface DirectClustersOptions {
  readonly management: Cluster;
  /** The cluster that a kubeconfig leads to. Throws UsageError for one that can't be used. */
  readonly connect: (name: string, kubeconfig: string) => Cluster;
  readonly server: Server;
  readonly accept: Acceptor;
  readonly registrations: ClusterRegistrations;
  readonly namespace: string;
  /** Single-cluster mode: the management cluster as the workload cluster of this name. */
  readonly own: { readonly name: string; readonly cluster: Cluster } | undefined;
  /** What may be written in them: `*` is all namespaces but Kubernetes' own, and the default. */
  readonly writeNamespaces?: ReadonlySet<string>;
  /** Which names the product bears. */
  readonly generation: Generation;
  /** Each cluster is worked on by one replica. */
  readonly leadership: Leadership;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
  /** Counts what is written in all of them. */
  readonly meter: Meter;
}

/**
 * Runs the loops of an agent for each of these clusters, in memory and on the leader alone; a cluster that cannot be reached is retried,
 * and its KubernetesCluster says why. Resolves when `signal` is aborted and all loops have ended; rejects on a programming error.
 */
export async function workOnDirectClusters(options: DirectClustersOptions, signal: AbortSignal): Promise<void> {
  const { management, connect, server, accept, registrations, namespace, own, writeNamespaces, generation } = options;
  const { leadership, clock, random, log, meter } = options;
  const network = inMemoryNetwork({ clock });
  network.listen(accept);
  // The one who orders and the one who carries out are one program: its Settings are as good as its flags.
  const limits: AgentLimits = {
    ...(writeNamespaces === undefined ? {} : { writeNamespaces }),
    deleteBudget: { percent: 100, objects: Number.MAX_SAFE_INTEGER },
  };
  const shared = {
    network,
    registrations,
    namespace,
    limits,
    lease: NAMES[generation].agent,
    removals: server.removals,
    clock,
    random,
    log,
    meter,
  };

  function start(turn: AbortSignal): { readonly ended: Promise<void> } {
    const connections = startConnections(
      {
        cluster: management,
        namespace,
        async open({ name, kubeconfig, connected }, until) {
          await workDirectly({ ...shared, cluster: connect(name, kubeconfig), connected }, until);
        },
        problem: server.cannotConnect,
        clock,
        random,
        log,
      },
      turn,
    );
    const single = own === undefined ? undefined : workOnOwn(own, turn);
    return { ended: Promise.all([connections.ended, single]).then(() => undefined) };
  }

  async function workOnOwn({ name, cluster }: { readonly name: string; readonly cluster: Cluster }, turn: AbortSignal): Promise<void> {
    const connected = () => {
      server.cannotConnect(name, undefined);
      log.info({ cluster: name }, "managing the management cluster directly, without an agent");
    };
    async function work(): Promise<void> {
      const uid = await clusterUid(cluster, { clock, log }, turn);
      await registrations.register({ clusterName: name, clusterUid: uid, isExpected: true });
      await workDirectly({ ...shared, cluster, connected }, turn);
    }
    function failed(message: string): void {
      log.warn({ cluster: name }, `cannot manage the management cluster as ${name}: ${message}; retrying`);
      server.cannotConnect(name, message);
    }
    await keepConnected({ work, failed, clock, random }, turn);
  }

  await whileLeading(leadership, start, signal);
}

interface DirectClusterOptions {
  readonly cluster: Cluster;
  readonly network: InMemoryNetwork;
  readonly registrations: ClusterRegistrations;
  readonly namespace: string;
  readonly limits: AgentLimits;
  /** Name of the Lease by which an agent for certificates shows that it is there. */
  readonly lease: string;
  /** The server's: what is ordered and what became of it are reported together. */
  readonly removals: DeletionLog;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
  readonly meter: Meter;
  /** Called when the cluster's API server has answered. */
  readonly connected: () => void;
}

/**
 * Runs an agent's loops for a cluster inside the server, linked in memory, until aborted. Rejects with UsageError when the name
 * is another cluster's, with ClusterError when the API server refuses.
 */
async function workDirectly(options: DirectClusterOptions, signal: AbortSignal): Promise<void> {
  const { cluster, network, registrations, namespace, limits, lease, removals, clock, random, log, meter, connected } = options;
  const { name } = cluster;
  const uid = await clusterUid(cluster, { clock, log }, signal);
  await claim(name, uid, registrations);
  connected();
  const roles = agentRoles(namespace);
  const agent: Agent = startAgent(
    {
      cluster,
      link: (handler, turn) =>
        startAgentLink(
          {
            clusterName: name,
            kinds: roles.sentKinds.map(kindKeyOf),
            userKinds: roles.userKinds.map(kindKeyOf),
            agent: { instance: `direct-${randomUUID()}`, version: "0.1.0", agentNamespace: namespace, clusterUid: uid },
            connector: network.connector(name),
            handler,
            answer: answerQuery(() => agent),
            clock,
            random,
            log,
          },
          turn,
        ),
      ...roles,
      // Keys are made in the cluster alone: what is ordered is stored for the agent there that makes them.
      storesOrders: { lease },
      limits,
      relistMs: RELIST_MS,
      removals,
      clock,
      random,
      log,
      meter,
    },
    signal,
  );
  await agent.ended;
}

/** Records which cluster has the name. A cluster that is not registered (any more) counts for nothing, and stays so. */
async function claim(name: string, uid: string, registrations: ClusterRegistrations): Promise<void> {
  const known = await registrations.find(name);
  if (known === undefined) return;
  if (known.uid !== "" && known.uid !== uid && !known.isReplaceable) {
    throw new UsageError(`its kubeconfig connects to a different cluster than the one that is registered as ${name}`);
  }
  if (known.uid !== uid) await registrations.register({ clusterName: name, clusterUid: uid, isExpected: true });
}

// Source: seed 003, “when the cluster is first registered and then periodically”. Watches tell of changes at once.
const RELIST_MS = 600_000;
