import type { ConnectRequest, ConnectResponse } from "../gen/relay/v1/relay_pb.ts";
import type { Peer, Stream } from "./connection.ts";
import { MAX_QUERIES, type Query, type Reply } from "./queries.ts";
import type { ServerSession } from "./serverSession.ts";

/** One stream. It belongs to its cluster from its hello to its end. */
export interface LiveStream {
  readonly peer: Peer;
  readonly stream: Stream<ConnectResponse>;
  readonly life: AbortController;
  readonly queries: Map<number, (reply: Reply) => void>;
  session: ServerSession;
  isWritable: boolean;
  isPumping: boolean;
  /** The hello of an agent that waits to be let in. */
  hello: ConnectRequest | undefined;
  /** Gives its place back to the one who waits. */
  leave(): void;
  rearm(): void;
}

/** What puts a query to an agent, and gives the number under which it will be answered; undefined when its stream has just ended. */
export type QuerySender = (live: LiveStream, query: Query) => number | undefined;

/** Asks the agent of a stream. Rejects when it has too much to answer, says why it has no answer, or goes away. */
export function askOver(
  live: LiveStream,
  query: Query,
  { ask, signal }: { readonly ask: QuerySender; readonly signal: AbortSignal },
): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const { clusterName } = live.peer;
    if (live.queries.size >= MAX_QUERIES) throw new Error(`${clusterName} already has ${live.queries.size} unanswered queries`);
    const id = ask(live, query);
    if (id === undefined) throw new Error(`the agent of ${clusterName} disconnected`);
    const abort = () => {
      live.queries.delete(id);
      reject(signal.reason);
    };
    signal.addEventListener("abort", abort, { once: true });
    live.queries.set(id, (reply) => {
      signal.removeEventListener("abort", abort);
      if ("error" in reply) reject(new Error(reply.error));
      else resolve(reply.body);
    });
  });
}
