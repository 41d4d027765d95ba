import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer, request } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createRoot, issueServerCertificate } from "@isthmus/certificates";
import type { ApiServer } from "./apiServer.ts";

/** What an API server answers. */
export interface ApiAnswer {
  readonly status: number;
  readonly body: string;
}

/** What is asked of an API server. */
export interface Asked {
  readonly method: string;
  readonly path: string;
}

/** Answers in place of an API server, which may be asked itself. */
export type Alteration = (asked: Asked, real: () => Promise<ApiAnswer>) => Promise<ApiAnswer>;

/** A real API server that answers some things otherwise: as an older one would, or one whose clock is off. */
export interface AlteredApiServer {
  readonly url: string;
  /** Path of a kubeconfig of an administrator. */
  readonly kubeconfig: string;
  close(): Promise<void>;
}

/** Stands before an API server until closed. Watches are not for it: an answer is altered when it is complete. */
export async function startAlteredApiServer(server: ApiServer, name: string, alter: Alteration): Promise<AlteredApiServer> {
  const now = Date.now();
  const root = await createRoot({ commonName: name, now });
  const { certificate: cert, key } = await issueServerCertificate(root, { dnsNames: ["localhost"], now });
  const ca = clusterIn(readFileSync(server.kubeconfig, "utf8"))["certificate-authority-data"];
  const front = createServer({ cert, key }, (asked, answer) => {
    void pass(asked, answer).catch(() => answer.destroy());
  }).listen(0, "localhost");

  async function pass(asked: IncomingMessage, answer: ServerResponse): Promise<void> {
    const { method = "GET", url: path = "/" } = asked;
    // Compressed, its text could not be read.
    const { "accept-encoding": _, host: __, ...headers } = asked.headers;
    const body = await textOf(asked);
    const { status, body: altered } = await alter({ method, path }, async () => {
      const far = request(new URL(path, server.url), { method, headers, ca: Buffer.from(ca, "base64") });
      far.end(body);
      const [response] = (await once(far, "response")) as [IncomingMessage];
      return { status: response.statusCode ?? 500, body: await textOf(response) };
    });
    answer.writeHead(status, { "content-type": "application/json" });
    answer.end(altered);
  }

  await once(front, "listening");
  const url = `https://localhost:${(front.address() as AddressInfo).port}`;
  const kubeconfig = join(server.kubeconfig, "..", `${name}-kubeconfig`);
  const text = readFileSync(server.kubeconfig, "utf8");
  const given = JSON.parse(text) as { clusters: { cluster: ClusterFields }[] };
  for (const entry of given.clusters) {
    entry.cluster = { server: url, "certificate-authority-data": Buffer.from(root.certificate).toString("base64") };
  }
  writeFileSync(kubeconfig, JSON.stringify(given), { mode: 0o600 });
  return {
    url,
    kubeconfig,
    async close() {
      front.closeAllConnections();
      await new Promise((resolve) => front.close(resolve));
    },
  };
}

interface ClusterFields {
  readonly server: string;
  readonly "certificate-authority-data": string;
}

function clusterIn(kubeconfig: string): ClusterFields {
  const { clusters } = JSON.parse(kubeconfig) as { readonly clusters: readonly { readonly cluster: ClusterFields }[] };
  const [first] = clusters;
  if (first === undefined) throw new Error("a kubeconfig without clusters");
  return first.cluster;
}

async function textOf(message: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}

/** Answers as an API server whose clock is ahead by so much would. */
export function clockAhead(ms: number): Alteration {
  return async (_, real) => {
    const { status, body } = await real();
    const shifted = (time: string): string => new Date(Date.parse(time) + ms).toISOString().replace(/\.\d+Z$/, "Z");
    return {
      status,
      body: body.replace(/"creationTimestamp":"([^"]+)"/g, (_whole, time: string) => `"creationTimestamp":"${shifted(time)}"`),
    };
  };
}

/** Answers as one of another version would. */
export function ofVersion(gitVersion: string): Alteration {
  return async ({ path }, real) => {
    const { status, body } = await real();
    return { status, body: path === "/version" ? JSON.stringify({ ...(JSON.parse(body) as object), gitVersion }) : body };
  };
}

/** Refuses some requests, as an admission webhook does. */
export function denying(isDenied: (asked: Asked) => boolean, message: string): Alteration {
  const status = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message, reason: "Forbidden", code: 403 };
  return async (asked, real) => (isDenied(asked) ? { status: 403, body: JSON.stringify(status) } : real());
}
