import { isIP } from "node:net";

/** Whether an address to listen on can be reached from this machine alone. Names are not: they may mean anything. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."));
}

/**
 * Whether a Host header names this machine, as a browser here or behind a port-forward sends it. Any other name that leads here is one of a page elsewhere, which
 * would read what is shown here as if it were its own (DNS rebinding).
 */
export function isLoopbackHost(header: string | undefined): boolean {
  const [, name] = /^(\[::1\]|[\w.-]{1,64})(?::\d{1,5})?$/.exec(header ?? "") ?? [];
  return name !== undefined && (name === "[::1]" || isLoopback(name.toLowerCase()));
}
