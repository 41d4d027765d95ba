import type { IncomingMessage } from "node:http";
import type { Clock, Resource } from "@isthmus/core";
import { ClusterError, type WatchEvent, type WatchOptions } from "@isthmus/ports";
import { Silence } from "./connection.ts";
import { LineTooLong, lines } from "./lines.ts";
import { asListed, parsedObject, type WireObject } from "./objects.ts";
import { collectionPath } from "./paths.ts";
import { call, MAX_RESPONSE_BYTES, readResponse } from "./request.ts";
import { selectionQuery } from "./selectors.ts";
import { type ApiStatus, errorOf, errorOfStatus } from "./statusError.ts";
import type { WatchTarget } from "./target.ts";

export interface WatchSettings {
  readonly clock: Clock;
  readonly random: () => number;
  /** The server is asked to end a watch after something from the first to the second. */
  readonly seconds: readonly [number, number];
  /** How long the server may take to end a watch when its time is over, before the connection is taken for dead. */
  readonly graceMs: number;
}

// A watch that ends at once, over and over, must not become a busy loop.
const SHORTEST_USEFUL_WATCH_MS = 1_000;

interface WireEvent {
  readonly type?: string;
  readonly object?: WireObject | ApiStatus;
}

/** One watch, until the server ends it, the connection is lost, or `signal` is aborted. */
export async function* watchFrom<R extends Resource>(
  target: WatchTarget<R>,
  { resourceVersion, options }: { readonly resourceVersion: string; readonly options: WatchOptions },
  { clock, random, seconds: [shortest, longest], graceMs }: WatchSettings,
  signal: AbortSignal,
): AsyncGenerator<WatchEvent<R>, void, undefined> {
  const { connection, collection } = target;
  const startedAt = clock.now();
  const timeoutSeconds = Math.round(shortest + random() * (longest - shortest));
  const query = {
    watch: "1",
    resourceVersion,
    allowWatchBookmarks: "true",
    timeoutSeconds: String(timeoutSeconds),
    ...selectionQuery(options),
  };
  const path = collectionPath(collection, options.namespace);
  const response = await connection.open({ method: "GET", path, query, streamIdleMs: timeoutSeconds * 1_000 + graceMs }, signal);
  if (response.statusCode !== 200) throw errorOf(await readResponse(response, connection, signal));
  if (options.emitsAccepted === true) yield { type: "bookmark", resourceVersion };
  let isSilent = true;
  try {
    for await (const line of lines(chunksOf(response, signal), MAX_RESPONSE_BYTES)) {
      isSilent = false;
      yield eventOf(target, eventIn(line, target));
    }
  } catch (error) {
    if (!(error instanceof LineTooLong)) throw error;
    const most = `${MAX_RESPONSE_BYTES / (1024 * 1024)} MiB`;
    throw new ClusterError("Unavailable", `${connection.server} sends a watch event of ${collection.plural} larger than ${most}`);
  }
  if (!isSilent) return;
  if (clock.now() - startedAt < SHORTEST_USEFUL_WATCH_MS) {
    throw new ClusterError("Unavailable", `${connection.server} ends the watch of ${collection.plural} immediately`);
  }
  await requireReached(target, { resourceVersion, path }, signal);
}

/** What comes, until the connection ends: if by accident, the next watch finds out whether the server is still there. */
async function* chunksOf(response: IncomingMessage, signal: AbortSignal): AsyncGenerator<Buffer, void, undefined> {
  try {
    for await (const chunk of response) yield chunk as Buffer;
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof Silence) && !(error instanceof Error && "code" in error)) throw error;
  } finally {
    response.destroy();
  }
}

/**
 * Throws `Expired` when the server's newest version is older than ours: restored from a backup, it would keep a watch from
 * our version silent until it got there again, for weeks perhaps.
 */
async function requireReached(
  { connection }: WatchTarget<Resource>,
  { resourceVersion, path }: { readonly resourceVersion: string; readonly path: string },
  signal: AbortSignal,
): Promise<void> {
  const page = await call(connection, { method: "GET", path, query: { limit: "1" } }, signal);
  const newest = (page as { readonly metadata?: { readonly resourceVersion?: unknown } | null }).metadata?.resourceVersion;
  // Versions of one cluster are numbers that grow. Source: kubernetes.io/docs/reference/using-api/api-concepts/#resource-versions
  if (!isNumber(newest) || !isNumber(resourceVersion) || BigInt(newest) >= BigInt(resourceVersion)) return;
  throw new ClusterError(
    "Expired",
    `${connection.server} is at resourceVersion ${newest}, before ${resourceVersion}: it may have been restored from a backup`,
  );
}

/** Of 64 bits, as Kubernetes has them. */
function isNumber(version: unknown): version is string {
  return typeof version === "string" && version.length <= 20 && /^\d+$/.test(version);
}

function eventIn(line: string, { connection, collection }: Pick<WatchTarget<Resource>, "connection" | "collection">): WireEvent {
  try {
    const event: unknown = JSON.parse(line);
    return typeof event === "object" && event !== null ? event : {};
  } catch (error) {
    throw new ClusterError("Unavailable", `${connection.server} sends watch events of ${collection.plural} that are not JSON`, {}, error);
  }
}

function eventOf<R extends Resource>(target: WatchTarget<R>, event: WireEvent): WatchEvent<R> {
  const { kind, collection, connection } = target;
  if (event.type === "ERROR") throw errorOfStatus((event.object ?? {}) as ApiStatus);
  const object = event.object as WireObject | undefined | null;
  const resourceVersion: unknown = object?.metadata?.resourceVersion;
  if (object === undefined || typeof resourceVersion !== "string") {
    throw new ClusterError("Unavailable", `${connection.server} sends watch events of ${collection.plural} without a resourceVersion`);
  }
  if (event.type === "BOOKMARK") return { type: "bookmark", resourceVersion };
  const resource = asListed(object, target);
  if (event.type === "DELETED") return { type: "removed", resource, resourceVersion };
  const result = parsedObject(kind, resource);
  return "resource" in result
    ? { type: "put", resource: result.resource, resourceVersion }
    : { type: "malformed", malformed: result.malformed, resourceVersion };
}
