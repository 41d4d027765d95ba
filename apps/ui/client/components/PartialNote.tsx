import { useFleet } from "../data/store.ts";
import { t } from "../strings.ts";

/** Says that a user sees a part of the fleet, where that could be taken for all of it. */
export function PartialNote({ text }: { readonly text: keyof typeof t.viewer & ("empty" | "translated" | "compared") }) {
  const { viewer } = useFleet();
  return viewer?.isPartial === true ? (
    <p className="muted" role="note">
      {t.viewer[text]}
    </p>
  ) : null;
}
