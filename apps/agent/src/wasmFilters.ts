import { readFile } from "node:fs/promises";
import type { Clock, Log } from "@isthmus/core";
import { registryUserIn, type WasmServer, wasmServer } from "@isthmus/dataplane";
import type { AgentOptions } from "@isthmus/plane";
import type { WasmConfig } from "./config.ts";

type WasmSources = Parameters<NonNullable<AgentOptions["wasmFilters"]>>[0];

/** Serves Wasm filters, from the first change of what is ordered on. Users of registries are read for each fetch, so that a Secret that is mounted may change. */
export function startWasmFilters(
  {
    config: { registryCredentials, insecureRegistries },
    clock,
    log,
  }: { readonly config: WasmConfig; readonly clock: Clock; readonly log: Log },
  sources: WasmSources,
  signal: AbortSignal,
): WasmServer & { readonly ended: Promise<void> } {
  const server = wasmServer(
    {
      ...sources,
      registries: { insecure: new Set(insecureRegistries) },
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
  return { ...server, ended: Promise.resolve() };
}
