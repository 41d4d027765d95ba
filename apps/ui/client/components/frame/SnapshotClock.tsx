import { useFleetState } from "../../data/store.ts";
import { freshnessOf } from "../../model/clusters/freshness.ts";
import { t } from "../../strings.ts";
import { ToneShape } from "../StatusMark.tsx";
import { useNow } from "../useNow.ts";

/** How fresh what is shown is; always visible. */
export function SnapshotClock() {
  const state = useFleetState();
  const { tone, text, frozen, isStale } = freshnessOf(state, useNow());
  const [first, ...others] = frozen;
  return (
    <div className={`clock${isStale ? " stale" : ""}`} role="group" aria-label={t.clock.label}>
      <span className="status" data-tone={tone}>
        <ToneShape tone={tone} />
        <span>{text}</span>
      </span>
      {first === undefined ? null : (
        <span className="status stale frozen" data-tone="warning" title={frozen.join("\n")}>
          <ToneShape tone="warning" />
          <span>{first}</span>
          {others.length > 0 ? <span>{t.clock.more(others.length)}</span> : null}
        </span>
      )}
    </div>
  );
}
