import { messageOf } from "@isthmus/core";
import { JOIN_TOKENS, REVOCATIONS, type Store, StoreError } from "@isthmus/ports";

/** A join token that has not been used. */
export interface StoredJoinToken {
  readonly id: string;
  /** SHA-256 of the token, in hex. The token itself is kept nowhere. */
  readonly hash: string;
  readonly cluster: string;
  /** RFC 3339 */
  readonly created: string;
  /** RFC 3339 */
  readonly expires: string;
}

/** Who may join and who no longer may, as the store mirrors it from the management cluster. */
export interface StoredMembers {
  /** By cluster, the moment from which on its certificates count. Milliseconds since 1970. */
  readonly revocations: ReadonlyMap<string, number>;
  readonly joinTokens: readonly StoredJoinToken[];
}

/** For the console and the command line, whether or not a server runs. Rejects with StoreError when the store does not answer, or holds something else. */
export async function readMembers(store: Store): Promise<StoredMembers> {
  const revocations = [...(await store.records(REVOCATIONS))].map(([clusterName, text]) => [clusterName, Number(text)] as const);
  const joinTokens = [...(await store.records(JOIN_TOKENS))].map(([id, text]) => ({ id, ...joinTokenIn(text) }));
  return { revocations: new Map(revocations.sort(byName)), joinTokens: joinTokens.sort((a, b) => (a.id < b.id ? -1 : 1)) };
}

function byName(a: readonly [string, unknown], b: readonly [string, unknown]): number {
  return a[0] < b[0] ? -1 : 1;
}

function joinTokenIn(text: string): Omit<StoredJoinToken, "id"> {
  try {
    const { hash, cluster, created, expires } = JSON.parse(text) as StoredJoinToken;
    return { hash, cluster, created, expires };
  } catch (error) {
    throw new StoreError(`the store has a join token that is not JSON: ${messageOf(error)}`, error);
  }
}
