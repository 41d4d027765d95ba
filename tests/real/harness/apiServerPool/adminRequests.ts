import { Agent, request } from "node:https";
import type { ApiServerAccess } from "../apiServer.ts";

/** Requests of the administrator of one API server, over kept connections. */
export interface AdminRequests {
  get<Answer>(path: string, accept?: string): Promise<Answer>;
  /** The status and the text of an answer, whatever it says. */
  send(method: string, path: string, body?: object): Promise<{ readonly status: number; readonly text: string }>;
  close(): void;
}

/** Throws what is answered where it is no success. */
export function adminRequests({ url, ca, tokens }: Pick<ApiServerAccess, "url" | "ca" | "tokens">): AdminRequests {
  const agent = new Agent({ keepAlive: true, maxSockets: MOST_CONNECTIONS, ca });

  function ask(method: string, path: string, { accept = "application/json", body }: { accept?: string; body?: string | undefined }) {
    const headers = {
      authorization: `Bearer ${tokens.admin}`,
      accept,
      ...(body === undefined ? {} : { "content-type": "application/json", "content-length": Buffer.byteLength(body) }),
    };
    return new Promise<{ readonly status: number; readonly text: string }>((resolve, reject) => {
      request(`${url}${path}`, { method, agent, headers }, (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("end", () => resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString("utf8") }));
        response.on("error", reject);
      })
        .on("error", reject)
        .end(body);
    });
  }

  return {
    async get<Answer>(path: string, accept?: string) {
      const { status, text } = await ask("GET", path, accept === undefined ? {} : { accept });
      if (status !== OK) throw new Error(`GET ${path}: ${status} ${text.slice(0, 300)}`);
      return JSON.parse(text) as Answer;
    },
    send: (method, path, body) => ask(method, path, { body: body && JSON.stringify(body) }),
    close: () => agent.destroy(),
  };
}

const OK = 200;
const MOST_CONNECTIONS = 8;
