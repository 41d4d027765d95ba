import type { Probe } from "./registerAgent.ts";

/** Tries the management server from this machine, as an agent would. */
export const probeRelay: Probe = async ({ host, port, authority }, root) => {
  // Loaded last: gRPC takes as long as all the rest.
  const { probeServer } = await import("@isthmus/relay");
  const { RelayError } = await import("@isthmus/relay/session");
  try {
    await probeServer({ host, port, authority, root }, PROBE_MS);
    return undefined;
  } catch (error) {
    if (!(error instanceof RelayError)) throw error;
    return { isAnswered: error.code !== "Unreachable", message: error.message };
  }
};

const PROBE_MS = 5_000;
