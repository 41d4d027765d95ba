import type { KubernetesCluster } from "./kubernetesCluster.ts";

/** What the management plane may write in a cluster: everything, what the registration names, or nothing. */
export type WriteMode = "manage" | "observe" | "freeze";

/** The words of `spec.mode`. */
const WRITE_MODES: readonly WriteMode[] = ["manage", "observe", "freeze"];

/** Stands for any kind, namespace or name in `spec.managedObjects`. */
const ANY_OBJECT = "*";

/** An object that is written although its cluster is observed. */
export interface ManagedObject {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

/** The mode of a word; a word that is not known means the narrowest one. */
function writeModeFrom(word: string): WriteMode {
  return WRITE_MODES.find((mode) => mode === word) ?? "freeze";
}

/** The mode of a registered cluster: `manage` where nothing is said. */
export function writeModeOf({ spec }: Pick<KubernetesCluster, "spec">): WriteMode {
  return spec?.mode === undefined ? "manage" : writeModeFrom(spec.mode);
}

/**
 * Which objects a registration names; an entry that lacks a member, or has one that is not known, names none: it could have been meant
 * narrower.
 */
export function managedObjectsOf({ spec }: Pick<KubernetesCluster, "spec">): readonly ManagedObject[] {
  return (spec?.managedObjects ?? []).flatMap(({ kind, namespace, name, ...unknown }) =>
    isName(kind) && isName(namespace) && isName(name) && Object.keys(unknown).length === 0 ? [{ kind, namespace, name }] : [],
  );
}

// Kubernetes: no name is longer.
const MAX_NAME = 253;

function isName(text: string | undefined): text is string {
  return text !== undefined && text !== "" && text.length <= MAX_NAME;
}

/** Whether one of `entries` names the object. */
export function isNamedIn(entries: readonly ManagedObject[], object: ManagedObject): boolean {
  return entries.some(
    ({ kind, namespace, name }) => matches(kind, object.kind) && matches(namespace, object.namespace) && matches(name, object.name),
  );
}

function matches(word: string, value: string): boolean {
  return word === ANY_OBJECT || word === value;
}
