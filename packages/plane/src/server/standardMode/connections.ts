import { Secret } from "@isthmus/api";
import { backoffMs, type Clock, type Log, messageOf, onAbort, UsageError } from "@isthmus/core";
import { type Cluster, ClusterError } from "@isthmus/ports";
import { KUBECONFIG_SECRET_TYPE } from "../../identity/kubeconfigSecret.ts";
import { secretTexts } from "../../identity/secretData.ts";
import { type ReflectorEvent, runReflector } from "../../informer/reflector.ts";

/** The key in it. */
const KUBECONFIG_KEY = "kubeconfig";

/** Standard mode: the server connects to the clusters whose kubeconfigs are in Secrets of its namespace. */
export interface Connections {
  readonly ended: Promise<void>;
}

export interface ConnectionsOptions {
  /** The management cluster. */
  readonly cluster: Cluster;
  readonly namespace: string;
  /**
   * Connects to a cluster and works there until aborted; calls `connected` when it has got through. Rejects with UsageError for
   * a kubeconfig that can't be used, with ClusterError for an API server that refuses.
   */
  readonly open: (cluster: { readonly name: string; readonly kubeconfig: string; connected(): void }, signal: AbortSignal) => Promise<void>;
  /** Why a cluster can't be connected to; undefined: it can. */
  readonly problem: (clusterName: string, problem: string | undefined) => void;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
}

interface Running {
  readonly kubeconfig: string;
  readonly stop: AbortController;
  readonly ended: Promise<void>;
}

export interface KeepConnectedOptions {
  /** Connects and works until aborted. */
  readonly work: () => Promise<void>;
  /** Hears why it could not; it is tried again. */
  readonly failed: (message: string) => void;
  readonly clock: Clock;
  readonly random: () => number;
}

/** Works on a cluster until aborted, again and again while its API server refuses. Rejects with what is neither its fault nor its kubeconfig's. */
export async function keepConnected({ work, failed, clock, random }: KeepConnectedOptions, signal: AbortSignal): Promise<void> {
  for (let failures = 0; !signal.aborted; ) {
    try {
      await work();
      return;
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof ClusterError) && !(error instanceof UsageError)) throw error;
      failed(messageOf(error));
      // A kubeconfig will not get better by itself, but what it points to might.
      await clock.sleep(backoffMs(++failures, RETRY, random), signal).catch(() => undefined);
    }
  }
}

/** A Secret that changes ends what runs for it, and starts over; one that goes ends it, and nothing is removed in that cluster. */
export function startConnections(options: ConnectionsOptions, signal: AbortSignal): Connections {
  const { cluster, namespace, open, problem, clock, random, log } = options;
  const running = new Map<string, Running>();
  const ending = new Set<Promise<void>>();

  async function work(name: string, kubeconfig: string, { until, after }: { until: AbortSignal; after: Promise<void> | undefined }) {
    await after;
    const work = () => open({ name, kubeconfig, connected: () => told(name, undefined, until) }, until);
    await keepConnected({ work, failed: (message) => told(name, `Secret ${namespace}/${name}: ${message}`, until), clock, random }, until);
  }

  function told(name: string, message: string | undefined, until: AbortSignal): void {
    if (until.aborted) return;
    if (message !== undefined) log.warn({ cluster: name }, `cannot connect to ${name}: ${message}`);
    problem(name, message);
  }

  function stop(name: string, why: string): Promise<void> | undefined {
    const before = running.get(name);
    if (before === undefined) return undefined;
    running.delete(name);
    before.stop.abort(new Error(why));
    return before.ended;
  }

  function seen(secret: Secret): void {
    const { name } = secret.metadata;
    if (secret.type !== KUBECONFIG_SECRET_TYPE) {
      gone(name);
      return;
    }
    const kubeconfig = secretTexts(secret)[KUBECONFIG_KEY];
    if (kubeconfig === undefined) {
      void stop(name, "its Secret has no kubeconfig");
      problem(name, `Secret ${namespace}/${name} has no value for the key ${KUBECONFIG_KEY}`);
      return;
    }
    if (running.get(name)?.kubeconfig === kubeconfig) return;
    const after = stop(name, "its kubeconfig has changed");
    log.info({ cluster: name }, after === undefined ? `connecting to ${name}` : `connecting to ${name} with its new kubeconfig`);
    const controller = new AbortController();
    const forget = onAbort(signal, () => controller.abort(signal.reason));
    const ended = work(name, kubeconfig, { until: controller.signal, after }).finally(() => {
      forget();
      ending.delete(ended);
    });
    ending.add(ended);
    running.set(name, { kubeconfig, stop: controller, ended });
  }

  function gone(name: string): void {
    if (stop(name, "its Secret was deleted") !== undefined) {
      log.info({ cluster: name }, `Secret ${name} was deleted: disconnecting from ${name}; objects in that cluster are kept`);
    }
    problem(name, undefined);
  }

  function on(event: ReflectorEvent<Secret>): void {
    if (event.type === "listed") {
      const names = new Set([...event.items.map(({ metadata }) => metadata.name), ...event.malformed.map(({ ref }) => ref.name)]);
      for (const name of [...running.keys()]) if (!names.has(name)) gone(name);
      for (const secret of event.items) if (secret.type === KUBECONFIG_SECRET_TYPE || running.has(secret.metadata.name)) seen(secret);
    } else if (event.type === "put") {
      if (event.resource.type === KUBECONFIG_SECRET_TYPE || running.has(event.resource.metadata.name)) seen(event.resource);
    } else if (event.type === "removed" && running.has(event.ref.name)) gone(event.ref.name);
    else if (event.type === "unavailable") log.warn({}, `cannot read the Secrets in namespace ${namespace}: ${event.message}; retrying`);
  }

  async function run(): Promise<void> {
    await runReflector({ cluster, kind: Secret, list: { namespace }, clock, random, emit: on }, signal);
    await Promise.all(ending);
  }
  return { ended: run() };
}

const RETRY = { firstMs: 1_000, lastMs: 60_000 };
