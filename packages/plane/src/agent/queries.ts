import { RESUME_DELETES_TOPIC } from "../apply/resumeDeletesTopic.ts";
import type { Agent } from "./agent.ts";

/** A query by its topic and what comes with it. */
interface Query {
  readonly topic: string;
  readonly body: Uint8Array;
}

/**
 * What the server can ask an agent: `answer` of a link's options. `agent` is asked for when a query comes, as it is made after its link;
 * `others` are answers to topics that are not the agent's own. Rejects for any other topic.
 */
export function answerQuery(
  agent: () => Pick<Agent, "resumeDeletes">,
  others: Readonly<Record<string, (body: Uint8Array) => Uint8Array | Promise<Uint8Array>>> = {},
): (query: Query) => Promise<Uint8Array> {
  return async ({ topic, body }) => {
    const other = Object.hasOwn(others, topic) ? others[topic] : undefined;
    if (other !== undefined) return other(body);
    if (topic !== RESUME_DELETES_TOPIC) throw new Error(`this agent does not support the query ${topic}: upgrade it`);
    agent().resumeDeletes();
    return new Uint8Array();
  };
}
