import { vi } from "vitest";

/** What `check` returns once it throws nothing. Its limit of a minute is for what never comes: on a busy machine everything comes late. */
export function eventually<T>(check: () => T | Promise<T>): Promise<T> {
  return vi.waitFor(check, { timeout: 60_000, interval: 10 });
}
