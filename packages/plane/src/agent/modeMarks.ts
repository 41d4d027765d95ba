import { IssuedCertificate, KubernetesCluster } from "@isthmus/api";
import { type AnyResource, type Clock, equalJson, type Log, messageOf, type Owner, refOf } from "@isthmus/core";
import { type Cluster, ClusterError } from "@isthmus/ports";
import { bearsLabelOf } from "../apply/ownership.ts";
import type { Informer } from "../informer/informer.ts";
import { coalesced } from "../runtime/coalesce.ts";
import { ALL_WRITES, NO_WRITES, receivedWriteRules, type WriteRules } from "./writeMode.ts";

/** The annotation of an order by which an agent without a server learns what may be written in its cluster: JSON of mode and managedObjects. */
export const MODE_MARK = "isthmus.mesh/write-mode";

/** A manager of its own: what the mode says is not part of what is desired, and is written while nothing desired may be. */
const MARK_MANAGER = "gloo-mesh-mode";

/** Has the orders that stand in a cluster say what may be written there. */
export interface ModeMarks {
  /** The mode, or what stands in the cluster, is another. */
  changed(): void;
  readonly ended: Promise<void>;
}

export interface ModeMarksOptions {
  /** The cluster itself, whatever its mode forbids: the mark is how the mode reaches it. */
  readonly cluster: Cluster;
  /** Of the agent. */
  readonly namespace: string;
  readonly owners: readonly Owner[];
  readonly view: () => Informer;
  /** Undefined before the server has said it. */
  readonly rules: () => WriteRules | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

/** Marks each order that is ours and does not say it, until `signal` is aborted. A write that fails is tried again after 5 s. */
export function startModeMarks({ cluster, namespace, owners, view, rules, clock, log }: ModeMarksOptions, signal: AbortSignal): ModeMarks {
  async function run(): Promise<void> {
    const now = rules();
    if (now === undefined) return;
    for (const order of view().snapshot.of(IssuedCertificate)) {
      if (order.metadata.namespace !== namespace || !bearsLabelOf(order, owners)) continue;
      // An order without a mark is of a cluster that is managed.
      if (equalJson(markedRules(order) ?? ALL_WRITES, now)) continue;
      const { name } = refOf(order);
      const { apiVersion, kind } = IssuedCertificate;
      const annotations = { [MODE_MARK]: JSON.stringify(now) };
      const body = { apiVersion, kind, metadata: { name, namespace, annotations } } as AnyResource;
      try {
        await cluster.apply(body, { fieldManager: MARK_MANAGER, force: true }, signal);
      } catch (error) {
        if (signal.aborted || !(error instanceof ClusterError)) throw error;
        if (error.code !== "NotFound")
          log.warn({ cluster: cluster.name }, `cannot tell the agent the mode of the cluster: ${messageOf(error)}; retrying`);
      }
    }
  }

  const loop = coalesced(run, { clock, pauseMs: PAUSE_MS }, signal);
  async function tick(): Promise<void> {
    while (!signal.aborted) {
      await clock.sleep(RETRY_MS, signal).catch(() => undefined);
      loop.request();
    }
  }
  return { changed: loop.request, ended: Promise.all([loop.ended, tick()]).then(() => undefined) };
}

/** What the mark of an order says; undefined without one. A mark that is not understood allows nothing. */
function markedRules({ metadata: { annotations } }: IssuedCertificate): WriteRules | undefined {
  const text = annotations?.[MODE_MARK];
  if (text === undefined) return undefined;
  try {
    const { apiVersion, kind } = KubernetesCluster;
    const spec: unknown = text.length > LONGEST_MARK ? undefined : JSON.parse(text);
    if (typeof spec !== "object" || spec === null) return NO_WRITES;
    return receivedWriteRules({ apiVersion, kind, metadata: { name: "marked" }, spec } as AnyResource) ?? NO_WRITES;
  } catch {
    return NO_WRITES;
  }
}

/** What may be written where several orders say it: all of them are marked, one after the other, so the most careful counts. */
export function rulesOfOrders(orders: readonly IssuedCertificate[]): WriteRules {
  const marked = orders.map((order) => markedRules(order) ?? ALL_WRITES);
  return marked.find(({ mode }) => mode === "freeze") ?? marked.find(({ mode }) => mode !== "manage") ?? ALL_WRITES;
}

const PAUSE_MS = 20;
const RETRY_MS = 5_000;
// 256 managed objects, whatever they are named.
const LONGEST_MARK = 256 * 1024;
