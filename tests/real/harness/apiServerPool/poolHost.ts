import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { TestProject } from "vitest/node";
import type { ApiServerPool, Lease, LeaseRequest } from "./apiServerPool.ts";
import type { StartedPool } from "./startPool.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Path of the socket on which the pool of API servers listens. */
    readonly apiServerPool: string;
  }
}

/**
 * Keeps a pool of API servers for all suites of a run, in vitest's main process. A lease is one HTTP request on a Unix socket: `POST /leases` is answered by a
 * line with the servers, and lasts until it is released by `DELETE /leases/ID` or until its connection ends, as it does with the process of the suite.
 */
export async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  const directory = mkdtempSync(join(tmpdir(), "isthmus-real-pool-"));
  const leases = new Map<string, Lease>();
  let serial = 0;
  let started: Promise<StartedPool> | undefined;
  // Most files of a run may need none: what the pool is made of is read, and etcd started, with the first request.
  const pool = async (): Promise<ApiServerPool> => {
    started ??= import("./startPool.ts").then(({ startPool }) => startPool(directory));
    return (await started).pool;
  };

  async function lend(request: LeaseRequest, response: ServerResponse): Promise<void> {
    const lease = await (await pool()).lease(request);
    const id = String(++serial);
    leases.set(id, lease);
    response.on("close", () => {
      leases.delete(id);
      lease.abandon();
    });
    if (response.destroyed) lease.release();
    else response.write(`${JSON.stringify({ id, servers: lease.servers })}\n`);
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method === "POST") {
      await lend(JSON.parse(await text(request)) as LeaseRequest, response);
    } else {
      leases.get(request.url?.split("/").at(-1) ?? "")?.release();
      response.end();
    }
  }

  const server = createServer((request, response) => {
    answer(request, response).catch((error) => {
      response.statusCode = 500;
      response.end(String(error));
    });
  });
  const socket = join(directory, "pool.sock");
  await new Promise<void>((resolve) => server.listen(socket, resolve));
  provide("apiServerPool", socket);

  return async () => {
    server.close();
    server.closeAllConnections();
    if (started !== undefined) await (await started).stop();
    if (process.env["KEEP_REAL_FILES"] !== "1") rmSync(directory, { recursive: true, force: true });
  };
}
