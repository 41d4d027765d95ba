import { readFileSync } from "node:fs";
import { request } from "node:https";
import { text } from "node:stream/consumers";
import type { ApiServer } from "./apiServer.ts";

/** One request as the administrator, for what the Cluster port has no word for; a body that is a text is sent as it is. Gives the answer's body. */
export async function requestTo(
  server: Pick<ApiServer, "url" | "kubeconfig">,
  method: string,
  path: string,
  body: unknown,
): Promise<unknown> {
  const { code, answer } = await answerTo(server, method, path, body);
  if (code < 300) return answer;
  throw new Error(`${method} ${server.url}${path}: ${code} ${JSON.stringify(answer)}`);
}

/** The HTTP status of the answer to one request without a body, as the user of the kubeconfig. */
export async function statusOf(server: Pick<ApiServer, "url" | "kubeconfig">, method: string, path: string): Promise<number> {
  return (await answerTo(server, method, path, undefined)).code;
}

async function answerTo(
  server: Pick<ApiServer, "url" | "kubeconfig">,
  method: string,
  path: string,
  body: unknown,
): Promise<{ readonly code: number; readonly answer: unknown }> {
  const { clusters, users } = JSON.parse(readFileSync(server.kubeconfig, "utf8")) as {
    clusters: readonly [{ cluster: { "certificate-authority-data": string } }];
    users: readonly [{ user: { token: string } }];
  };
  const ca = Buffer.from(clusters[0].cluster["certificate-authority-data"], "base64");
  const content = body === undefined ? "" : typeof body === "string" ? body : JSON.stringify(body);
  const headers = {
    authorization: `Bearer ${users[0].user.token}`,
    // By itself Node gives the length of the body of no GET or DELETE: the server would take the body for the next request of the connection.
    ...(content === "" ? {} : { "content-type": "application/json", "content-length": Buffer.byteLength(content) }),
  };
  return new Promise((resolve, reject) => {
    const outgoing = request(`${server.url}${path}`, { method, ca, headers }, (response) => {
      const code = response.statusCode ?? 500;
      text(response)
        .then((answer) => {
          resolve({ code, answer: isJson(response.headers["content-type"]) ? JSON.parse(answer) : answer });
        })
        .catch(reject);
    });
    outgoing.on("error", reject).end(content);
  });
}

/** An API server says in plain text that it serves no such path. */
function isJson(contentType = ""): boolean {
  return contentType.startsWith("application/json");
}
