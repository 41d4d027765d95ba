import { findComponents } from "../components.ts";
import { startEtcd } from "../etcd.ts";
import { type ApiServerPool, apiServerPool } from "./apiServerPool.ts";
import { type Definitions, type Form, startPooledServer } from "./pooledServer.ts";

/** A pool, and the etcd that its servers share. */
export interface StartedPool {
  readonly pool: ApiServerPool;
  stop(): Promise<void>;
}

/** Starts an etcd; API servers start as they are needed, at most ISTHMUS_API_SERVERS of them (default 8). Throws when the components are missing. */
export async function startPool(directory: string): Promise<StartedPool> {
  const components = findComponents();
  if ("missing" in components) throw new Error(components.missing);
  const etcd = await startEtcd(components, directory);
  const definitions = new Map<Form, Definitions>();
  const pool = apiServerPool({
    most: mostServers(),
    start: (serial) => startPooledServer({ components, name: `server-${serial}`, directory, etcdUrl: etcd.url, definitions }),
    warn: (message) => console.warn(`tests/real: ${message}`),
  });
  return {
    pool,
    async stop() {
      await pool.close();
      await etcd.program.stop();
    },
  };
}

/** Each holds 270 MB. */
const DEFAULT_MOST = 8;

function mostServers(): number {
  const set = process.env["ISTHMUS_API_SERVERS"] ?? String(DEFAULT_MOST);
  if (!/^[1-9]\d*$/.test(set)) throw new TypeError(`ISTHMUS_API_SERVERS: ${set} is no number of servers`);
  return Number(set);
}
