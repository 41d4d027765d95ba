import { RESUME_DELETES_TOPIC } from "../roles.ts";
import type { Agent } from "./agent.ts";

/** What the server can ask an agent: `answer` of a link's options. `agent` is asked for when a question comes, as it is made after its link. */
export function agentAnswers(agent: () => Agent): (question: { readonly topic: string }) => Promise<Uint8Array> {
  return async ({ topic }) => {
    if (topic !== RESUME_DELETES_TOPIC) throw new Error(`this agent knows no question ${topic}`);
    agent().resumeDeletes();
    return new Uint8Array();
  };
}
