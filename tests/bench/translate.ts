import { readFileSync } from "node:fs";
import { kindOf, TrafficPolicy } from "@isthmus/api";
import { type AnyResource, fileProblem, type Resource, snapshotOf, UsageError } from "@isthmus/core";
import { statusesOf, type TranslateOptions, type Translation, translate } from "@isthmus/translators";
import type { BenchmarkOptions, Figures } from "./benchmarks.ts";
import { peakRssMiB, percentile, rounded, timed, timedWithCpu } from "./measure.ts";
import { syntheticFleet } from "./syntheticFleet.ts";

const OPTIONS: TranslateOptions = { namespace: "gloo-mesh", stage: "networking" };
const CHANGES = 200;

/**
 * A networking snapshot translated once, then 200 times after the timeout of one policy changed. Cold: from parsed resources to
 * all outputs and statuses. Incremental: from the changed policy to the new world.
 */
export function* translateBenchmark({ smoke, input, services }: BenchmarkOptions): Iterable<Figures> {
  const [resources, parseMs] = timed(() =>
    parsed(input === undefined ? syntheticFleet(services ?? (smoke ? 100 : 2000), 10) : listIn(input)),
  );
  const [world, coldMs] = timed(() => fromScratch(resources));
  const durations = incremental(world, resources.filter((resource) => resource.kind === TrafficPolicy.kind) as readonly TrafficPolicy[]);
  yield {
    name: "translate",
    inputs: resources.length,
    outputs: world.outputs.length,
    parseMs: rounded(parseMs),
    coldMs: rounded(coldMs),
    incrementalP50Ms: rounded(percentile(durations, 50)),
    incrementalP99Ms: rounded(percentile(durations, 99)),
    rssMiB: peakRssMiB(),
  };
}

/** The first translation alone, for the benchmark of growth. */
export function* coldBenchmark({ services = 100 }: BenchmarkOptions): Iterable<Figures> {
  const resources = parsed(syntheticFleet(services, 10));
  const [, coldMs, coldCpuMs] = timedWithCpu(() => fromScratch(resources));
  yield { name: "cold", coldMs: rounded(coldMs), coldCpuMs: rounded(coldCpuMs) };
}

function fromScratch(resources: readonly Resource[]) {
  const cold = translate(snapshotOf(resources), OPTIONS);
  return { ...cold, outputs: [...cold.networking.entries()], statuses: statusesOf(cold) };
}

function listIn(file: string): readonly AnyResource[] {
  const { items } = contentOf(file) ?? {};
  if (!Array.isArray(items)) throw new UsageError(`--input ${file}: must be a JSON List with items, as kubectl get -o json prints it`);
  return items as readonly AnyResource[];
}

function contentOf(file: string): { readonly items?: unknown } | null {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as { readonly items?: unknown } | null;
  } catch (error) {
    throw new UsageError(`--input ${file}: ${error instanceof SyntaxError ? "is not JSON" : fileProblem(error)}`);
  }
}

/** As an agent or the offline command would hand them on. */
function parsed(objects: readonly AnyResource[]): readonly Resource[] {
  return objects.flatMap((object): readonly Resource[] => {
    const kind = kindOf(object.apiVersion, object.kind);
    if (kind === undefined) return [];
    const resource = kind.parse(object);
    return [kind.project === undefined ? resource : kind.project(resource)];
  });
}

/** The milliseconds of each change. */
function incremental(start: Translation, policies: readonly TrafficPolicy[]): readonly number[] {
  let world = start;
  return Array.from({ length: Math.min(CHANGES, policies.length) }, (_, i) => {
    const policy = policies[Math.floor((i * policies.length) / CHANGES)] as TrafficPolicy;
    const changed = { ...policy, spec: { ...policy.spec, policy: { ...policy.spec?.policy, requestTimeout: `${61 + i}s` } } };
    const [next, ms] = timed(() => translate(world.inputs.apply({ put: [changed], remove: [] }), OPTIONS, world));
    world = next;
    return ms;
  });
}
