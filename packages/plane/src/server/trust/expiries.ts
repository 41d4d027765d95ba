import type { Metric } from "@isthmus/core";
import type { CertificateEntry } from "./certificateInventory.ts";

/** When the first certificate or token of each use expires in each cluster, as figures. Tokens that have ended open nothing any more: they are left out. */
export function expiryMetrics(entries: readonly CertificateEntry[]): readonly Metric[] {
  const first = new Map<string, { readonly labels: { readonly cluster: string; readonly use: string }; readonly value: number }>();
  for (const { use, cluster, notAfter, state } of entries) {
    if (notAfter === undefined || (use === "joinToken" && state === "EXPIRED")) continue;
    const key = `${use}/${cluster}`;
    const value = Date.parse(notAfter) / 1000;
    if (value < (first.get(key)?.value ?? Number.POSITIVE_INFINITY)) first.set(key, { labels: { cluster, use }, value });
  }
  return [...first.values()].map((metric) => ({ name: "gloo_mesh_certificate_expiry_timestamp_seconds", ...metric }));
}
