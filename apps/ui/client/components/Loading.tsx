import { t } from "../strings.ts";

const LINES = ["60%", "90%", "75%", "85%", "40%"];

/** The outline of a page that is not there yet. */
export function Loading() {
  return (
    <div className="skeleton" role="status" aria-label={t.common.loading}>
      {LINES.map((width) => (
        <div key={width} className="skeleton-line" style={{ width }} />
      ))}
    </div>
  );
}
