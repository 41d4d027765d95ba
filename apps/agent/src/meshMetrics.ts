import type { MeshScrape } from "@isthmus/dataplane";

/** Answers a query that came as JSON. Throws before this replica leads: only the leader is asked. */
export function answerMeshMetrics(scrape: MeshScrape | undefined, body: Uint8Array): Uint8Array {
  if (scrape === undefined) throw new Error("this agent does not scrape proxies yet");
  return scrape.answer(body);
}
