import { readFileSync } from "node:fs";
import { request } from "node:https";
import { json } from "node:stream/consumers";
import type { ApiServer } from "./apiServer.ts";

/** One request as the administrator, for what the Cluster port has no word for; a body that is a text is sent as it is. Gives the answer's body. */
export async function requestTo(
  server: Pick<ApiServer, "url" | "kubeconfig">,
  method: string,
  path: string,
  body: unknown,
): Promise<unknown> {
  const { clusters, users } = JSON.parse(readFileSync(server.kubeconfig, "utf8")) as {
    clusters: readonly [{ cluster: { "certificate-authority-data": string } }];
    users: readonly [{ user: { token: string } }];
  };
  const ca = Buffer.from(clusters[0].cluster["certificate-authority-data"], "base64");
  const headers = { authorization: `Bearer ${users[0].user.token}`, "content-type": "application/json" };
  return new Promise((resolve, reject) => {
    const outgoing = request(`${server.url}${path}`, { method, ca, headers }, (response) => {
      json(response).then((answer) => {
        if ((response.statusCode ?? 500) < 300) resolve(answer);
        else reject(new Error(`${method} ${path}: ${JSON.stringify(answer)}`));
      }, reject);
    });
    outgoing.on("error", reject).end(typeof body === "string" ? body : JSON.stringify(body));
  });
}
