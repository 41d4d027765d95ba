import { type IncomingMessage, request } from "node:http";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { inject } from "vitest";
import type { ApiServerAccess } from "../apiServer.ts";
import type { LeaseRequest } from "./apiServerPool.ts";
// Types of what is injected.
import type {} from "./poolHost.ts";

/** API servers of the run's pool that belong to this suite. */
export interface LeasedServers {
  readonly servers: readonly ApiServerAccess[];
  release(): Promise<void>;
}

/** Waits until the pool has so many free. Throws what the pool says. */
export async function leaseServers(wanted: LeaseRequest): Promise<LeasedServers> {
  const response = await ask("POST", "/leases", JSON.stringify(wanted));
  if (response.statusCode !== 200) throw new Error(await text(response));
  const held = { end: () => response.destroy() };
  heldLeases.add(held);
  const [line] = await firstLine(response);
  const { id, servers } = JSON.parse(line) as { readonly id: string; readonly servers: readonly ApiServerAccess[] };
  return {
    servers,
    async release() {
      heldLeases.delete(held);
      (await ask("DELETE", `/leases/${id}`)).resume();
      response.destroy();
    },
  };
}

/** Ends the leases that were not released: the pool does not use their servers again. */
export function abandonLeases(): void {
  for (const held of heldLeases) held.end();
  heldLeases.clear();
}

const heldLeases = new Set<{ end(): void }>();

function ask(method: string, path: string, body?: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request({ socketPath: inject("apiServerPool"), method, path, agent: false }, resolve)
      .on("error", reject)
      .end(body);
  });
}

/** The first line of a text that has more. */
function firstLine(response: IncomingMessage): Promise<readonly [string]> {
  return new Promise((resolve, reject) => {
    const lines = createInterface({ input: response });
    lines.once("line", (line) => resolve([line]));
    response.once("error", reject);
  });
}
