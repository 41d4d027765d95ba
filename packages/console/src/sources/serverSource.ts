import { type Clock, deltaBetween, emptySnapshot, type Kind, kindKeyOf, type Snapshot } from "@isthmus/core";
import { NO_HISTORY } from "@isthmus/insights";
import { type ClusterActivity, type FleetInsights, type Server, StoreError } from "@isthmus/plane";
import { type FleetMoment, type FleetSource, NO_INSIGHTS } from "../events/fleet.ts";
import { isSameMoment } from "../events/sameMoment.ts";
import type { ConsoleSource } from "../wire.ts";
import { shownActivity } from "./activity.ts";
import { factsOfCertificates, shownCertificates } from "./certificates.ts";
import { endedInsights } from "./endedInsights.ts";
import { insightRows } from "./insightRows.ts";
import { discoveredObjects, outputObjects } from "./translated.ts";

export interface ServerSourceOptions {
  readonly server: Pick<Server, "view" | "store" | "translation" | "insights" | "certificates" | "behindSince">;
  /** Mesh, Workload and Destination: made by the server, and read back where they are published. */
  readonly discoveryKinds: readonly Kind[];
  /** What happened in clusters, by their names: the same map as long as nothing is new. Default: nobody has counted anything. */
  readonly activity?: () => ReadonlyMap<string, ClusterActivity>;
  /** Namespace of the management plane. */
  readonly namespace: string;
  /** How the source is called, such as an address. */
  readonly name: string;
  /** Of this program, and so of the server. */
  readonly version: string;
  readonly clock: Clock;
}

/** The fleet of a management server in this process, out of its memory. */
export function serverSource(options: ServerSourceOptions): FleetSource {
  const { server, discoveryKinds, clock } = options;
  const about: ConsoleSource = { kind: "server", name: options.name, version: options.version, namespace: options.namespace };
  const discovered = discoveredObjects(discoveryKinds);
  const management = withoutKinds(discoveryKinds);
  const generated = outputObjects();
  const factsOf = factsOfCertificates();
  const shownEnded = endedInsights();
  const activityOf = shownActivity();
  const heard = new Map<string, number>();
  let insights: FleetMoment["insights"] = { at: null, objects: NO_INSIGHTS, unknown: [], ended: [], forgotten: [] };
  let insightsOf: FleetInsights["objects"] = NO_HISTORY.current;
  let certificates: FleetMoment["certificates"] = [];
  let slowDue = 0;
  let last: FleetMoment | undefined;

  async function readInsights(): Promise<void> {
    const found = await server.insights();
    if (found === undefined) return;
    const { objects, ended, unknown, withNearMiss } = found;
    if (objects !== insightsOf)
      insights = { ...insights, objects: insightRows(insights.objects, { now: objects, before: insightsOf, withNearMiss }) };
    insightsOf = objects;
    insights = { ...insights, at: new Date(found.at).toISOString(), unknown, ...shownEnded(ended) };
  }

  return {
    about,
    async read() {
      const { view, store, translation } = server;
      if (!view.isComplete) return undefined;
      for (const [name, { connected }] of store.clusters) if (connected) heard.set(name, clock.now());
      for (const name of heard.keys()) if (!store.clusters.has(name)) heard.delete(name);
      if (clock.now() >= slowDue) {
        slowDue = clock.now() + SLOW_MS;
        certificates = shownCertificates(server.certificates(), factsOf);
        await readInsights().catch((error: unknown) => {
          // Another replica leads, and the store it writes to does not answer: what was found before stands.
          if (!(error instanceof StoreError)) throw error;
        });
      }
      const objects = new Map([
        ["management", management(view.snapshot)],
        ["discovered", discovered(translation?.attached ?? emptySnapshot(), view.snapshot)],
        ...[...store.clusters.keys()].sort().map((name) => [`cluster ${name}`, store.snapshotIn(name)] as const),
      ]);
      const activity = options.activity === undefined ? {} : { activity: activityOf(options.activity()) };
      const moment = { objects, generated: new Map([["", generated(translation?.networking)]]), insights, certificates, ...activity };
      last = isSameMoment(last, moment) ? last : moment;
      return last;
    },
    clock: () => ({
      at: new Date(clock.now()).toISOString(),
      servers: [{ version: options.version, replicas: 1 }],
      clusters: [...server.store.clusters].sort(byName).map(([name, { phase, connected, agent }]) => {
        const at = heard.get(name);
        const version = agent === undefined ? {} : { version: agent.version };
        const since = server.behindSince(name);
        const behind = since === undefined ? {} : { behindSince: new Date(since).toISOString() };
        return { name, at: at === undefined ? null : new Date(at).toISOString(), phase, connected, ...version, ...behind };
      }),
    }),
  };
}

function byName(a: readonly [string, unknown], b: readonly [string, unknown]): number {
  return a[0] < b[0] ? -1 : 1;
}

// For what is counted again each time it is asked for, and for what another replica may have to be asked.
const SLOW_MS = 1_000;

/** A snapshot without some kinds: the same one as before while the others do not change. */
function withoutKinds(kinds: readonly Kind[]): (snapshot: Snapshot) => Snapshot {
  let [from, result] = [emptySnapshot(), emptySnapshot()];
  const left = new Set(kinds.map(kindKeyOf));
  return (snapshot) => {
    if (snapshot === from) return result;
    const { put, remove } = deltaBetween(from, snapshot);
    const isKept = (one: { readonly apiVersion: string; readonly kind: string }) => !left.has(kindKeyOf(one));
    result = result.apply({ put: put.filter(isKept), remove: remove.filter(isKept) });
    from = snapshot;
    return result;
  };
}
