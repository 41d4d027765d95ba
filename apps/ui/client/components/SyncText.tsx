import type { ConsoleActivity } from "@isthmus/console/wire";
import { millisecondsOf } from "../model/age.ts";
import { secondsText, syncTimes } from "../model/syncTimes.ts";
import { t } from "../strings.ts";
import { When } from "./Times.tsx";

/** How long changes took to be applied in a cluster; of activity that are old, their age. */
export function SyncText({ activity, now }: { readonly activity: ConsoleActivity | undefined; readonly now: number }) {
  const times = activity === undefined ? undefined : syncTimes([activity]);
  if (activity === undefined || times === undefined) return <span className="muted">–</span>;
  const isOld = now - (millisecondsOf(activity.at) ?? 0) > OLD_MS;
  return (
    <span className={isOld ? "stale" : undefined}>
      {t.traffic.syncOf(secondsText(times.p50), secondsText(times.p95), times.count)}
      {isOld ? (
        <>
          {" · "}
          <When time={activity.at} />
        </>
      ) : null}
    </span>
  );
}

// Servers write once a minute.
const OLD_MS = 180_000;
