import { kindKeyOf, type Meter } from "@isthmus/core";
import type { ServerLink } from "@isthmus/ports";
import type { Translation } from "@isthmus/translators";
import type { Sharing } from "../replication/sharing.ts";
import { coalesced } from "../runtime/coalesce.ts";
import { SLICE_MS } from "../runtime/timeSlices.ts";
import type { DeliveryLog } from "./delivery.ts";
import type { ServerInputs } from "./inputs.ts";
import type { AgentNoticeSender } from "./notices.ts";
import { offlineClusters } from "./offlineClusters.ts";
import type { Publisher } from "./publisher.ts";
import { reconciler } from "./reconcile.ts";
import type { ServerEventHub } from "./serverEvents.ts";
import type { ServerOptions } from "./serverOptions.ts";
import { missingCrds } from "./statuses/missingCrds.ts";
import type { Telemetry } from "./telemetry.ts";

/** Translates what is known, and hands the results to agents and to the management cluster, whenever the inputs changed. */
export interface ReconcileLoop {
  /** The last translation, once there was one. */
  readonly translation: Translation | undefined;
  /** Clusters of which everything is known and that are not translated yet. */
  readonly waiting: number;
  /** Clusters whose endpoints were left out of the last translation; undefined before there was one. */
  readonly excluded: ReadonlySet<string> | undefined;
  /** Whether there was a translation, and clusters can be registered. */
  readonly isReady: boolean;
  /** Ends when the loop was aborted. */
  readonly ended: Promise<void>;
}

type ReconcileSettings = Pick<
  ServerOptions,
  "kinds" | "namespace" | "discoveryOwner" | "lastKnownRequests" | "memory" | "translation" | "clock" | "sliceMs" | "log"
>;

/** What the reconcile loop is built from. */
export interface ReconcileLoopOptions extends ReconcileSettings {
  readonly inputs: Pick<ServerInputs, "view" | "store">;
  readonly link: ServerLink;
  readonly notices: AgentNoticeSender;
  readonly publisher: Pick<Publisher, "publish">;
  readonly sharing: Pick<Sharing, "isLoaded">;
  readonly delivery: DeliveryLog;
  readonly telemetry: Telemetry;
  readonly meter: Meter;
  readonly events: ServerEventHub;
}

/** Runs after `inputChanged`, `reconcileDue` and `leadershipGained`; emits `desiredChanged`, `statusesDue` and `translated`. */
export function startReconcileLoop(options: ReconcileLoopOptions, signal: AbortSignal): ReconcileLoop {
  const { inputs, kinds, link, notices, publisher, sharing, delivery, telemetry, meter, events, clock, log } = options;
  const { view, store } = inputs;
  const definitions = missingCrds({ view: () => view, kinds, log });
  const offline = offlineClusters(
    {
      view: () => view,
      store,
      namespace: options.namespace,
      registration: kinds.registration,
      clock,
      changed: () => events.emit("reconcileDue"),
    },
    signal,
  );
  let excluded: ReadonlySet<string> | undefined;
  const core = reconciler({
    store,
    view: () => view,
    link,
    delivery,
    publisher,
    published: new Set(kinds.published.map(kindKeyOf)),
    discoveryKinds: new Set(kinds.discovery.map(kindKeyOf)),
    discoveryOwner: options.discoveryOwner,
    registration: kinds.registration,
    lastKnownRequests: options.lastKnownRequests,
    memory: options.memory,
    translation: { ...options.translation, namespace: options.namespace },
    offline: () => {
      excluded = offline.excluded();
      return excluded;
    },
    clock,
    sliceMs: options.sliceMs ?? SLICE_MS,
    log,
    meter,
  });

  async function reconcile(): Promise<void> {
    if (!view.isComplete) return;
    definitions.check();
    notices.settings();
    if (!sharing.isLoaded) return;
    await telemetry.reconciled(async () => {
      await core.run(signal);
      return core.waiting === 0;
    });
    if (core.waiting > 0) events.emit("reconcileDue");
    if (core.translation !== undefined) events.emit("desiredChanged", "", core.translation.networking.inCluster(""));
    events.emit("statusesDue");
    events.emit("translated");
  }

  const loop = coalesced(reconcile, { clock, pauseMs: BATCH_MS }, signal);
  events.on("inputChanged", (delta, origin) => {
    core.take(delta, origin);
    loop.request();
  });
  events.on("reconcileDue", loop.request);
  events.on("leadershipGained", loop.request);

  return {
    get translation() {
      return core.translation;
    },
    get waiting() {
      return core.waiting;
    },
    get excluded() {
      return excluded;
    },
    get isReady() {
      return core.translation !== undefined && !definitions.isUseless;
    },
    ended: loop.ended,
  };
}

/**
 * For how long, in ms, a run waits for more requests. Changes come in bursts (a Deployment brings pods and slices): a short pause turns
 * a burst into one run and stays below what a person notices.
 */
export const BATCH_MS = 20;
