import { type KubernetesCluster, managedObjectsOf, writeModeOf } from "@isthmus/api";
import { wrapped } from "../output/fit.ts";
import { plainText } from "../output/plainText.ts";

/** What may be written in a cluster, and what would be: from its registration. */
export interface ClusterMode {
  /** Of `spec.mode`. */
  readonly mode: string;
  /** The mode that the agent acknowledged last, where it is known and another. */
  readonly acknowledged?: string;
  readonly comparison?: Comparison;
  /** What is written although the mode is observe: `Kind namespace/name`. */
  readonly managedObjects?: readonly string[];
}

type Comparison = NonNullable<NonNullable<KubernetesCluster["status"]>["comparison"]>;

/**
 * The mode that a registration asks for, with what its status says of it: in mode `manage` no comparison, in mode `observe` the managed
 * objects.
 */
export function clusterModeOf(cluster: KubernetesCluster): ClusterMode {
  const mode = writeModeOf(cluster);
  const { mode: acknowledged, comparison } = cluster.status ?? {};
  const named = mode === "observe" ? managedObjectsOf(cluster).map(({ kind, namespace, name }) => `${kind} ${namespace}/${name}`) : [];
  return {
    mode,
    ...(acknowledged === undefined || acknowledged === mode ? {} : { acknowledged }),
    ...(comparison === undefined || mode === "manage" ? {} : { comparison }),
    ...(named.length === 0 ? {} : { managedObjects: named }),
  };
}

/** Whether nothing differs from what is desired, as far as it is known. */
export function hasWhatIsDesired({ mode, comparison }: ClusterMode): boolean {
  const { wouldCreate = 0, wouldChange = 0, wouldDelete = 0, conflicts = 0 } = comparison ?? {};
  return mode === "manage" || (comparison !== undefined && wouldCreate + wouldChange + wouldDelete + conflicts === 0);
}

/** How many objects would be written in which way, in one sentence. */
export function countsText({ mode, comparison }: ClusterMode): string {
  if (comparison === undefined) return mode === "manage" ? "" : "nothing has been compared yet";
  const { same = 0, wouldCreate = 0, wouldChange = 0, wouldDelete = 0, conflicts = 0 } = comparison;
  return `${same} objects are as desired; would create ${wouldCreate}, change ${wouldChange}, delete ${wouldDelete}; ${conflicts} exist, managed by others`;
}

/** The first objects that would be written, and those that others have: one per line, wrapped below an indentation. */
export function exampleLines({ comparison, managedObjects = [] }: ClusterMode, columns: number): readonly string[] {
  const { examples = [], wouldCreate = 0, wouldChange = 0, wouldDelete = 0, conflicts = 0 } = comparison ?? {};
  const more = wouldCreate + wouldChange + wouldDelete + conflicts - examples.length;
  return [
    ...managedObjects.map((object) => `${object}: is written, named in spec.managedObjects`),
    ...examples,
    ...(examples.length > 0 && more > 0 ? [`... and ${more} more: the page /pending of the server's admin port lists them`] : []),
  ].flatMap((text) => {
    const [first = "", ...rest] = wrapped(plainText(text), Math.max(LEAST, columns - 2 * INDENT.length));
    return [`${INDENT}${first}`, ...rest.map((line) => `${INDENT}${INDENT}${line}`)];
  });
}

const INDENT = "  ";
const LEAST = 20;
