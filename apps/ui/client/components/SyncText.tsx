import type { ConsoleActivity } from "@isthmus/console/wire";
import { isOldActivity, secondsText, syncTimes } from "../model/syncTimes.ts";
import { t } from "../strings.ts";
import { When } from "./Times.tsx";

/** How long changes took to be applied in a cluster; of activity that are old, their age. */
export function SyncText({ activity, now }: { readonly activity: ConsoleActivity | undefined; readonly now: number }) {
  const times = activity === undefined ? undefined : syncTimes([activity]);
  if (activity === undefined || times === undefined) return <span className="muted">–</span>;
  const isOld = isOldActivity(activity, now);
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
