import type { Scope } from "../../model/scope.ts";
import { t } from "../../strings.ts";
import { Name } from "../Name.tsx";
import { usePageSearch } from "./usePageSearch.ts";

/** Says to which clusters a page keeps, with the way out. */
export function ScopeNote({ scope }: { readonly scope: Scope }) {
  const [, change] = usePageSearch();
  return (
    <p className="note inline">
      <Name text={t.scope.keptTo(t.scope.only([...scope].join(", ")))} isWrapped />
      <button type="button" className="button small" onClick={() => change({ scope: undefined })}>
        {t.scope.clear}
      </button>
    </p>
  );
}
