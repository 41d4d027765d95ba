import type { JoinTokens } from "@isthmus/relay";

/** With it every cluster of a fleet joins that is registered beforehand: a join token that is not used up. */
export const FLEET_TOKEN = "join-token-of-the-whole-fleet-of-a-benchmark";

export const fleetTokens: JoinTokens = {
  find: async (token) => (token === FLEET_TOKEN ? { createdAt: Date.now(), use: async () => true } : undefined),
};
