import { readFileSync } from "node:fs";
import { Agent, request } from "node:https";
import { kindOf } from "@isthmus/api";
import type { AnyResource } from "@isthmus/core";

/** What an API server says of an object. */
export interface Verdict {
  /** Why it does not take the object; undefined when it does. */
  readonly refusal?: string;
  readonly warnings: readonly string[];
}

/** An API server that is asked, and stores nothing. */
export interface Judge {
  judge(object: AnyResource): Promise<Verdict>;
  close(): void;
}

interface KubeconfigFile {
  readonly clusters: readonly { readonly cluster: { readonly server: string; readonly "certificate-authority-data": string } }[];
  readonly users: readonly { readonly user: { readonly token: string } }[];
}

/** The API server of a kubeconfig in JSON: schema with strict field validation, then admission webhooks. */
export function judgeOf(kubeconfigPath: string): Judge {
  const { clusters, users } = JSON.parse(readFileSync(kubeconfigPath, "utf8")) as KubeconfigFile;
  const [cluster, user] = [clusters[0]?.cluster, users[0]?.user];
  if (cluster === undefined || user === undefined) throw new Error(`${kubeconfigPath} names no cluster and user`);
  const agent = new Agent({ ca: Buffer.from(cluster["certificate-authority-data"], "base64"), keepAlive: true, maxSockets: 8 });
  const headers = { authorization: `Bearer ${user.token}`, "content-type": "application/apply-patch+yaml" };

  return {
    close: () => agent.destroy(),
    judge(object) {
      const { clusterName, ...metadata } = object.metadata;
      const url = `${cluster.server}${pathOf(object)}?fieldManager=gloo-mesh&force=true&dryRun=All&fieldValidation=Strict`;
      return new Promise((resolve, reject) => {
        const patch = request(url, { method: "PATCH", agent, headers }, (response) => {
          const chunks: Buffer[] = [];
          response.on("data", (chunk: Buffer) => chunks.push(chunk));
          response.on("error", reject);
          response.on("end", () => {
            const warnings = [response.headers["warning"] ?? []].flat().map((text) => String(text));
            const isTaken = (response.statusCode ?? 500) < 300;
            resolve(isTaken ? { warnings } : { refusal: messageIn(Buffer.concat(chunks).toString()), warnings });
          });
        });
        patch.on("error", reject);
        patch.end(JSON.stringify({ ...object, metadata }));
      });
    },
  };
}

function pathOf({ apiVersion, kind, metadata }: AnyResource): string {
  const plural = kindOf(apiVersion, kind)?.plural;
  if (plural === undefined) throw new Error(`${apiVersion} ${kind} is no kind of ours`);
  return `/apis/${apiVersion}/namespaces/${metadata.namespace}/${plural}/${encodeURIComponent(metadata.name)}`;
}

function messageIn(body: string): string {
  try {
    return (JSON.parse(body) as { readonly message?: string }).message ?? body;
  } catch {
    return body;
  }
}
