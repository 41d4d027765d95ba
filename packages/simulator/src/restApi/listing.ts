import type { AnyResource } from "@isthmus/core";
import type { Members } from "../apply/json.ts";
import type { SimulatedState } from "../state.ts";
import { type Stored, storeKey } from "../store.ts";
import { badRequest, expiredError } from "./apiError.ts";
import { rendered } from "./rendering.ts";
import type { RequestInfo, ResourceRequest } from "./requestInfo.ts";
import type { ApiResource } from "./resourceTable.ts";
import { fieldMatcher, labelMatcher, type Matcher } from "./selectors.ts";

/** A list of objects, as an answer's document is made of it. */
export interface ListPage {
  readonly metadata: Members;
  readonly items: readonly Members[];
}

interface Continue {
  readonly rv: number;
  readonly start: string;
}

/** Which objects the query selects. Throws ApiError `BadRequest`. */
export function matcherOf({ query }: RequestInfo, resource: ApiResource, { name }: ResourceRequest): Matcher {
  const labels = query.get("labelSelector") ?? "";
  const matchesLabels = labelMatcher(labels);
  const matchesFields = fieldMatcher(query.get("fieldSelector") ?? "", resource);
  return (object) => (name === "" || object.metadata.name === name) && matchesLabels(object) && matchesFields(object);
}

/** One page of the objects that are selected. Throws ApiError for a query that cannot be answered. */
export function pageOf(state: SimulatedState, request: RequestInfo, resource: ApiResource, target: ResourceRequest): ListPage {
  const { query } = request;
  const limit = wholeNumber(query.get("limit"));
  const matches = matcherOf(request, resource, target);
  const token = query.get("continue") ?? "";
  const from = token === "" ? undefined : continueOf(token);
  const store = resource.served?.store;
  if (store === undefined) return { metadata: { resourceVersion: String(state.revision) }, items: [] };
  const namespace = target.namespace === "" ? undefined : target.namespace;
  const revision = from?.rv ?? revisionOf(query, state.revision) ?? state.revision;
  if (revision < store.compacted && revision < state.revision && (from !== undefined || query.get("resourceVersionMatch") === "Exact")) {
    throw expiredError(
      from === undefined
        ? `The resourceVersion for the provided list is too old.`
        : "The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.",
    );
  }
  const objects: Iterable<Stored> =
    revision < state.revision && (from !== undefined || query.get("resourceVersionMatch") === "Exact")
      ? asOf(store.inAsOf(namespace, revision))
      : store.in(namespace);
  const items: Members[] = [];
  let remaining = 0;
  let last = "";
  for (const stored of objects) {
    const { name, namespace: place = "" } = stored.resource.metadata;
    const key = storeKey(place, name);
    if (from !== undefined && key <= from.start) continue;
    if (!matches(stored.resource)) continue;
    if (limit !== undefined && limit > 0 && items.length >= limit) remaining++;
    else {
      items.push(rendered(resource, stored));
      last = key;
    }
  }
  const isSelected = (query.get("labelSelector") ?? "") !== "" || (query.get("fieldSelector") ?? "") !== "";
  const more =
    remaining === 0 ? {} : { continue: tokenOf({ rv: revision, start: last }), ...(isSelected ? {} : { remainingItemCount: remaining }) };
  return { metadata: { resourceVersion: String(revision), ...more }, items };
}

function* asOf(objects: Iterable<AnyResource>): Iterable<Stored> {
  for (const resource of objects) yield { resource, managers: [] };
}

/** A whole number of the query. Throws ApiError `BadRequest`. */
export function wholeNumber(text: string | null): number | undefined {
  if (text === null || text === "") return undefined;
  if (/^-?\d{1,15}$/.test(text)) return Number(text);
  throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`);
}

function revisionOf(query: URLSearchParams, latest: number): number | undefined {
  const match = query.get("resourceVersionMatch") ?? "";
  const text = query.get("resourceVersion") ?? "";
  if (text !== "" && !/^\d{1,15}$/.test(text)) {
    throw badRequest(
      `invalid resource version: resourceVersion: Invalid value: ${JSON.stringify(text)}: strconv.ParseUint: parsing ${JSON.stringify(text)}: invalid syntax`,
    );
  }
  return match === "Exact" && text !== "" && text !== "0" ? Math.min(Number(text), latest) : undefined;
}

function tokenOf({ rv, start }: Continue): string {
  return Buffer.from(JSON.stringify({ v: "meta.k8s.io/v1", rv, start })).toString("base64url");
}

function continueOf(token: string): Continue {
  try {
    const { rv, start } = JSON.parse(Buffer.from(token, "base64url").toString("utf8")) as Partial<Continue>;
    if (typeof rv === "number" && typeof start === "string") return { rv, start };
  } catch {
    // Said below.
  }
  throw badRequest(`invalid continue token: continue key is not valid: illegal base64 data at input byte 0`);
}
