import type { ConnectRequest, ConnectResponse } from "../gen/relay/v1/relay_pb.ts";
import type { Peer, Stream } from "./connection.ts";
import { MAX_QUESTIONS, type Question, type Reply } from "./questions.ts";
import type { ServerSession } from "./serverSession.ts";

/** One stream. It belongs to its cluster from its hello to its end. */
export interface LiveStream {
  readonly peer: Peer;
  readonly stream: Stream<ConnectResponse>;
  readonly life: AbortController;
  readonly questions: Map<number, (reply: Reply) => void>;
  session: ServerSession;
  isWritable: boolean;
  isPumping: boolean;
  /** The hello of an agent that waits to be let in. */
  hello: ConnectRequest | undefined;
  /** Gives its place back to whoever waits. */
  leave(): void;
  rearm(): void;
}

/** What puts a question to an agent, and gives the number under which it will be answered; undefined when its stream has just ended. */
export type QuestionSender = (live: LiveStream, question: Question) => number | undefined;

/** Asks the agent of a stream. Rejects when it has too much to answer, says why it has no answer, or goes away. */
export function askOver(
  live: LiveStream,
  question: Question,
  { ask, signal }: { readonly ask: QuestionSender; readonly signal: AbortSignal },
): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const { clusterName } = live.peer;
    if (live.questions.size >= MAX_QUESTIONS) throw new Error(`${clusterName} already has ${live.questions.size} unanswered questions`);
    const id = ask(live, question);
    if (id === undefined) throw new Error(`the agent of ${clusterName} disconnected`);
    const abort = () => {
      live.questions.delete(id);
      reject(signal.reason);
    };
    signal.addEventListener("abort", abort, { once: true });
    live.questions.set(id, (reply) => {
      signal.removeEventListener("abort", abort);
      if ("error" in reply) reject(new Error(reply.error));
      else resolve(reply.body);
    });
  });
}
