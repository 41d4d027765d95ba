import { create } from "@bufbuild/protobuf";
import { type Answer, AnswerSchema } from "../gen/relay/v1/relay_pb.ts";
import { BATCH_BYTES, shortened } from "./wire.ts";

/** What a server may ask an agent, over the stream that the agent opened. The topic says what the bytes mean. */
export interface Query {
  readonly topic: string;
  readonly body: Uint8Array;
}

/** The answer to a query, or why there is none. */
export type Reply = { readonly body: Uint8Array } | { readonly error: string };

/** How many queries one agent answers at a time; more are turned down. */
export const MAX_QUERIES = 16;

/** The largest answer, in bytes: it is put together in the server's memory. */
const MAX_ANSWER_BYTES = 32 * 1024 * 1024;

/** How many messages carry the largest answer. */
export const MAX_ANSWER_PARTS = Math.ceil(MAX_ANSWER_BYTES / BATCH_BYTES);

/** A reply as the messages that carry it. */
export function answerParts(id: number, reply: Reply): Answer[] {
  if ("error" in reply) return [create(AnswerSchema, { id, part: 1, last: true, error: shortened(reply.error) || "failed" })];
  if (reply.body.length > MAX_ANSWER_BYTES) return answerParts(id, { error: `the answer is too large: ${reply.body.length} bytes` });
  const count = Math.max(1, Math.ceil(reply.body.length / BATCH_BYTES));
  return Array.from({ length: count }, (_, i) => {
    const body = reply.body.subarray(i * BATCH_BYTES, (i + 1) * BATCH_BYTES);
    return create(AnswerSchema, { id, part: i + 1, last: i + 1 === count, body });
  });
}

/** An answer of which parts are still to come. */
export interface PartialAnswer {
  readonly parts: readonly Uint8Array[];
  readonly bytes: number;
}

/** Takes the next part of an answer: the whole reply once it is there. */
export function withPart(before: PartialAnswer, { part, last, body, error }: Answer): PartialAnswer | Reply {
  if (error !== "") return { error: shortened(error) };
  const bytes = before.bytes + body.length;
  if (part !== before.parts.length + 1) return { error: `part ${part} of the answer arrived after part ${before.parts.length}` };
  if (bytes > MAX_ANSWER_BYTES) return { error: `the answer is larger than ${MAX_ANSWER_BYTES} bytes` };
  const parts = [...before.parts, body];
  return last ? { body: joined(parts, bytes) } : { parts, bytes };
}

function joined(parts: readonly Uint8Array[], bytes: number): Uint8Array {
  const whole = new Uint8Array(bytes);
  let offset = 0;
  for (const part of parts) {
    whole.set(part, offset);
    offset += part.length;
  }
  return whole;
}
