import type { Leadership, ServerLink } from "@isthmus/ports";
import { noSharing } from "../replication/noSharing.ts";
import { type Sharing, startSharing } from "../replication/sharing.ts";
import type { Confirmations } from "./confirmations.ts";
import type { DeliveryLog } from "./delivery.ts";
import type { ServerInputs } from "./inputs.ts";
import type { DeleteResumption } from "./resumeDeletes.ts";
import type { ServerEventHub } from "./serverEvents.ts";
import type { ServerOptions } from "./serverOptions.ts";
import type { Telemetry } from "./telemetry.ts";

/** What sharing between replicas is built from. */
export interface ServerSharingOptions extends Pick<ServerOptions, "sharing" | "clock" | "random" | "log"> {
  readonly inputs: Pick<ServerInputs, "view" | "store" | "isRegistered">;
  readonly leadership: Leadership;
  readonly link: ServerLink;
  readonly delivery: DeliveryLog;
  readonly confirmations: Pick<Confirmations, "onSharedAnswer">;
  readonly resumption: DeleteResumption;
  readonly telemetry: Pick<Telemetry, "lags">;
  readonly events: ServerEventHub;
}

/** Shares what this replica learns, and takes in what others learned, where there is a store; else there is nobody to share with. */
export function startServerSharing(options: ServerSharingOptions, signal: AbortSignal): Sharing {
  const { inputs, leadership, link, delivery, confirmations, resumption, telemetry, events, clock, random, log } = options;
  if (options.sharing === undefined) return noSharing;
  const sharing = startSharing(
    {
      ...options.sharing,
      snapshots: inputs.store,
      isReady: () => inputs.view.isComplete,
      isRegistered: inputs.isRegistered,
      leadership,
      link: () => link,
      resumedDeletes: (name) => resumption.resumed.get(name),
      delivered(name, answer, desired) {
        delivery.onSharedAnswer(name, answer, desired);
        if (desired !== undefined) telemetry.lags.acknowledged(name, desired);
        events.emit("statusesDue");
      },
      answeredBefore: confirmations.onSharedAnswer,
      loaded() {
        events.emit("reconcileDue");
        events.emit("statusesDue");
      },
      outageChanged: () => events.emit("statusesDue"),
      clock,
      random,
      log,
    },
    signal,
  );
  events.on("clusterRemoved", sharing.forget);
  events.on("clusterChanged", sharing.touch);
  events.on("inputChanged", sharing.changed);
  events.on("desiredChanged", sharing.setDesired);
  events.on("deliveryAcknowledged", (name, { rejected, mode }, desired) => {
    const pending = delivery.comparisonIn(name)?.counts;
    sharing.answered(name, desired, {
      rejected,
      held: delivery.heldIn(name),
      ...(mode === undefined ? {} : { mode }),
      ...(pending === undefined ? {} : { pending }),
    });
  });
  return sharing;
}
