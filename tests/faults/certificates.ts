import type { Clock } from "@isthmus/core";
import { type AgentStreamHandler, type Connector, RelayError } from "@isthmus/relay/session";

/** The certificates of the agents, without any cryptography: that settles in real time. What counts here is when they expire. */
export interface Certificates {
  /** When the certificate of a cluster's agents expires, in milliseconds since 1970; undefined while it lasts. */
  expiresAt(clusterName: string): number | undefined;
  /** When the certificate of a cluster's agents was issued, in milliseconds since 1970. */
  issuedAt(clusterName: string): number;
  /** From the next connection on there is one that lasts so long. */
  issue(clusterName: string, lifeMs: number): void;
  /** There is a new one that lasts, and the open connection is replaced by one that shows it. */
  rotate(clusterName: string): void;
  /** A connector that shows the certificate of the day: an expired one is refused. */
  shown(clusterName: string, connector: Connector): Connector;
  /** Certificates that expire are renewed, as by `rotate`. */
  heal(): void;
}

export function certificates(clock: Clock): Certificates {
  const expiry = new Map<string, number>();
  const began = clock.now();
  const issues = new Map<string, number>();
  const open = new Map<string, Set<AgentStreamHandler>>();

  function rotate(clusterName: string): void {
    expiry.delete(clusterName);
    issues.set(clusterName, clock.now());
    for (const handler of open.get(clusterName) ?? []) handler.replace("the certificate has been renewed");
  }

  return {
    expiresAt: (clusterName) => expiry.get(clusterName),
    issuedAt: (clusterName) => issues.get(clusterName) ?? began,
    issue: (clusterName, lifeMs) => void expiry.set(clusterName, clock.now() + lifeMs),
    rotate,
    shown: (clusterName, connector) => ({
      async connect(handler, progress, signal) {
        if ((expiry.get(clusterName) ?? Number.POSITIVE_INFINITY) <= clock.now())
          throw new RelayError("CertificateRefused", "the agent's certificate has expired");
        const handlers = open.get(clusterName) ?? new Set();
        open.set(clusterName, handlers);
        const watching: AgentStreamHandler = {
          received: (message) => handler.received(message),
          drained: () => handler.drained(),
          replace: (reason) => handler.replace(reason),
          ended(end) {
            handlers.delete(watching);
            handler.ended(end);
          },
        };
        handlers.add(watching);
        const stream = await connector.connect(watching, progress, signal);
        return {
          send: (message) => stream.send(message),
          end(end) {
            handlers.delete(watching);
            stream.end(end);
          },
        };
      },
    }),
    // Agents renew theirs in time. A connection that shows the old one lasts as long as a server whose clock is slow lets it.
    heal() {
      for (const clusterName of [...expiry.keys()]) rotate(clusterName);
    },
  };
}
