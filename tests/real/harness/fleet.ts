import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ApiServer, startApiServer } from "./apiServer.ts";
import type { Components } from "./components.ts";
import { startEtcd } from "./etcd.ts";

/** Some clusters that share one etcd and one temporary directory. */
export interface Fleet<Name extends string> {
  readonly directory: string;
  readonly servers: Readonly<Record<Name, ApiServer>>;
  /** Stops everything and deletes the directory; with KEEP_REAL_FILES=1 the logs stay. */
  stop(): Promise<void>;
}

/** Starts an etcd and one API server for each name. */
export async function startFleet<Name extends string>(
  components: Components,
  names: readonly Name[],
  options: { readonly audit?: boolean } = {},
): Promise<Fleet<Name>> {
  const directory = mkdtempSync(join(tmpdir(), "isthmus-real-"));
  const etcd = await startEtcd(components, directory);
  const started: ApiServer[] = [];

  async function stop(): Promise<void> {
    await Promise.all(started.map(({ program }) => program.stop()));
    await etcd.program.stop();
    if (process.env["KEEP_REAL_FILES"] !== "1") rmSync(directory, { recursive: true, force: true });
  }

  const starts = names.map(async (name) => {
    started.push(await startApiServer({ components, name, directory, etcdUrl: etcd.url, ...options }));
  });
  const failed = (await Promise.allSettled(starts)).find((start) => start.status === "rejected");
  if (failed !== undefined) {
    await stop();
    throw failed.reason;
  }
  return { directory, servers: Object.fromEntries(started.map((server) => [server.name, server])) as Record<Name, ApiServer>, stop };
}
