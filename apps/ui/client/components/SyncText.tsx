import type { ConsoleActivity } from "@isthmus/console/wire";
import { isOldActivity, secondsText, syncSpans, syncTimes } from "../model/clusters/syncTimes.ts";
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
      <Histogram activity={activity} />
    </span>
  );
}

/** The same as bars. What they say is in words beside, and of each where the pointer rests. */
function Histogram({ activity }: { readonly activity: ConsoleActivity }) {
  const spans = syncSpans(activity);
  const most = Math.max(...spans.map(({ count }) => count));
  return (
    <span className="histogram" aria-hidden="true">
      {spans.map(({ upTo, count }) => (
        <i
          key={upTo ?? "longer"}
          style={{ height: `${(100 * count) / most}%` }}
          title={t.traffic.syncSpan(count, upTo === undefined ? undefined : secondsText(upTo))}
        />
      ))}
    </span>
  );
}
