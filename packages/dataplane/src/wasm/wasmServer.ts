import type { Clock, Log } from "@isthmus/core";
import type { PodAtAddress, PodsAt } from "../accessLogs/accessLog.ts";
import { type ExtensionConfigs, extensionConfigs } from "./extensionConfigService.ts";
import type { ConfigOutcome, ExtensionConfig } from "./extensionConfigStream.ts";
import { type DesiredModule, moduleKeeper } from "./moduleKeeper.ts";
import { fetchHttpModule } from "./modules.ts";
import { fetchRegistryModule, type RegistryOptions, type RegistryUser } from "./registryModule.ts";
import { servedRoom } from "./servedRoom.ts";
import { type WasmFilter, wasmFilterConfig } from "./wasmFilter.ts";

/** A Wasm filter that proxies are to be given. */
export interface OrderedFilter {
  readonly name: string;
  /** Where the module is: in a registry, or on a server with its SHA-256, or at a path in the proxy. */
  readonly image?: string;
  readonly uri?: string;
  readonly sha256?: string;
  readonly path?: string;
  readonly rootId?: string;
  readonly vmId?: string;
  readonly config?: string;
  readonly failClosed?: boolean;
}

/** Filters for some pods of one namespace. */
export interface FilterOrder {
  /** Of all orders its own. */
  readonly key: string;
  readonly namespace: string;
  readonly filters: readonly OrderedFilter[];
}

export interface WasmServerOptions {
  readonly podsAt: PodsAt;
  /** All orders. */
  readonly orders: () => readonly FilterOrder[];
  /** Those for a pod. */
  readonly ordersOf: (pod: PodAtAddress) => readonly FilterOrder[];
  /** The user of a registry, looked up for each fetch. */
  readonly userOf: (registry: string) => Promise<RegistryUser | undefined>;
  readonly registries: Omit<RegistryOptions, "user">;
  /** Called when a module, or the answer of a proxy, is another one. */
  readonly changed: () => void;
  readonly clock: Clock;
  /** From 0 to 1, excluded. */
  readonly random: () => number;
  readonly log: Log;
}

/** What became of a filter at one proxy. */
export interface WasmOutcome {
  readonly pod: PodAtAddress;
  readonly filter: string;
  readonly outcome: ConfigOutcome;
}

/** Gives proxies their Wasm filters. */
export interface WasmServer {
  /** To be served by `openWorkloadPort`. */
  readonly service: ExtensionConfigs["service"];
  /** Other filters are ordered, or for other pods: served within 200 ms. */
  changed(): void;
  /** The version that proxies get of a filter as it is meant now; or why there is none yet, where that is known. */
  stateOf(order: FilterOrder, filter: OrderedFilter): { readonly version?: string; readonly problem?: string };
  /** Of the proxies that are connected now. */
  outcomes(): readonly WasmOutcome[];
}

/**
 * Fetches the modules of all orders, and serves each filter once its module is there; until then the one that was served under its name before
 * (docs/decisions/0120). What is served has at most `MOST_SERVED` bytes, with what waits to be replaced: what comes beyond is not there, and its
 * state says so.
 */
