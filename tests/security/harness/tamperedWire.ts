import type { Connector } from "@isthmus/relay/session";

/** Stands in an object for what JSON.stringify itself would not survive, or would not write. */
export function placeholder(name: string): string {
  return `to be replaced: ${name}`;
}

/** An agent's connector that puts texts in the place of placeholders, and their quotes: an agent that was taken over. */
export function tamperedConnector(connector: Connector, texts: ReadonlyMap<string, string>): Connector {
  return {
    async connect(handler, progress, signal) {
      const stream = await connector.connect(handler, progress, signal);
      return {
        ...stream,
        send(message) {
          if (message.body.case === "up") {
            for (const upsert of message.body.value.upserts) {
              const text = new TextDecoder().decode(upsert.json);
              upsert.json = new TextEncoder().encode(
                text.replace(/"to be replaced: ([^"]*)"/, (_, name: string) => texts.get(name) ?? "null"),
              );
            }
          }
          return stream.send(message);
        },
      };
    },
  };
}
