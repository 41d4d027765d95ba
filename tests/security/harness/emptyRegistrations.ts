import type { Registrations } from "@isthmus/relay";

/** Registrations in memory, of a plane where nobody has registered yet. */
export function emptyRegistrations(): Registrations {
  const uids = new Map<string, string>();
  const find = async (name: string) => {
    const uid = uids.get(name);
    return uid === undefined ? undefined : { uid };
  };
  return {
    find,
    lastKnown: find,
    past: async (name) => ({ wasRegistered: uids.has(name), others: [] }),
    sharedTokenOpens: async () => "NEW_NAMES",
    async register({ clusterName, clusterUid }) {
      uids.set(clusterName, clusterUid);
    },
    remember: async () => undefined,
  };
}
