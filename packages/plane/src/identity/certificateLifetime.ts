import { nanosecondsOf, Settings } from "@isthmus/api";
import type { Informer } from "../informer/informer.ts";

const [LEAST_MS, MOST_MS] = [60_000, 8_760 * 3_600_000] as const;

// Source: decisions on the relay, “24 h by default”.
const DEFAULT_MS = 24 * 3_600_000;

/** How long agents' certificates live, as `Settings` say it now, in milliseconds. */
export function agentCertificateLifetimeMs({ snapshot }: Pick<Informer, "snapshot">, namespace: string): number {
  const said = snapshot.of(Settings).get({ name: "settings", namespace, clusterName: "" })?.spec?.relay?.agentCertificateLifetime;
  const nanoseconds = said === undefined ? undefined : nanosecondsOf(said);
  return nanoseconds === undefined ? DEFAULT_MS : Math.min(MOST_MS, Math.max(LEAST_MS, nanoseconds / 1e6));
}