export function wasmServer(options: WasmServerOptions, signal: AbortSignal): WasmServer {
  const { orders, ordersOf, podsAt, changed: onChange, clock, random, log } = options;
  /** What is served, by the order and there by the filter's name. */
  const served = new Map<string, Map<string, Served>>();
  const withoutRoom = new Set<string>();
  let isRequested = false;

  const keeper = moduleKeeper({ changed: request, clock, random, log }, signal);
  const configs = extensionConfigs(
    {
      podsAt,
      configsOf: (pod) =>
        new Map(ordersOf(pod).flatMap(({ key }) => [...(served.get(key) ?? [])].map(([name, { config }]) => [name, config]))),
      answered: onChange,
      clock,
      log,
    },
    signal,
  );

  /** Has what is served follow from the orders, and from the modules that are there. */
  function serve(): void {
    const all = orders().map(({ key, filters }) => ({
      key,
      filters: filters.map((filter) => ({ filter, content: JSON.stringify(filter), held: served.get(key)?.get(filter.name)?.config })),
    }));
    const keys = new Set(all.map(({ key }) => key));
    for (const key of served.keys()) if (!keys.has(key)) served.delete(key);
    const known = new Map([...served.values()].flatMap((filters) => [...filters.values()].map((one) => [one.content, one.config])));
    const room = servedRoom(
      MOST_SERVED,
      all.flatMap(({ filters }) => filters),
      known,
    );
    // Decided once in each run: the filters with one content have the same configuration, or all what they had before.
    const absent = new Set<string>();
    withoutRoom.clear();
    let isMore = false;

    function configFor(filter: OrderedFilter, content: string): ExtensionConfig | undefined {
      const before = known.get(content);
      if (before !== undefined || absent.has(content)) return before;
      const code = codeOf(filter);
      // Judged before it is made: to encode a module, and hash it, stops all else for a moment.
      const hasRoom = code !== undefined && mostBytes(content, code) <= room.left(content);
      if (hasRoom) {
        const config = configOf(filter, code);
        room.take(content, config);
        known.set(content, config);
        isMore = true;
        return config;
      }
      absent.add(content);
      if (code !== undefined) withoutRoom.add(content);
      return undefined;
    }

    for (const { key, filters } of all) {
      const before = served.get(key);
      const now = new Map<string, Served>();
      for (const { filter, content } of filters) {
        const config = configFor(filter, content);
        const next = config === undefined ? before?.get(filter.name) : { content, config };
        if (next !== undefined) now.set(filter.name, next);
      }
      served.set(key, now);
    }
    // What was replaced may have left room for what came before it.
    if (isMore && withoutRoom.size > 0) request();
    configs.changed();
    onChange();
  }

  /** Undefined while the module is not there. */
  function codeOf(filter: OrderedFilter): WasmFilter["code"] | undefined {
    if (filter.path !== undefined) return { filename: filter.path };
    const { bytes } = keeper.kept(sourceOf(filter));
    return bytes && { bytes };
  }

  function desiredModule(filter: OrderedFilter, namespaces: ReadonlySet<string>): DesiredModule {
    const { image, uri = "", sha256 = "" } = filter;
    return {
      source: sourceOf(filter),
      namespaces,
      async fetch(until) {
        if (image === undefined) return fetchHttpModule({ uri, sha256 }, options.registries, until);
        const user = await options.userOf(image.slice(0, Math.max(image.indexOf("/"), 0)));
        const { bytes } = await fetchRegistryModule(image, { ...options.registries, ...(user === undefined ? {} : { user }) }, until);
        return bytes;
      },
    };
  }

  /** Orders change, and modules are there, in bursts: what they come to is made once for each. */
  function request(): void {
    if (isRequested) return;
    isRequested = true;
    void clock.sleep(PAUSE_MS, signal).then(run, () => undefined);
  }

  function run(): void {
    isRequested = false;
    const fetched = new Map<string, { readonly filter: OrderedFilter; readonly namespaces: Set<string> }>();
    for (const { namespace, filters } of orders()) {
      for (const filter of filters) {
        if (filter.path !== undefined) continue;
        const one = fetched.get(sourceOf(filter)) ?? { filter, namespaces: new Set() };
        fetched.set(sourceOf(filter), one);
        one.namespaces.add(namespace);
      }
    }
    keeper.desire(new Map([...fetched].map(([source, { filter, namespaces }]) => [source, desiredModule(filter, namespaces)])));
    serve();
  }

  return {
    service: configs.service,
    changed: request,
    stateOf({ key }, filter) {
      const content = JSON.stringify(filter);
      const now = served.get(key)?.get(filter.name);
      if (now?.content === content) return { version: now.config.version };
      if (withoutRoom.has(content))
        return { problem: `there is no room for it: the filters of a cluster may have ${MOST_SERVED} bytes together` };
      const { problem } = keeper.kept(sourceOf(filter));
      return problem === undefined ? {} : { problem };
    },
    outcomes: () => configs.outcomes(),
  };
}

interface Served {
  /** The order that it follows from, as text. */
  readonly content: string;
  readonly config: ExtensionConfig;
}

function configOf({ name, rootId = "", vmId = "", config, failClosed = false }: OrderedFilter, code: WasmFilter["code"]): ExtensionConfig {
  const configuration = config === undefined ? {} : { configuration: config };
  return wasmFilterConfig({ name, code, rootId, vmId, ...configuration, failOpen: !failClosed });
}

/** No configuration of a filter is larger: `content` has all of its texts but for the module. */
function mostBytes(content: string, code: WasmFilter["code"]): number {
  return Buffer.byteLength(content) + ("bytes" in code ? code.bytes.length : 0) + BESIDES;
}

/** What says where a module comes from, and so which it is. */
function sourceOf({ image = "", uri = "", sha256 = "" }: OrderedFilter): string {
  return JSON.stringify([image, uri, sha256]);
}

const PAUSE_MS = 200;
// Names of types and tags of fields, and the name of the filter once more.
const BESIDES = 1024;
// Beside the modules themselves: each configuration holds a copy of its module.
const MOST_SERVED = 64 * 1024 * 1024;
