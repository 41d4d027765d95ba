import type { ServerResponse } from "node:http";
import type { AnyResource } from "@isthmus/core";
import type { Members } from "../apply/json.ts";
import type { SimulatedState } from "../state.ts";
import type { Watcher } from "../store.ts";
import { ApiError, badRequest, methodNotAllowed } from "./apiError.ts";
import { matcherOf, wholeNumber } from "./listing.ts";
import { rendered } from "./rendering.ts";
import type { RequestInfo, ResourceRequest } from "./requestInfo.ts";
import type { ApiResource } from "./resourceTable.ts";
import { safeJson } from "./responses.ts";

export interface WatchAnswer {
  readonly state: SimulatedState;
  readonly request: RequestInfo;
  readonly resource: ApiResource;
  readonly target: ResourceRequest;
  /** How an object is shown: whole, as its metadata, or as a row of a table. */
  readonly shown: (object: Members) => Members;
  readonly response: ServerResponse;
  readonly bookmarkMs: number;
}

/** What a reader who does not read may keep waiting, in bytes: then its watch ends. */
const MOST_WAITING = 64 * 1024 * 1024;
const DEFAULT_SECONDS = 3600;

/**
 * Answers a watch until its time is over, the reader has gone, or its version is forgotten. Resolves at its end. Throws ApiError before the answer has
 * begun.
 */
export async function answerWatch(
  { state, request, resource, target, shown, response, bookmarkMs }: WatchAnswer,
  signal: AbortSignal,
): Promise<void> {
  const { query } = request;
  const matches = matcherOf(request, resource, target);
  const store = resource.served?.store;
  if (store === undefined) throw methodNotAllowed();
  const seconds = wholeNumber(query.get("timeoutSeconds")) ?? DEFAULT_SECONDS;
  const given = query.get("resourceVersion") ?? "";
  if (given !== "" && !/^\d{1,15}$/.test(given))
    throw badRequest(
      `invalid resource version: resourceVersion: Invalid value: ${JSON.stringify(given)}: strconv.ParseUint: parsing ${JSON.stringify(given)}: invalid syntax`,
    );
  const sendsBookmarks = query.get("allowWatchBookmarks") === "true" || query.get("allowWatchBookmarks") === "1";
  const sendsInitial = query.get("sendInitialEvents") === "true";
  const beginsAnew = sendsInitial || given === "" || given === "0";
  let seen = beginsAnew ? state.revision : Number(given);

  response.writeHead(200, { "content-type": "application/json", "cache-control": "no-cache, private" });
  response.flushHeaders();
  let wake: (() => void) | undefined;
  const watcher: Watcher = { wake: () => wake?.() };
  const isOver = { value: false };
  const end = () => {
    isOver.value = true;
    wake?.();
  };
  const timer = setTimeout(end, Math.max(seconds, 0) * 1000);
  const bookmarks = setInterval(() => {
    watcher.bookmark = true;
    wake?.();
  }, bookmarkMs);
  response.on("close", end);
  signal.addEventListener("abort", end);
  store.watchers.add(watcher);

  function send(type: string, object: Members): void {
    response.write(`${safeJson({ type, object })}\n`);
    if (response.writableLength > MOST_WAITING) end();
  }

  function bookmark(annotations?: Members): void {
    const { group, version } = resource;
    const metadata = { resourceVersion: String(seen), creationTimestamp: null, ...(annotations === undefined ? {} : { annotations }) };
    send("BOOKMARK", { kind: resource.kind, apiVersion: group === "" ? version : `${group}/${version}`, metadata });
  }

  try {
    if (seen > state.revision || seen < store.compacted) {
      const gone = new ApiError(410, "Expired", `too old resource version: ${seen} (${store.compacted})`);
      send("ERROR", gone.status());
      return;
    }
    if (beginsAnew && query.get("sendInitialEvents") !== "false") {
      for (const stored of store.in(target.namespace === "" ? undefined : target.namespace)) {
        if (matches(stored.resource)) send("ADDED", shown(rendered(resource, stored)));
      }
      if (sendsInitial && sendsBookmarks) bookmark({ "k8s.io/initial-events-end": "true" });
    }
    while (!isOver.value) {
      if (watcher.ended !== undefined) return;
      if (seen < store.lastForgotten) {
        send("ERROR", new ApiError(410, "Expired", `too old resource version: ${seen} (${store.compacted})`).status());
        return;
      }
      for (const { revision, before, after } of store.after(seen)) {
        seen = revision;
        const event = eventOf(before, after, revision);
        if (event !== undefined) send(event.type, shown(event.object));
      }
      if (watcher.bookmark === true) {
        watcher.bookmark = false;
        seen = Math.max(seen, state.revision);
        if (sendsBookmarks) bookmark();
      }
      if (store.after(seen).length > 0) continue;
      await new Promise<void>((resolve) => {
        wake = resolve;
        if (isOver.value || watcher.ended !== undefined) resolve();
      });
    }
  } finally {
    clearTimeout(timer);
    clearInterval(bookmarks);
    store.watchers.delete(watcher);
    signal.removeEventListener("abort", end);
    response.end();
  }

  function eventOf(
    before: AnyResource | undefined,
    after: AnyResource | undefined,
    revision: number,
  ): { readonly type: string; readonly object: Members } | undefined {
    const was = before !== undefined && inScope(before);
    const is = after !== undefined && inScope(after);
    if (is && after !== undefined) {
      // Who owns what is kept beside the latest version alone.
      const { namespace = "", name } = after.metadata;
      const latest = store?.get(namespace, name);
      const stored = latest?.resource === after ? latest : { resource: after, managers: [] };
      return { type: was ? "MODIFIED" : "ADDED", object: rendered(resource, stored) };
    }
    if (!was || before === undefined) return undefined;
    const gone = { ...before, metadata: { ...before.metadata, resourceVersion: String(revision) } };
    return { type: "DELETED", object: rendered(resource, { resource: gone, managers: [] }) };
  }

  function inScope(object: AnyResource): boolean {
    return (target.namespace === "" || object.metadata.namespace === target.namespace) && matches(object);
  }
}
