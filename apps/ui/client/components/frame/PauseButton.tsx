import { useFleetState, useFleetStore } from "../../data/store.ts";
import { t } from "../../strings.ts";

/** Pauses live updates, and resumes them; nothing where there are none. */
export function PauseButton() {
  const store = useFleetStore();
  const { fleet, paused } = useFleetState();
  if (fleet.source?.kind === "file" || fleet.past !== undefined) return null;
  return (
    <button type="button" className="button small" title={t.pause.why} onClick={() => store.pause(paused === undefined)}>
      {paused === undefined ? t.pause.pause : t.pause.resume}
    </button>
  );
}
