import { keyOfResource, kindKeyOf } from "@isthmus/core";
import type { KindDigest, Store, StoredText, StorePartition } from "@isthmus/ports";
import { hashOf, hexOf, plus, ZERO } from "@isthmus/relay/session";
import { runApart } from "../apart.ts";
import type { BenchmarkOptions, Figures } from "../benchmarks.ts";
import { clusterName, type FleetSize, reportedObjects } from "../fleet.ts";
import { rounded } from "../measure.ts";
import { benchStore, startBenchRedis } from "./benchRedis.ts";

const PORT = "ISTHMUS_BENCH_REDIS_PORT";

export function restartSize({
  smoke,
  clusters = smoke ? 3 : 100,
  services = smoke ? 4 : 1000,
  pods = smoke ? 2 : 10,
}: BenchmarkOptions): FleetSize {
  return { clusters, servicesPerCluster: services, podsPerService: pods };
}

/** A replica that starts cold, with nothing but Redis to learn from: fills a Redis, and starts the replica in a process of its own. */
export async function* restartBenchmark(options: BenchmarkOptions): AsyncIterable<Figures> {
  const size = restartSize(options);
  const redis = await startBenchRedis();
  if (redis === undefined) {
    yield { name: "restart", left: "no redis-server on this machine" };
    return;
  }
  try {
    const store = await benchStore(redis.port);
    const started = performance.now();
    for (let i = 0; i < size.clusters; i++) await fill(store, i, size);
    const fillMs = rounded(performance.now() - started);
    await store.close();
    process.env[PORT] = String(redis.port);
    const { clusters, servicesPerCluster, podsPerService } = size;
    const sizes = ["--clusters", clusters, "--services", servicesPerCluster, "--pods", podsPerService].map(String);
    for (const figures of await runApart(["--run", "restart-replica", ...sizes], { program: "server", heapMiB: 8192 }))
      yield { ...figures, fillMs, name: "restart" };
  } finally {
    await redis.stop();
  }
}

/** The Redis that a benchmark filled, in the process of the replica. */
export function filledStore(): Promise<Store> {
  return benchStore(Number(process.env[PORT]));
}

/** Writes what an agent would have reported of one cluster. */
async function fill(store: Store, position: number, size: FleetSize): Promise<void> {
  const cluster = clusterName(position);
  const partition = { section: "input", clusterName: cluster } as const;
  const fence = await store.raiseFence(`input/${cluster}`, "fill");
  const objects = [...reportedObjects(cluster, position, size)].map((resource) => ({
    kindKey: kindKeyOf(resource),
    key: keyOfResource(resource),
    text: JSON.stringify(resource),
  }));
  const kinds = digestsOf(store, { partition, objects });
  for (let from = 0, sequence = 1; from < objects.length; from += BATCH, sequence++) {
    const base = sequence === 1 ? undefined : { fence: fence.number, sequence: sequence - 1 };
    const delta = { erase: [], put: objects.slice(from, from + BATCH), remove: [] };
    const complete = from + BATCH >= objects.length;
    await store.write({
      partition,
      fence,
      base,
      sequence,
      delta,
      complete,
      kinds,
      meta: { servedBy: "fill", phase: "synced", connected: false },
    });
  }
}

const BATCH = 1_000;

function digestsOf(
  { hashing }: Store,
  { partition, objects }: { readonly partition: StorePartition; readonly objects: readonly (StoredText & { readonly kindKey: string })[] },
): Readonly<Record<string, KindDigest>> {
  const sums = new Map<string, { count: number; sum: typeof ZERO }>();
  for (const { kindKey, ...object } of objects) {
    const { count, sum } = sums.get(kindKey) ?? { count: 0, sum: ZERO };
    const hash = hashing?.hashOf(partition, kindKey, object) ?? hashOf(object.key, object.text);
    sums.set(kindKey, { count: count + 1, sum: plus(sum, hash) });
  }
  const digest = (kindKey: string, sum: typeof ZERO) => hashing?.digestOf(partition, kindKey, sum) ?? hexOf(sum);
  return Object.fromEntries([...sums].map(([kindKey, { count, sum }]) => [kindKey, { count, digest: digest(kindKey, sum) }]));
}
