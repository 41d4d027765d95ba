import { readFile } from "node:fs/promises";
import type { Clock, Log } from "@isthmus/core";
import { registryUserIn, type WasmServer, wasmServer } from "@isthmus/dataplane";
import type { AgentOptions, Leadership } from "@isthmus/plane";
import type { WasmConfig } from "./config.ts";
import type { ReplicaClient } from "./replicas.ts";
import { startOtherOutcomes } from "./wasmReplicas.ts";

type WasmSources = Parameters<NonNullable<AgentOptions["wasmFilters"]>>[0];

/** What serves Wasm filters on this replica, with what became of them at the proxies of all. */
export interface StartedWasmFilters extends WasmServer {
  /** At the proxies of this replica alone. */
  ownOutcomes(): ReturnType<WasmServer["outcomes"]>;
  readonly ended: Promise<void>;
}

/** Serves Wasm filters, from the first change of what is ordered on. Users of registries are read for each fetch, so that a Secret that is mounted may change. */
export function startWasmFilters(
  {
    config: { registryCredentials, insecureRegistries, privateHosts },
    others,
    clock,
    log,
  }: {
    readonly config: WasmConfig;
    /** Of other replicas; undefined: there are none. */
    readonly others: { readonly replicas: ReplicaClient; readonly leadership: Leadership } | undefined;
    readonly clock: Clock;
    readonly log: Log;
  },
  sources: WasmSources,
  signal: AbortSignal,
): StartedWasmFilters {
  const server = wasmServer(
    {
      ...sources,
      registries: {
        insecure: new Set(insecureRegistries),
        allowance: {
          privateHosts: new Set(
            [...privateHosts, ...insecureRegistries.filter(isRegistry).map(withoutPort)].map((host) => host.toLowerCase()),
          ),
        },
      },
      async userOf(registry) {
        if (registryCredentials === undefined) return undefined;
        try {
          return registryUserIn(await readFile(registryCredentials, "utf8"), registry);
        } catch (error) {
          log.warn(
            { file: registryCredentials },
            `cannot read the credentials of registries, asking without: ${error instanceof Error ? error.message : "failed"}`,
          );
          return undefined;
        }
      },
      clock,
      random: Math.random,
      log,
    },
    signal,
  );
  const { changed } = sources;
  const elsewhere = others === undefined ? undefined : startOtherOutcomes({ ...others, changed, clock }, signal);
  return {
    ...server,
    outcomes: () => [...server.outcomes(), ...(elsewhere?.outcomes ?? [])],
    ownOutcomes: server.outcomes,
    ended: elsewhere?.ended ?? Promise.resolve(),
  };
}

/** A registry's host, which the operator has named; an IPv6 address without its brackets. */
function withoutPort(registry: string): string {
  return new URL(`http://${registry}`).hostname.replace("[", "").replace("]", "");
}

/** What is none is never asked. */
function isRegistry(registry: string): boolean {
  return URL.canParse(`http://${registry}`);
}
