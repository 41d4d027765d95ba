import type { AnyResource } from "@isthmus/core";
import type { BenchmarkOptions, Figures } from "../benchmarks.ts";
import { serviceAt } from "../fleet.ts";
import { rounded } from "../measure.ts";
import type { HostedFleet } from "./hostedFleet.ts";
import { machineLoad } from "./load.ts";
import { withPlane } from "./planeRun.ts";

const IDLE_SECONDS = 60;
const CHANGES = 20;

/** What the connections carry, TLS and HTTP/2 included: for a pod that changes, for one that becomes ready or not, and when nothing happens. */
export async function* wireBenchmark(options: BenchmarkOptions): AsyncIterable<Figures> {
  const { smoke, clusters = smoke ? 2 : 10, services = smoke ? 4 : 20, seconds = smoke ? 1 : IDLE_SECONDS } = options;
  const size = { clusters, servicesPerCluster: services, podsPerService: 2 };
  yield await withPlane({ size, agents: "whole", isAtRest: true }, async ({ beside }) => {
    const bytes = () => beside.call<{ readonly up: number; readonly down: number }>("bytes");
    const idle = await bytes();
    await pause(seconds * 1_000);
    const still = await bytes();
    const middle = (values: readonly number[]) => [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0;
    const bytesOf = async (change: string) => {
      const changes: { readonly up: number; readonly down: number }[] = [];
      for (let n = 0; n < (smoke ? 2 : CHANGES); n++) {
        const before = await bytes();
        await beside.call(change, n);
        await pause(SETTLING_MS);
        const after = await bytes();
        changes.push({ up: after.up - before.up, down: after.down - before.down });
      }
      return { up: middle(changes.map(({ up }) => up)), down: middle(changes.map(({ down }) => down)) };
    };
    const pod = await bytesOf("changePod");
    const readiness = await bytesOf("changeReadiness");
    return {
      name: "wire",
      clusters,
      podChangeBytesUp: pod.up,
      podChangeBytesDown: pod.down,
      readinessBytesUp: readiness.up,
      readinessBytesDown: readiness.down,
      idleBytesUpPerAgentSecond: rounded((still.up - idle.up) / clusters / seconds),
      idleBytesDownPerAgentSecond: rounded((still.down - idle.down) / clusters / seconds),
      load: machineLoad(),
    };
  });
}

const SETTLING_MS = 400;

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** A pod of the first cluster gets another label. */
export function changePod(fleet: HostedFleet, n: number): void {
  const { cluster, pod } = podAt(fleet, n);
  cluster.load([{ ...pod, metadata: { ...pod.metadata, labels: { ...pod.metadata.labels, shift: `shift-${n}` } } }]);
}

/** A pod of the first cluster becomes ready or ceases to be, as Kubernetes writes it: in its status, and for its address in the slice. */
export function changeReadiness(fleet: HostedFleet, n: number): void {
  const { cluster, pod, slice } = podAt(fleet, n);
  const ready = n % (2 * fleet.size.servicesPerCluster) >= fleet.size.servicesPerCluster;
  const conditions = [{ type: "Ready", status: ready ? "True" : "False" }];
  cluster.load([{ ...pod, status: { ...(pod["status"] as object), conditions } } as AnyResource]);
  const [first, ...others] = slice["endpoints"] as readonly object[];
  cluster.load([{ ...slice, endpoints: [{ ...first, conditions: { ready } }, ...others] } as AnyResource]);
}

function podAt({ clusters, size }: HostedFleet, n: number) {
  const [cluster] = clusters.values();
  const { name, namespace } = serviceAt(n % size.servicesPerCluster);
  const pod = cluster?.object({ apiVersion: "v1", kind: "Pod", name: `${name}-7d9c-0`, namespace });
  const slice = cluster?.object({ apiVersion: "discovery.k8s.io/v1", kind: "EndpointSlice", name: `${name}-x`, namespace });
  if (cluster === undefined || pod === undefined || slice === undefined) throw new Error(`there is no pod of ${name}`);
  return { cluster, pod, slice };
}
