import { kindKeyOf, type Metric, noMeter } from "@isthmus/core";
import type { Rejection, ServerLink } from "@isthmus/ports";
import type { Translation } from "@isthmus/translators";
import type { DeletionLog } from "../apply/deletionLog.ts";
import { startMembership } from "../identity/membership.ts";
import type { Informer } from "../informer/informer.ts";
import { alwaysLeader, leaderOnlyCluster, neverLeader } from "../leader/leadership.ts";
import type { Sharing } from "../replication/sharing.ts";
import { eventHub } from "../runtime/eventHub.ts";
import { randomText } from "../runtime/randomText.ts";
import type { SnapshotStore } from "../snapshots/snapshotStore.ts";
import { agentModes } from "./agentModes.ts";
import { confirmations } from "./confirmations.ts";
import { startDeclaredSharing } from "./declaredSharing.ts";
import { deliveryLog } from "./delivery.ts";
import { startServerInputs } from "./inputs.ts";
import { type FleetInsights, startInsightsLoop } from "./insights/insightsLoop.ts";
import { startLeaderWrites } from "./leaderWrites.ts";
import { agentNoticeSender } from "./notices.ts";
import { startReconcileLoop } from "./reconcileLoop.ts";
import { startRequestSender } from "./requestSender.ts";
import { deleteResumption } from "./resumeDeletes.ts";
import type { ServerEvents } from "./serverEvents.ts";
import { serverMetrics } from "./serverMetrics.ts";
import type { ServerOptions } from "./serverOptions.ts";
import { startServerSharing } from "./serverSharing.ts";
import { ciliumOfClusters } from "./statuses/ciliumOfClusters.ts";
import { startStatusLoop } from "./statuses/statusLoop.ts";
import { startTelemetry } from "./telemetry.ts";
import type { CertificateEntry } from "./trust/certificateInventory.ts";
import { expiryMetrics } from "./trust/expiries.ts";
import { fleetCertificates } from "./trust/fleetCertificates.ts";
import { REQUESTED_KINDS, startMeshTrust } from "./trust/meshTrust.ts";
import { trustExpiring } from "./trust/trustExpiring.ts";
import { trustPhases } from "./trust/trustPhases.ts";
import { trustDomainsOfClusters } from "./trustDomainsOfClusters.ts";

/** A running management server. */
export interface Server {
  readonly view: Informer;
  readonly store: SnapshotStore;
  /** The last translation, once there was one. */
  readonly translation: Translation | undefined;
  /** The last removals, and why. */
  readonly removals: DeletionLog;
  /** Whether there is something to serve: there was a translation, and clusters can be registered. */
  readonly isReady: boolean;
  /** What is shared with other replicas. */
  readonly sharing: Pick<Sharing, "instance" | "isLoaded" | "digests" | "store">;
  /** From before which moment certificates of a cluster do not count, by the word of other replicas. Milliseconds since 1970. */
  revokedBefore(clusterName: string): number | undefined;
  /** Says why this server cannot connect to a cluster, which its KubernetesCluster tells; undefined: it can again. */
  cannotConnect(clusterName: string, problem: string | undefined): void;
  /** When the oldest was desired that a cluster's agent has not acknowledged to this server, in milliseconds since 1970; undefined when all is. */
  behindSince(clusterName: string): number | undefined;
  /** How many changes took how long to be applied in a cluster, of the last hour, by the buckets of `SYNC_BOUNDS` and one for what took longer: those that this server has sent. */
  syncDurations(clusterName: string): readonly number[];
  /** What of a cluster's objects is not written because its mode forbids it. */
  pendingIn(clusterName: string): Iterable<Rejection>;
  /** Every certificate and token that it knows of, without what is secret. */
  certificates(options?: { readonly hasForecasts?: boolean }): readonly CertificateEntry[];
  /** What is wrong in the fleet, as the leader has found it; undefined: it has found nothing out yet. Rejects with StoreError. */
  insights(): Promise<FleetInsights | undefined>;
  /** Figures as they are now, beside those that the meter was given. */
  metrics(): readonly Metric[];
  readonly ended: Promise<void>;
}

/**
 * Starts the loops of a server: each part is built from those before it, and reaches those behind it by events alone. Nothing is emitted
 * before this returns.
 */
