// `npm run soak:certificates -- --minutes N`: certificates that live for a minute, under load. Every change of a policy must
// come into force in every cluster, whatever is being renewed meanwhile. Prints one line a minute, then one JSON line; exits
// with 1 when a change was lost.
import { setMaxListeners } from "node:events";
import { parseArgs } from "node:util";
import { allKinds, TrafficPolicy, VirtualService } from "@isthmus/api";
import { messageOf, UsageError } from "@isthmus/core";
import { agentSecrets, ensureSecret, RELAY_SECRETS, systemClock } from "@isthmus/plane";
import { grpcConnector } from "@isthmus/relay";
import { demoClusters, type SimulatedCluster, simulatedCluster, startControllers } from "@isthmus/simulator";
import { startFullAgent } from "../security/harness/fullAgent.ts";
import { NAMESPACE, type Replica, replicasOf } from "../security/harness/replicas.ts";

const clock = systemClock;
const SECOND = 1_000;

// The agents' certificates live for a minute; the others for so long that half an hour sees several roots.
const LIFETIMES = { agent: 60 * SECOND, server: 120 * SECOND, signing: 240 * SECOND, root: 480 * SECOND };

/** A change that is not in force after this long is slow: renewing takes a fraction of it. */
const SLOW_AFTER_MS = 15 * SECOND;

/** One that is not after this long, though nothing else has changed, is lost. */
const LOST_AFTER_MS = 120 * SECOND;

const PAUSE_MS = 250;

const USAGE = "usage: npm run soak:certificates -- [--minutes N]";

async function main(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: { minutes: { type: "string", default: "3" }, help: { type: "boolean", default: false } },
  });
  if (values.help) {
    console.log(USAGE);
    return 0;
  }
  const minutes = Number(values.minutes);
  if (!(minutes > 0)) throw new UsageError(`--minutes ${values.minutes} is no length of time`);
  const plane = await replicasOf();
  const stop = new AbortController();
  setMaxListeners(0, stop.signal);
  const replica = await plane.start({ lifetimes: LIFETIMES, rotationCheckMs: SECOND });
  const roots = new Set<string>();
  const agents = await Promise.all(Object.keys(demoClusters()).map((name) => startAgentOf(name, replica, stop.signal)));
  const end = Date.now() + minutes * 60 * SECOND;
  const latencies: number[] = [];
  const lost: string[] = [];
  let nextReport = Date.now() + 60 * SECOND;
  try {
    const isSynced = await waitFor(
      () => agents.every(({ name }) => replica.server.store.clusters.get(name)?.phase === "synced"),
      60 * SECOND,
    );
    if (!isSynced) throw new Error("the agents do not come to be in sync");
    for (let change = 1; Date.now() < end; change++) {
      const timeout = `${1 + (change % 997)}s`;
      const began = performance.now();
      await plane.management.apply(policy(timeout), { fieldManager: "user" });
      const inForce = await waitFor(
        async () => (await Promise.all(agents.map(timeoutIn))).every((found) => found === timeout),
        LOST_AFTER_MS,
      );
      const tookMs = performance.now() - began;
      if (inForce) latencies.push(tookMs);
      else lost.push(`change ${change} at ${new Date().toISOString()}`);
      if (inForce && tookMs > SLOW_AFTER_MS) console.error(`slow: change ${change} took ${Math.round(tookMs)} ms`);
      roots.add(replica.kept.identity.root);
      if (Date.now() >= nextReport) {
        console.error(
          `${latencies.length} changes in force, ${lost.length} lost; ${agents.map(({ saves }) => saves()).join(" and ")} certificates`,
        );
        nextReport += 60 * SECOND;
      }
      await clock.sleep(PAUSE_MS);
    }
  } finally {
    stop.abort(new Error("the soak is over"));
    await Promise.all(agents.map(({ ended }) => ended));
    await plane.stop();
  }
  latencies.sort((a, b) => a - b);
  const at = (share: number) => Math.round(latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))] ?? Number.NaN);
  const figures = {
    name: "certificates",
    minutes,
    changes: latencies.length + lost.length,
    lost: lost.length,
    applies: latencies.length * agents.length,
  };
  const renewals = {
    certificates: agents.map(({ saves }) => saves()),
    registrations: agents.map(({ registrations }) => registrations()),
    rootBundles: roots.size,
    slow: latencies.filter((ms) => ms > SLOW_AFTER_MS).length,
  };
  console.log(JSON.stringify({ ...figures, ...renewals, p50Ms: at(0.5), p99Ms: at(0.99), maxMs: at(1) }));
  for (const line of lost) console.error(`lost: ${line}`);
  return lost.length === 0 ? 0 : 1;
}

