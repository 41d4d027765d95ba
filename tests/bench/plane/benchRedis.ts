import { spawn } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { Store } from "@isthmus/plane";
import { redisStore } from "@isthmus/store";
import { benchLog } from "./benchLog.ts";

/** A Redis of the benchmark's own, in memory only. */
export interface BenchRedis {
  readonly port: number;
  stop(): Promise<void>;
}

/** Starts the machine's `redis-server`; undefined when there is none. */
export async function startBenchRedis(): Promise<BenchRedis | undefined> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  const child = spawn("redis-server", ["--port", String(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"], {
    stdio: "ignore",
  });
  const isThere = await Promise.race([once(child, "spawn").then(() => true), once(child, "error").then(() => false)]).catch(() => false);
  if (!isThere) return undefined;
  return {
    port,
    async stop() {
      child.kill();
      await once(child, "exit");
    },
  };
}

/** The store in it, once it answers. */
export async function benchStore(port: number): Promise<Store> {
  const store = redisStore(
    { host: "127.0.0.1", port, timeoutMs: 30_000 },
    { log: benchLog, keys: async () => ({ key: Buffer.alloc(32, "bench") }) },
  );
  for (let tries = 0; tries < 100; tries++) {
    try {
      await store.overview("input");
      return store;
    } catch {
      // Not up yet.
      await sleep(50);
    }
  }
  throw new Error(`no Redis answers on port ${port}`);
}
