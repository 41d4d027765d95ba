/** How long certificates live, in milliseconds. */

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Certificates count from a little before they are made, as clocks differ; short-lived ones from a tenth of their life. */
const BACKDATED_MS = 5 * 60_000;
/**
 * Authorities of meshes from an hour before: proxies of all clusters judge them by their own clocks, and one that counts from later than
 * some of those say makes requests fail there.
 */
export const MESH_BACKDATED_MS = HOUR_MS + BACKDATED_MS;

export const ROOT_LIFETIME_MS = 3650 * DAY_MS;
export const AUTHORITY_LIFETIME_MS = 1825 * DAY_MS;
export const SERVER_LIFETIME_MS = 365 * DAY_MS;

/** Source: decisions §5.4. */
export const AGENT_LIFETIME_MS = DAY_MS;

/** From when to when a certificate lives: never beyond its authority, nor from before `earliest` (milliseconds since 1970). */
export function validity(
  now: number,
  lifetimeMs: number,
  {
    authority,
    earliest = 0,
    backdatedMs = BACKDATED_MS,
  }: {
    readonly authority?: { readonly notBefore: number; readonly notAfter: number };
    readonly earliest?: number;
    readonly backdatedMs?: number;
  } = {},
) {
  const notBefore = Math.max(now - Math.min(backdatedMs, lifetimeMs / 10), authority?.notBefore ?? 0, earliest);
  const notAfter = Math.min(now + lifetimeMs, authority?.notAfter ?? Number.POSITIVE_INFINITY);
  return { notBefore, notAfter };
}
