import { probeServer } from "@isthmus/relay";
import { RelayError } from "@isthmus/relay/session";
import type { Probe } from "./registerAgent.ts";

/** Tries the management server from this machine, as an agent would. */
export const probeRelay: Probe = async ({ host, port, authority }, root) => {
  try {
    await probeServer({ host, port, authority, root }, PROBE_MS);
    return undefined;
  } catch (error) {
    if (!(error instanceof RelayError)) throw error;
    return { isAnswered: error.code !== "Unreachable", message: error.message };
  }
};

const PROBE_MS = 5_000;
