import { vi } from "vitest";

/**
 * What `check` returns once it throws nothing; it is called every `interval` milliseconds. The limit of five minutes is for what never
 * comes: on a busy machine everything comes late.
 */
export function eventually<T>(check: () => T | Promise<T>, { interval = 10 }: { readonly interval?: number } = {}): Promise<T> {
  return vi.waitFor(check, { timeout: 300_000, interval });
}
