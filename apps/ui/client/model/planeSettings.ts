import type { Fleet } from "../data/fleet.ts";
import { Settings } from "../data/kinds.ts";

/** The Settings that the servers read. */
export type PlaneSettings =
  /** They are there; or there are none, so that defaults apply. */
  | { readonly isKnown: true; readonly namespace: string; readonly spec: NonNullable<Settings["spec"]> }
  /** It is not known in which namespace they are, or they may be left out for this user. */
  | { readonly isKnown: false };

/** Those of one name in the namespace of the management plane: others may exist in other namespaces, and set nothing. */
export function planeSettings({ source, snapshot, viewer }: Pick<Fleet, "source" | "snapshot" | "viewer">): PlaneSettings {
  if (source === undefined) return { isKnown: false };
  const { namespace } = source;
  const settings = snapshot.of(Settings).get({ name: "settings", namespace, clusterName: "" });
  if (settings === undefined && viewer?.isPartial === true) return { isKnown: false };
  return { isKnown: true, namespace, spec: settings?.spec ?? {} };
}
