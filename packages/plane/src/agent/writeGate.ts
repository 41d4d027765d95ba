import type { WriteMode } from "@isthmus/api";
import { equalJson, formatRef, type Resource, type ResourceRef, refOf } from "@isthmus/core";
import { type Cluster, ClusterError, MODES } from "@isthmus/ports";
import { interceptWrites } from "../leader/interceptWrites.ts";
import { ALL_WRITES, allowsObject, NO_WRITES, type WriteRules } from "./writeMode.ts";

/**
 * What an agent may write, as its server said. Closed until the server has said it: an agent that starts does not know what it was sent
 * before. What was said holds until something else is, no matter which server that is.
 */
export interface WriteGate {
  /** The cluster; a write that is not allowed at that moment is refused. */
  readonly cluster: Cluster;
  mayWrite(ref: ResourceRef): boolean;
  /** Whether statuses of what users wrote may be written: in a cluster that is managed as a whole. */
  readonly mayWriteStatuses: boolean;
  /** The mode, once no write that began under other rules is on its way; undefined before, and until a server has said it. */
  readonly mode: WriteMode | undefined;
  /** What a server has said, whatever is on its way; undefined until one has. */
  readonly rules: WriteRules | undefined;
  /** A server has answered: one that knows no modes has every agent write. */
  welcomed(features: readonly string[]): void;
  setRules(rules: WriteRules): void;
}

/** `changed` is called when other rules hold, `drained` when `mode` has become known. */
export function writeGate(
  cluster: Cluster,
  { changed, drained }: { readonly changed: () => void; readonly drained: () => void },
): WriteGate {
  let rules: WriteRules | undefined;
  let turn = 0;
  /** How many writes are on their way that began under earlier rules, and under these. */
  let [earlier, current] = [0, 0];

  const mayWrite = (ref: ResourceRef) => allowsObject(rules ?? NO_WRITES, ref);
  const mayWriteStatuses = () => rules?.mode === "manage";

  function told(next: WriteRules): void {
    if (equalJson(rules, next)) return;
    rules = next;
    turn++;
    [earlier, current] = [earlier + current, 0];
    changed();
  }

  async function through<T>(ref: ResourceRef, isAllowed: boolean, write: () => Promise<T>): Promise<T> {
    if (!isAllowed) throw new ClusterError("Forbidden", `${formatRef(ref)} is not written: ${whyNot(rules)}`);
    const begun = turn;
    current++;
    try {
      return await write();
    } finally {
      if (begun === turn) current--;
      else if (--earlier === 0) drained();
    }
  }

  const writes = interceptWrites(cluster, (written, write) => {
    const ref = "metadata" in written ? refOf(written) : written;
    return through(ref, mayWrite(ref), write);
  });
  const statusOf = <T>(resource: Resource, write: () => Promise<T>) => through(refOf(resource), mayWriteStatuses(), write);

  return {
    cluster: {
      ...writes,
      applyStatus: (resource, options, signal) => statusOf(resource, () => cluster.applyStatus(resource, options, signal)),
      updateStatus: (resource, signal) => statusOf(resource, () => cluster.updateStatus(resource, signal)),
    },
    mayWrite,
    get mayWriteStatuses() {
      return mayWriteStatuses();
    },
    get mode() {
      return earlier > 0 ? undefined : rules?.mode;
    },
    get rules() {
      return rules;
    },
    welcomed(features) {
      if (rules === undefined && !features.includes(MODES)) told(ALL_WRITES);
    },
    setRules: told,
  };
}

function whyNot(rules: WriteRules | undefined): string {
  if (rules === undefined) return "the management server has not said yet whether this cluster is managed";
  return `this cluster is ${rules.mode === "observe" ? "observed" : "frozen"} (spec.mode of its KubernetesCluster)`;
}
