import type { ConsoleServerVersion } from "@isthmus/console/wire";
import { minorSkew, skewOf } from "@isthmus/core";
import { t } from "../../strings.ts";

/** How the version of an agent goes together with those of the servers that run. */
export interface AgentSkew {
  /** Beside its version: `=` for the same minor version, or by how many it is newer. */
  readonly mark: string;
  readonly isSupported: boolean;
}

/** Compared with the server that is farthest from it, where several versions run; undefined: one of the two is not known, so that nothing can be said. */
export function agentSkew(agent: string | undefined, servers: readonly ConsoleServerVersion[] | undefined): AgentSkew | undefined {
  if (agent === undefined) return undefined;
  const found = (servers ?? []).flatMap(({ version }): readonly (AgentSkew & { readonly distance: number })[] => {
    if (version === undefined) return [];
    const skew = skewOf(agent, version);
    if (skew === "unknown") return version === agent ? [{ mark: "=", isSupported: true, distance: 0 }] : [];
    const minors = minorSkew(agent, version);
    if (minors === undefined) return [{ mark: t.clusters.otherMajor, isSupported: false, distance: Number.POSITIVE_INFINITY }];
    const mark = minors === 0 ? "=" : `(${minors > 0 ? "+" : "-"}${Math.abs(minors)})`;
    return [{ mark, isSupported: skew === "supported", distance: Math.abs(minors) }];
  });
  const [farthest] = found.sort((a, b) => Number(a.isSupported) - Number(b.isSupported) || b.distance - a.distance);
  return farthest && { mark: farthest.mark, isSupported: farthest.isSupported };
}

/** Which versions of the server run, in words; undefined: it is not known. `isMixed`: more than one, or some do not say. */
export function serversText(
  servers: readonly ConsoleServerVersion[] | undefined,
): { readonly text: string; readonly isMixed: boolean } | undefined {
  const known = (servers ?? []).filter(({ version }) => version !== undefined);
  const [first] = known;
  if (servers === undefined || first?.version === undefined) return undefined;
  if (servers.length === 1) return { text: t.clusters.servers(first.version, first.replicas), isMixed: false };
  const parts = known.map(({ version = "", replicas }) => t.clusters.serversOf(version, replicas));
  const silent = servers.filter(({ version }) => version === undefined).reduce((sum, { replicas }) => sum + replicas, 0);
  return { text: t.clusters.serversDiffer([...parts, ...(silent === 0 ? [] : [t.clusters.serversSilent(silent)])]), isMixed: true };
}
