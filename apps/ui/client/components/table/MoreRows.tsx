import { t } from "../../strings.ts";

/** Shows more rows of a list of which the first are shown; nothing where all are. */
export function MoreRows({ all, most, show }: { readonly all: number; readonly most: number; show(): void }) {
  if (all <= most) return null;
  return (
    <button type="button" className="button" onClick={show}>
      {t.common.more(all - most)}
    </button>
  );
}
