import { deliveredKinds, isNamedIn, type KubernetesCluster, type ManagedObject, managedObjectsOf, writeModeOf } from "@isthmus/api";
import { nearestName, UsageError } from "@isthmus/core";
import { updateRegistration } from "./annotate.ts";
import type { NamedMode } from "./clusterMode.ts";

/** `KIND/NAMESPACE/NAME`, where `*` is any: an object that is written although its cluster is observed. Throws UsageError. */
export function managedObjectNamed(text: string): ManagedObject {
  const [kind = "", namespace = "", name = "", ...rest] = text.split("/");
  if ([kind, namespace, name].includes("") || rest.length > 0) {
    throw new UsageError(`--only ${text}: must be KIND/NAMESPACE/NAME, such as VirtualService/bookinfo/reviews, where * is any`);
  }
  for (const part of [namespace, name]) {
    if (part !== ANY && !/^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/.test(part)) {
      throw new UsageError(`--only ${text}: ${part} is no name of a Kubernetes object, and not * for any`);
    }
  }
  return { kind: kindNamed(kind, text), namespace, name };
}

function kindNamed(word: string, text: string): string {
  if (word === ANY) return word;
  const kinds = deliveredKinds();
  const found = kinds.find(({ kind, plural }) => [kind.toLowerCase(), plural].includes(word.toLowerCase()));
  if (found !== undefined) return found.kind;
  const nearest = nearestName(
    word,
    kinds.map(({ kind }) => kind),
  );
  throw new UsageError(
    `--only ${text}: ${word} is no kind that is written in clusters${nearest === undefined ? "" : `: did you mean ${nearest}?`}`,
  );
}

/** Has these objects written in an observed cluster, too. Gives what is named then. Throws UsageError where the mode is another. */
export async function manageObjects(
  target: Omit<NamedMode, "mode">,
  objects: readonly ManagedObject[],
  signal: AbortSignal,
): Promise<readonly ManagedObject[]> {
  return changed(target, signal, (before) => {
    const added = objects.filter((object) => !isNamedIn(before, object));
    const after = [...before, ...added];
    if (after.length > MOST) {
      throw new UsageError(
        `cluster ${target.name}: spec.managedObjects would have ${after.length} entries, at most ${MOST} are allowed: use * for any name`,
      );
    }
    return after;
  });
}

/** Has these objects no longer written in an observed cluster; what is in it stays. Throws UsageError for one that is not named. */
export async function releaseObjects(
  target: Omit<NamedMode, "mode">,
  objects: readonly ManagedObject[],
  signal: AbortSignal,
): Promise<readonly ManagedObject[]> {
  return changed(target, signal, (before) => {
    for (const object of objects) {
      if (before.some((one) => textOf(one) === textOf(object))) continue;
      const covering = before.find((one) => isNamedIn([one], object));
      const why =
        covering === undefined ? "is not in spec.managedObjects" : `is written because of the entry ${textOf(covering)}: name that`;
      throw new UsageError(`cluster ${target.name}: ${textOf(object)} ${why}`);
    }
    const gone = new Set(objects.map(textOf));
    return before.filter((one) => !gone.has(textOf(one)));
  });
}

async function changed(
  { cluster, ...ref }: Omit<NamedMode, "mode">,
  signal: AbortSignal,
  change: (before: readonly ManagedObject[]) => readonly ManagedObject[],
): Promise<readonly ManagedObject[]> {
  let after: readonly ManagedObject[] = [];
  await updateRegistration(
    cluster,
    ref,
    (found) => {
      requireObserved(found);
      after = change(managedObjectsOf(found));
      const { managedObjects: _, ...spec } = found.spec ?? {};
      return { ...found, spec: { ...spec, ...(after.length === 0 ? {} : { managedObjects: [...after] }) } };
    },
    signal,
  );
  return after;
}

function requireObserved(found: KubernetesCluster): void {
  const { name } = found.metadata;
  const observe = `meshctl cluster pause ${name} --observe`;
  switch (writeModeOf(found)) {
    case "observe":
      return;
    case "manage":
      throw new UsageError(`cluster ${name} is managed, so everything is written in it: --only is for mode observe (${observe})`);
    case "freeze":
      throw new UsageError(
        `cluster ${name} is frozen, so nothing is written in it: --only is for mode observe (${observe}), which withdraws its services from other clusters`,
      );
  }
}

/** As it is named on the command line. */
export function textOf({ kind, namespace, name }: ManagedObject): string {
  return `${kind}/${namespace}/${name}`;
}

const ANY = "*";
// As the schema has it.
const MOST = 256;
