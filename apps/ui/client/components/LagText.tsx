import { millisecondsOf, spanText } from "../model/age.ts";
import type { ClusterLag } from "../model/clusters/clusterRows.ts";
import { t } from "../strings.ts";
import { StatusMark } from "./StatusMark.tsx";
import { useServerNow } from "./Times.tsx";

// As of when servers say so in the status of the cluster.
const LATE_MS = 30_000;

/** How far a cluster is behind, counted here from the moment since when it is. */
export function LagText({ lag }: { readonly lag: ClusterLag }) {
  const now = useServerNow();
  if (lag === "unknown") return <span className="muted">–</span>;
  if (lag === "none" || lag === "short") return <span>{lag === "none" ? t.clusters.lagNone : t.clusters.lagShort}</span>;
  const ms = millisecondsOf(lag.since);
  if (ms === undefined) return <span className="muted">–</span>;
  const behind = Math.max(0, now - ms);
  return <StatusMark status={{ tone: behind > LATE_MS ? "warning" : "progress", word: spanText(behind) }} />;
}
