import { compareKeys, kindKeyOf, type Resource, refOf, resourceKeyOf, type Snapshot } from "@isthmus/core";
import type { Page } from "./pages.ts";
import { redacted } from "./redacted.ts";

/** Objects under a name, for instance those of one cluster. */
type Part = readonly [string, Iterable<Resource>];

/**
 * A page of objects as a Kubernetes List, one object a line, redacted. Nothing is made of the whole at once: each object
 * becomes text when the reader has taken the one before.
 *
 * `?cluster=` (empty: the management cluster), `?kind=` (`Service` or `networking.istio.io/VirtualService`), `?namespace=`, `?name=`
 * narrow it; with `?limit=` it ends after so many objects, and `metadata.continue`, given as `?continue=`, continues from there.
 *
 * @param parts By name and sorted by it, each in order of `resourceKeyOf`: an object that is added or removed between two
 * pages moves no other from one page to the next.
 */
export function snapshotPage(parts: () => Iterable<Part>): Page {
  return function* (query) {
    const limit = query.has("limit") ? Math.max(1, Number(query.get("limit")) || 1) : Number.POSITIVE_INFINITY;
    const isAfter = laterThan(query.get("continue") ?? "");
    yield '{"apiVersion":"v1","kind":"List","items":[';
    let count = 0;
    let passed = 0;
    let last: Position | undefined;
    let isMore = false;
    for (const [position, resource] of positions(parts())) {
      // The one who waits for other things must not wait for what is passed over.
      if (++passed % PASSED_AT_ONCE === 0) yield "";
      if (!isAfter(position) || !isMatch(resource, query)) continue;
      isMore = count === limit;
      if (isMore) break;
      yield `${count === 0 ? "\n" : ",\n"}${JSON.stringify(redacted(resource))}`;
      count++;
      last = position;
    }
    yield `\n],"metadata":${JSON.stringify(isMore && last !== undefined ? { continue: tokenOf(last) } : {})}}\n`;
  };
}

const PASSED_AT_ONCE = 1_000;

/** Everything in a snapshot, in the order that a page needs. */
export function* objectsIn(snapshot: Snapshot): Iterable<Resource> {
  const collections = [...snapshot.collections()].sort(([a], [b]) => compareKeys(`${a}|`, `${b}|`));
  for (const [, collection] of collections) yield* collection;
}

/** Part and key. */
type Position = readonly [string, string];

function* positions(parts: Iterable<Part>): Iterable<readonly [Position, Resource]> {
  for (const [part, resources] of parts) {
    for (const resource of resources) yield [[part, resourceKeyOf(refOf(resource))], resource];
  }
}

function tokenOf([part, key]: Position): string {
  return `${part}/${key}`;
}

function laterThan(token: string): (position: Position) => boolean {
  const slash = token.indexOf("/");
  const [part, key] = [token.slice(0, slash), token.slice(slash + 1)];
  return ([ofPart, ofKey]) => slash < 0 || compareKeys(ofPart, part) > 0 || (ofPart === part && compareKeys(ofKey, key) > 0);
}

function isMatch(resource: Resource, query: URLSearchParams): boolean {
  const { clusterName = "", namespace = "", name } = resource.metadata;
  const is = (member: string, ...values: readonly string[]) => !query.has(member) || values.includes(query.get(member) ?? "");
  return is("cluster", clusterName) && is("kind", resource.kind, kindKeyOf(resource)) && is("namespace", namespace) && is("name", name);
}
