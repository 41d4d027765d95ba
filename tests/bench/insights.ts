import { VirtualService } from "@isthmus/api";
import { type CooperativeTask, type Resource, type Snapshot, snapshotOf } from "@isthmus/core";
import { historyAfter, type InsightHistory, type Insights, insightsInSteps, NO_HISTORY, objectChanges } from "@isthmus/insights";
import { type Translation, translate } from "@isthmus/translators";
import type { BenchmarkOptions, Figures } from "./benchmarks.ts";
import { clusterName, type FleetSize, fleetObjects, serviceAt } from "./fleet.ts";
import { CHANGES, type Change, OPTIONS, SIZE, SMOKE_SIZE } from "./fleetTranslation.ts";
import { peakRssMiB, percentile, rounded, timedWithCpu } from "./measure.ts";
import { PLANE } from "./planeObjects.ts";

/**
 * Insights of a large fleet that is translated already: once from scratch, then after each of many small changes, to the history that the
 * leader keeps. `longestStepMs`: for how long nobody else had a turn, garbage collection included.
 */
export function* insightsBenchmark({ smoke }: BenchmarkOptions): Iterable<Figures> {
  const size = smoke ? SMOKE_SIZE : SIZE;
  const given = snapshotOf([...fleetObjects(size)]);
  const world = translate(given, OPTIONS);
  const steps = longestStep();
  const [found, coldMs, coldCpuMs] = timedWithCpu(() => next({ given, world, insights: undefined, history: NO_HISTORY }, world, steps));
  const insights = found.insights?.counts.reduce((sum, { shown, suppressed }) => sum + shown + suppressed, 0) ?? 0;
  yield {
    name: "insights cold",
    services: size.clusters * size.servicesPerCluster,
    insights,
    objects: found.history.current.size,
    coldMs: rounded(coldMs),
    coldCpuMs: rounded(coldCpuMs),
    longestStepMs: rounded(steps.longestMs()),
    rssMiB: peakRssMiB(),
  };
  for (const change of [...CHANGES.filter(({ name }) => name !== "VirtualMesh selector"), USERS_ROUTE]) {
    yield changed(found, change, { size, times: smoke ? 4 : change.times });
  }
}

/** What is known at one moment, and what follows from it. */
interface Moment {
  readonly given: Snapshot;
  readonly world: Translation;
  readonly insights: Insights | undefined;
  readonly history: InsightHistory;
}

function next(before: Moment, world: Translation, steps: Steps): Moment {
  const insights = steps.run(insightsInSteps(world, { namespace: PLANE, now: 0 }, before.insights));
  const changes = objectChanges(insights.byObject, before.insights?.byObject);
  const history = steps.run(historyAfter(before.history, changes, { at: 0, isKnown: () => true }));
  return { ...before, world, insights, history };
}

function changed(start: Moment, { name, make }: Change, { size, times }: { readonly size: FleetSize; readonly times: number }): Figures {
  let before = start;
  const steps = longestStep();
  const cpuTimes: number[] = [];
  const durations = Array.from({ length: times }, (_, n) => {
    const object = make(before.given, n, size);
    if (object === undefined) throw new Error(`${name}: there is no object to change`);
    const given = before.given.apply({ put: [object], remove: [] });
    const world = translate(given, OPTIONS, before.world);
    const [after, ms, cpuMs] = timedWithCpu(() => next({ ...before, given }, world, steps));
    before = after;
    cpuTimes.push(cpuMs);
    return ms;
  });
  return {
    name: `insights ${name}`,
    times,
    firstMs: rounded(durations[0] ?? 0),
    p50Ms: rounded(percentile(durations, 50)),
    p99Ms: rounded(percentile(durations, 99)),
    maxMs: rounded(Math.max(...durations)),
    p50CpuMs: rounded(percentile(cpuTimes, 50)),
    p99CpuMs: rounded(percentile(cpuTimes, 99)),
    longestStepMs: rounded(steps.longestMs()),
  };
}

/** A route of a user's own: an insight begins with each. */
const USERS_ROUTE: Change = {
  name: "VirtualService",
  times: 200,
  make(_, n, size): Resource {
    const { name, namespace } = serviceAt(n % size.servicesPerCluster);
    const metadata = { name: `own-${n}`, namespace, clusterName: clusterName(n % size.clusters) };
    const spec = { hosts: [name], http: [{ route: [{ destination: { host: name } }] }] };
    return VirtualService.parse({ apiVersion: VirtualService.apiVersion, kind: VirtualService.kind, metadata, spec });
  },
};

interface Steps {
  run<T>(steps: CooperativeTask<T>): T;
  longestMs(): number;
}

function longestStep(): Steps {
  let longest = 0;
  return {
    run(steps) {
      for (;;) {
        const started = performance.now();
        const step = steps.next();
        longest = Math.max(longest, performance.now() - started);
        if (step.done === true) return step.value;
      }
    },
    longestMs: () => longest,
  };
}
