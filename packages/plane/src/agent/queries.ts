import { RESUME_DELETES_TOPIC } from "../apply/resumeDeletesTopic.ts";
import type { Agent } from "./agent.ts";

/** What the server can ask an agent: `answer` of a link's options. `agent` is asked for when a query comes, as it is made after its link. */
export function answerQuery(agent: () => Agent): (query: { readonly topic: string }) => Promise<Uint8Array> {
  return async ({ topic }) => {
    if (topic !== RESUME_DELETES_TOPIC) throw new Error(`this agent does not support the query ${topic}: upgrade it`);
    agent().resumeDeletes();
    return new Uint8Array();
  };
}
