import type { PeerAuthentication } from "@isthmus/api";
import { compareKeys, matchesLabels } from "@isthmus/core";

/** Whether a port takes connections with mutual TLS, without it, or both. */
export type PeerTlsMode = "STRICT" | "PERMISSIVE" | "DISABLE";

/** Pods, as PeerAuthentications select them. */
export interface AskedPods {
  readonly labels: Readonly<Record<string, string>>;
  readonly namespace: string;
  readonly rootNamespace: string;
}

/** A mode, and the object that sets it; undefined: Istio's default. */
export interface ModeInForce {
  readonly mode: PeerTlsMode;
  readonly by: PeerAuthentication | undefined;
}

/**
 * The mode of a port of pods: of the object that selects them, else of that for their namespace, else of that for the mesh; of several the oldest.
 * A selector in the root namespace counts nowhere. Source: istio.io/istio pilot/pkg/security/authn/policy_applier.go, ComposePeerAuthentication.
 */
export function peerTlsMode(objects: readonly PeerAuthentication[], pods: AskedPods, port: number | undefined): ModeInForce {
  const selected = oldest(
    objects.filter(
      ({ metadata, spec }) => metadata.namespace === pods.namespace && pods.namespace !== pods.rootNamespace && selects(spec, pods.labels),
    ),
  );
  const ofPort = port === undefined ? undefined : modeOf(selected?.spec?.portLevelMtls?.[String(port)]);
  if (ofPort !== undefined) return { mode: ofPort, by: selected };
  const inNamespace = oldest(
    objects.filter((one) => one.metadata.namespace === pods.namespace && pods.namespace !== pods.rootNamespace && !hasSelector(one)),
  );
  const ofMesh = oldest(objects.filter((one) => one.metadata.namespace === pods.rootNamespace && !hasSelector(one)));
  for (const by of [selected, inNamespace, ofMesh]) {
    const mode = modeOf(by?.spec?.mtls);
    if (mode !== undefined) return { mode, by };
  }
  return { mode: "PERMISSIVE", by: undefined };
}

function hasSelector({ spec }: PeerAuthentication): boolean {
  return Object.keys(spec?.selector?.matchLabels ?? {}).length > 0;
}

function selects(spec: PeerAuthentication["spec"], labels: AskedPods["labels"]): boolean {
  const { matchLabels = {} } = spec?.selector ?? {};
  return Object.keys(matchLabels).length > 0 && matchesLabels(matchLabels, labels);
}

/** Absent and UNSET say nothing. */
function modeOf(mtls: { readonly mode?: string } | undefined): PeerTlsMode | undefined {
  const { mode } = mtls ?? {};
  return mode === "STRICT" || mode === "PERMISSIVE" || mode === "DISABLE" ? mode : undefined;
}

/** Of equal age, Istio takes the first that it reads, by name. */
function oldest(objects: readonly PeerAuthentication[]): PeerAuthentication | undefined {
  const age = ({ metadata }: PeerAuthentication) => metadata.creationTimestamp ?? "";
  return objects.toSorted((a, b) => compareKeys(age(a), age(b)) || compareKeys(a.metadata.name, b.metadata.name))[0];
}
