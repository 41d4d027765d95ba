import { useFleetState } from "../data/store.ts";
import { millisecondsOf, spanText, timeText } from "../model/age.ts";
import { t } from "../strings.ts";
import { StatusMark } from "./StatusMark.tsx";
import { useNow } from "./useNow.ts";

// A client certificate lives for a day, and is renewed long before it ends: so late, nobody has.
const SOON_SHARE_MS = 3_600_000;

/** How long ago a moment is, in the server's time; `–` for none. */
export function When({ time }: { readonly time: string | null | undefined }) {
  const now = useServerNow();
  const ms = millisecondsOf(time);
  if (ms === undefined) return <span className="muted">–</span>;
  return (
    <time dateTime={new Date(ms).toISOString()} title={timeText(ms, now)}>
      {t.common.ago(spanText(now - ms))}
    </time>
  );
}

/** How long something lasts yet; a warning shortly before its end, an error after it. */
export function Until({ time }: { readonly time: string | undefined }) {
  const now = useServerNow();
  const ms = millisecondsOf(time);
  if (ms === undefined) return <span className="muted">–</span>;
  const left = ms - now;
  if (left > SOON_SHARE_MS) return <time dateTime={new Date(ms).toISOString()}>{spanText(left)}</time>;
  return (
    <StatusMark status={left > 0 ? { tone: "warning", word: spanText(left) } : { tone: "bad", word: t.common.ago(spanText(-left)) }} />
  );
}

/** Now, of the server's clock, in milliseconds since 1970. */
export function useServerNow(): number {
  const { fleet, clockAt, paused } = useFleetState();
  const now = useNow();
  if (paused !== undefined && fleet.past === undefined) return paused.serverNow;
  const server = millisecondsOf(fleet.clock?.now);
  return server === undefined ? now : server + (now - clockAt);
}
