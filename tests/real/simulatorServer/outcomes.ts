import { execFile } from "node:child_process";
import { request as httpsRequest } from "node:https";
import { masked } from "./masked.ts";
import type { Scenario, Step } from "./step.ts";

/** An API server, as clients know it. */
export interface Target {
  readonly kubectl: string;
  /** Path of a kubeconfig, as JSON, of an administrator. */
  readonly kubeconfig: string;
  readonly url: string;
  readonly ca: string;
  readonly token: string;
  /** A folder for what kubectl keeps. */
  readonly cache: string;
}

/** What came of a step, masked. */
export interface Outcome {
  /** The exit code, or the HTTP status. */
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the steps of a scenario one after the other in a namespace. */
export async function outcomesOf(target: Target, { steps }: Scenario, namespace: string): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const step of steps) outcomes.push(await outcomeOf(target, step, namespace));
  return outcomes;
}

async function outcomeOf(target: Target, step: Step, namespace: string): Promise<Outcome> {
  const { code, stdout, stderr } = "kubectl" in step ? await runKubectl(target, step, namespace) : await send(target, step, namespace);
  return { code, stdout: masked(stdout), stderr: masked(stderr) };
}

function runKubectl(
  { kubectl, kubeconfig, cache }: Target,
  step: Extract<Step, { kubectl: unknown }>,
  namespace: string,
): Promise<Outcome> {
  const args = [
    `--kubeconfig=${kubeconfig}`,
    `--cache-dir=${cache}`,
    "-n",
    namespace,
    ...step.kubectl.map((word) => word.replaceAll("NS", namespace)),
  ];
  const env = { PATH: process.env["PATH"] ?? "", HOME: cache, ...step.env };
  return new Promise((resolve) => {
    const child = execFile(kubectl, args, { env, timeout: 30_000 }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code ?? -1), stdout, stderr });
    });
    child.stdin?.on("error", () => undefined);
    child.stdin?.end((step.input ?? "").replaceAll("NS", namespace));
  });
}

function send({ url, ca, token }: Target, step: Exclude<Step, { kubectl: unknown }>, namespace: string): Promise<Outcome> {
  const { method, path, body, type, accept = "application/json" } = step;
  const headers = {
    authorization: `Bearer ${token}`,
    accept,
    "user-agent": "steps/1",
    ...(type === undefined ? {} : { "content-type": type, "content-length": Buffer.byteLength(body?.replaceAll("NS", namespace) ?? "") }),
  };
  return new Promise((resolve) => {
    const sent = httpsRequest(new URL(path.replaceAll("NS", namespace), url), { method, headers, ca, agent: false }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => {
        text += chunk;
      });
      response.on("end", () => {
        const warnings = response.headers["warning"];
        resolve({ code: response.statusCode ?? 0, stdout: text, stderr: Array.isArray(warnings) ? warnings.join("\n") : (warnings ?? "") });
      });
    });
    sent.on("error", (error) => resolve({ code: -1, stdout: "", stderr: String(error) }));
    sent.end(body?.replaceAll("NS", namespace));
  });
}
