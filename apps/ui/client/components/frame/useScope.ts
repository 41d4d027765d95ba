import { NO_SCOPE, type Scope, scopeOf } from "../../model/scope.ts";
import { usePageSearch } from "./usePageSearch.ts";

/** The clusters to which the page keeps, out of its address: the same set as long as that names the same. */
export function useScope(): Scope {
  const [{ scope }] = usePageSearch();
  return scope === undefined ? NO_SCOPE : scopeOf(scope);
}