/** Why a connection ends when all is well. */
const RENEWED = /^it has a new certificate$|^the agent is stopping$|^the management server is stopping$/;

interface SoakAgent {
  readonly name: string;
  readonly cluster: SimulatedCluster;
  /** Certificates that it has been given so far. */
  saves(): number;
  registrations(): number;
  readonly ended: Promise<unknown>;
}

async function startAgentOf(name: string, replica: Replica, signal: AbortSignal): Promise<SoakAgent> {
  const cluster = simulatedCluster({ name, clock, kinds: allKinds() });
  cluster.load([{ apiVersion: "v1", kind: "Namespace", metadata: { name: NAMESPACE } }, ...(demoClusters()[name] ?? [])]);
  await ensureSecret(cluster, { name: RELAY_SECRETS.root, namespace: NAMESPACE }, async () => ({ "ca.crt": replica.kept.identity.root }));
  const log = { debug: quiet, info: quiet, warn: quiet, error: (_: object, line: string) => console.error(`${name}: ${line}`) };
  const secrets = agentSecrets(cluster, { namespace: NAMESPACE, token: replica.kept.token, clock, random: Math.random, log });
  let saves = 0;
  let registrations = 0;
  const connector = grpcConnector({
    address: replica.address,
    clusterName: name,
    clusterUid: `uid-of-${name}`,
    root: () => secrets.root(),
    token: () => secrets.token(),
    credentials: {
      load: () => secrets.credentials.load(),
      save: async (credentials) => {
        await secrets.credentials.save(credentials);
        saves++;
      },
    },
    clock,
    random: Math.random,
    log,
  });
  const state = (now: string, detail: string) => {
    if (now === "registering") registrations++;
    if (now === "waiting" && !RENEWED.test(detail)) console.error(`${name}: ${detail}`);
  };
  const agent = startFullAgent({ cluster, clusterUid: `uid-of-${name}`, connector, log, state }, signal);
  const controllers = startControllers(cluster, { clock, random: Math.random, log }, signal);
  const following = secrets.watch(() => void connector.reload(), signal);
  return {
    name,
    cluster,
    saves: () => saves,
    registrations: () => registrations,
    ended: Promise.all([agent.ended, following, controllers]),
  };
}

async function timeoutIn({ cluster }: SoakAgent): Promise<string | undefined> {
  const found = await cluster.get(VirtualService, { name: "reviews", namespace: "bookinfo" });
  return found?.spec?.http?.[0]?.timeout;
}

function policy(requestTimeout: string): TrafficPolicy {
  const { apiVersion, kind } = TrafficPolicy;
  const services = Object.keys(demoClusters()).map((clusterName) => ({ name: "reviews", namespace: "bookinfo", clusterName }));
  const spec = { destinationSelector: [{ kubeServiceRefs: { services } }], policy: { requestTimeout } };
  return { apiVersion, kind, metadata: { name: "soak", namespace: NAMESPACE }, spec };
}

/** Whether something comes to be so in time. */
async function waitFor(isSo: () => boolean | Promise<boolean>, timeoutMs: number): Promise<boolean> {
  const end = performance.now() + timeoutMs;
  while (!(await isSo())) {
    if (performance.now() > end) return false;
    await clock.sleep(5);
  }
  return true;
}

function quiet(): void {
  // What is not an error is not reported.
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  // parseArgs says by a TypeError with a code what is wrong with the flags.
  if (!(error instanceof UsageError || (error instanceof TypeError && "code" in error))) throw error;
  console.error(error instanceof UsageError ? messageOf(error) : `${error.message}\n${USAGE}`);
  process.exitCode = 2;
}
