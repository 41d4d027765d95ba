import { readFileSync } from "node:fs";
import { Agent, request } from "node:https";
import { join } from "node:path";
import type { NodePlan } from "../names.ts";

/** An object, as far as what a cloud does needs it. */
export interface CloudObject {
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly uid: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
}

/** The API server of a node, as its administrator. */
export interface CloudApi {
  /** The objects of a list; throws Error where it cannot be read. */
  list<T extends CloudObject>(path: string): Promise<readonly T[]>;
  /** Sends an object; throws Error for an answer that is none of success, not found or conflict. */
  send(method: "POST" | "PATCH" | "DELETE", path: string, body?: object): Promise<void>;
}

/** Reads and writes at the API server of a node, from inside it. */
export function cloudApi({ pki }: NodePlan): CloudApi {
  const read = (name: string) => readFileSync(join(pki, name));
  const agent = new Agent({ keepAlive: true, maxSockets: 1, ca: read("ca.crt"), cert: read("admin.crt"), key: read("admin.key") });
  const call = async (method: string, path: string, body?: object): Promise<{ readonly status: number; readonly text: string }> => {
    const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
    return new Promise((resolve, reject) => {
      const sent = request(
        { host: "127.0.0.1", port: 6443, method, path, agent, headers: { "content-type": type }, timeout: 10_000 },
        (answer) => {
          let text = "";
          answer.setEncoding("utf8").on("data", (part: string) => {
            text += part;
          });
          answer.on("end", () => resolve({ status: answer.statusCode ?? 0, text }));
        },
      );
      sent.on("timeout", () => sent.destroy(new Error("no answer within 10 s")));
      sent.on("error", reject);
      sent.end(body === undefined ? undefined : JSON.stringify(body));
    });
  };
  return {
    async list<T extends CloudObject>(path: string): Promise<readonly T[]> {
      const { status, text } = await call("GET", path);
      if (status !== 200) throw new Error(`GET ${path}: ${status}`);
      return (JSON.parse(text) as { readonly items?: readonly T[] }).items ?? [];
    },
    async send(method, path, body) {
      const { status, text } = await call(method, path, body);
      if (status >= 300 && status !== 404 && status !== 409) throw new Error(`${method} ${path}: ${status} ${text.slice(0, 300)}`);
    },
  };
}
