import { type CustomResourceDefinition, kindOf, unsupportedKind } from "@isthmus/api";
import type { Log } from "@isthmus/core";

/**
 * Tells once of each kind of a Gloo Mesh API that a cluster defines and that nothing here reads, with what to use instead: its objects
 * have no effect, and no status would tell. Read are the definitions alone; whether there are objects is not asked.
 */
export function unsupportedDefinitions(
  clusterName: string,
  log: Log,
): (definitions: Iterable<Pick<CustomResourceDefinition, "spec">>) => void {
  const told = new Set<string>();
  return (definitions) => {
    const news = [...definitions].flatMap(unsupportedIn).filter(({ type }) => !told.has(type));
    const found = news.slice(0, MOST_TOLD - told.size);
    if (found.length === 0) return;
    for (const { type } of found) told.add(type);
    const others = news.length - MOST_NAMED;
    const named = found.slice(0, MOST_NAMED).map(({ type, message }) => `${type}: ${message}`);
    const list = `${named.join("; ")}${others > 0 ? `; and ${others} more` : ""}`;
    log.warn(
      { cluster: clusterName, kinds: found.slice(0, MOST_NAMED).map(({ type }) => type) },
      `${clusterName === "" ? "the management cluster" : clusterName} has CRDs of Gloo Mesh APIs that are not supported; objects of these kinds have no effect: ${list}`,
    );
  };
}

// A line of the log is for reading. All published generations together have about 100 kinds.
const MOST_NAMED = 30;
const MOST_TOLD = 500;
// A group, a slash and a version; a kind.
const MOST_OF_API_VERSION = 253 + 1 + 63;
const MOST_OF_KIND = 63;

/** One entry for a kind of which no served version is supported. */
function unsupportedIn({ spec }: Pick<CustomResourceDefinition, "spec">): readonly { readonly type: string; readonly message: string }[] {
  const { group = "", names, versions = [] } = spec ?? {};
  const types = versions.flatMap(({ name, served }) => (served === true && name !== undefined ? [`${group}/${name}`] : []));
  const [apiVersion] = types;
  const kind = names?.kind ?? "";
  if (apiVersion === undefined || kind === "" || types.some((type) => kindOf(type, kind) !== undefined)) return [];
  // No API server accepts longer ones.
  if (apiVersion.length > MOST_OF_API_VERSION || kind.length > MOST_OF_KIND) return [];
  const { isOurs, message } = unsupportedKind({ apiVersion, kind });
  return isOurs ? [{ type: `${apiVersion} ${kind}`, message }] : [];
}
