import { contributedKinds, customResourceDefinitions, deliveredKinds, isInstalled } from "@isthmus/api";
import { type AnyResource, kindKeyOf } from "@isthmus/core";

/** The CRDs of our own kinds that an agent reads or writes. */
export function agentDefinitions(): readonly AnyResource[] {
  const kinds = new Set([...deliveredKinds(), ...contributedKinds()].filter(isInstalled).map(kindKeyOf));
  return (customResourceDefinitions() as readonly AnyResource[]).filter((crd) => kinds.has(kindOfDefinition(crd)));
}

/** The kind (`kindKeyOf`) that a CRD defines. */
export function kindOfDefinition(crd: AnyResource): string {
  const { group, names } = crd["spec"] as unknown as { readonly group: string; readonly names: { readonly kind: string } };
  return `${group}/${names.kind}`;
}