export function startServer(options: ServerOptions, signal: AbortSignal): Server {
  const { cluster, kinds, clock, random, log, namespace, leadership = alwaysLeader, meter = noMeter } = options;
  const events = eventHub<ServerEvents>();
  const statusesDue = () => events.emit("statusesDue");
  const delivery = deliveryLog();
  const confirmed = confirmations();
  const telemetry = startTelemetry({ clock, random, log, meter, late: statusesDue }, signal);
  const inputs = startServerInputs({ ...options, delivery, telemetry, events }, signal);
  const { view, store } = inputs;
  for (const { forget } of [delivery, confirmed, telemetry.lags, telemetry.durations]) events.on("clusterRemoved", forget);

  const agents = options.link(inputs.handler, inputs.reportFilter);
  const link: ServerLink = {
    disconnect: agents.disconnect,
    sendNotices: agents.sendNotices,
    setDesired(name, desired, why) {
      events.emit("desiredChanged", name, desired);
      const holdsSurplus = () => !confirmed.isConfirmed(name) || why.holdsSurplus?.() === true;
      agents.setDesired(name, desired, { ...telemetry.desired(name, desired, why), holdsSurplus });
    },
  };
  const notices = agentNoticeSender({
    link,
    clusters: () => store.clusters,
    settingsFor(name) {
      if (!view.isComplete) return [];
      const mode = options.modeToTell(view.snapshot, name);
      // Both at once: an agent that has heard of the one has heard of the other. A cluster that is being deregistered keeps its mode.
      return [...(mode === undefined ? [] : [mode]), options.settingsToTell(view.snapshot, name)];
    },
    isContributed: kinds.isContributed,
  });
  const modes = agentModes({ view, store, namespace, registration: kinds.registration, modeOf: options.modeOf, link });
  events.on("agentConnected", modes.check);
  events.on("managementChanged", ({ put }) => {
    if (put.some((resource) => kindKeyOf(resource) === kindKeyOf(kinds.registration))) modes.check();
  });
  events.on("agentConnected", notices.settings);
  events.on("clusterRemoved", notices.forget);
  events.on("deliveryAcknowledged", (name, { rejected }) => confirmed.acknowledged(name, rejected));
  const resumption = deleteResumption({
    heldIn: delivery.heldIn,
    isServed: (name) => store.clusters.get(name)?.isServed === true,
    tell: options.resumeDeletes,
    log,
    changed: statusesDue,
  });

  const sharing = startServerSharing(
    { ...options, inputs, leadership, link, delivery, confirmations: confirmed, resumption, telemetry, events },
    signal,
  );
  const members = startMembership(
    {
      cluster,
      namespace,
      registration: kinds.registration,
      store: options.sharing?.store,
      link,
      registered(name) {
        store.registered(name);
        events.emit("clusterChanged", name);
      },
      removed: (name) => events.emit("clusterRemoved", name),
      clock,
      random,
      log,
    },
    signal,
  );
  events.on("managementChanged", members.changed);

  const writes = startLeaderWrites(
    {
      cluster,
      leadership,
      kinds: kinds.published,
      bulk: new Set(kinds.discovery.map(kindKeyOf)),
      owners: [options.discoveryOwner, options.networkingOwner],
      live: () => view.snapshot,
      clock,
      random,
      log,
      meter,
      removals: telemetry.deletions,
      onApplied: statusesDue,
      gained: () => events.emit("leadershipGained"),
      undecided: () => events.emit("reconcileDue"),
    },
    signal,
  );
  // What we publish is restored when somebody edits or deletes it.
  events.on("managementChanged", writes.observed);
  events.on("managementListed", writes.listed);

  const parts = { inputs, delivery, telemetry, notices, sharing, events };
  const reconcile = startReconcileLoop({ ...options, ...parts, link, publisher: writes.publisher, meter }, signal);

  const requests = startRequestSender(
    {
      link,
      store: options.sharing?.store,
      leadership,
      served: () => new Set([...store.clusters].filter(([, { isServed }]) => isServed).map(([name]) => name)),
      kinds: new Set(REQUESTED_KINDS.map(kindKeyOf)),
      clock,
      random,
    },
    signal,
  );
  events.on("clusterChanged", requests.touch);
  events.on("clusterRemoved", requests.forget);

  const trust = startMeshTrust(
    {
      cluster,
      view,
      store,
      requests,
      delivery,
      delivered: statusesDue,
      leadership,
      translation: () => reconcile.translation,
      namespace,
      instance: randomText(16),
      clock,
      log,
    },
    signal,
  );
  for (const event of ["statusesDue", "managementChanged", "clusterChanged", "leadershipGained"] as const) events.on(event, trust.request);
  events.on("clusterRemoved", trust.forget);

  const certificates = fleetCertificates({ namespace, inputs, reconciled: reconcile, trust, clock });
  const statuses = startStatusLoop(
    {
      ...options,
      ...parts,
      leadership,
      resumption,
      writes,
      sharedStore: options.sharing?.store,
      reconciled: reconcile,
      expiring: () => trustExpiring(certificates.ofMeshes()),
      phases: () => trustPhases({ translation: reconcile.translation, store, refusalOf: trust.refusalOf }),
      cilium: () => ciliumOfClusters(reconcile.translation),
      trustDomains: () => trustDomainsOfClusters(reconcile.translation),
    },
    signal,
  );

  const insights = startInsightsLoop(
    {
      ...options,
      inputs,
      reconciled: reconcile,
      leadership: options.findsInsights === false ? neverLeader : leadership,
      sharedStore: sharing.store,
      instance: sharing.instance,
      meter,
      events,
      eventsIn: options.writesEvents === false ? undefined : leaderOnlyCluster(cluster, leadership),
    },
    signal,
  );

  const declared =
    sharing.store && startDeclaredSharing({ ...options, view, leadership, store: sharing.store, instance: sharing.instance }, signal);
  if (declared !== undefined) events.on("managementChanged", declared.request);

  return {
    view,
    store,
    get isReady() {
      return reconcile.isReady;
    },
    get translation() {
      return reconcile.translation;
    },
    removals: telemetry.deletions,
    sharing,
    revokedBefore: members.revokedBefore,
    cannotConnect: statuses.cannotConnect,
    behindSince: telemetry.lags.behindSince,
    syncDurations: telemetry.durations.lastHour,
    pendingIn: delivery.pendingIn,
    certificates: certificates.entries,
    insights: insights.read,
    metrics() {
      const { translation, waiting } = reconcile;
      const { lags } = telemetry;
      return [
        ...serverMetrics({
          store,
          delivery,
          confirmations: confirmed,
          lags,
          translation,
          waiting,
          queues: writes.queues(),
          now: clock.now(),
        }),
        ...expiryMetrics(certificates.entries()),
        ...sharing.metrics(),
        ...insights.metrics(),
      ];
    },
    ended: Promise.all([
      view.ended,
      writes.ended,
      reconcile.ended,
      statuses.ended,
      sharing.ended,
      members.ended,
      trust.ended,
      requests.ended,
      insights.ended,
      declared?.ended,
    ]).then(() => undefined),
  };
}
