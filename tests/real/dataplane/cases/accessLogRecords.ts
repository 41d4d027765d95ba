import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { AnyResource } from "@isthmus/core";
import type { AccessLogAnswer } from "@isthmus/dataplane";
import { describe, expect, it } from "vitest";
import { type Program, startProgram } from "../../harness/childProcess.ts";
import { waitFor } from "../../harness/waitFor.ts";
import type { Meshes } from "../harness/meshes.ts";
import { settings } from "../harness/resources.ts";
import { projectRoot } from "../harness/shared.ts";
import type { Testbed } from "../harness/testbed.ts";

const reviews = "reviews.bookinfo.svc.cluster.local";
// The network of the control plane of cluster-1, which pods reach.
const AGENT = { host: "10.70.1.2", port: 9977 };
// Envoy sends what it has each second.
const SEEN_MS = 2_000;
const TIMEOUT_MS = 240_000;

function record(name: string, spec: object): AnyResource {
  const metadata = { name, namespace: "gloo-mesh" };
  return { apiVersion: "observability.enterprise.mesh.gloo.solo.io/v1", kind: "AccessLogRecord", metadata, spec };
}

export function accessLogRecordCases(meshes: () => Meshes, testbed: () => Testbed): void {
  describe("access log records", () => {
    const withAgent = settings({ mtls: { istio: { tlsMode: "ISTIO_MUTUAL" } }, agentServices: { address: `${AGENT.host}:${AGENT.port}` } });
    const failed = record("failed", {
      workloadSelectors: [{ kubeWorkloadMatcher: { labels: { app: "productpage" }, namespaces: ["bookinfo"], clusters: ["cluster-1"] } }],
      filters: [
        { statusCodeMatcher: { value: 500, comparator: "GE" } },
        { headerMatcher: { name: "X-Debug", value: "o[nk]", regex: true } },
      ],
      includedRequestHeaders: ["X-Debug", "Authorization"],
    });

    async function withSink(use: (answer: () => AccessLogAnswer) => Promise<void>): Promise<void> {
      const { command, env } = testbed().network("cluster-1");
      const [first = "", ...rest] = command;
      const script = fileURLToPath(new URL("../harness/accessLogPrinter.ts", import.meta.url));
      const node = [process.execPath, join(projectRoot, "tools/run.mjs"), script, AGENT.host, String(AGENT.port)];
      const log = join(testbed().directory, "access-logs.log");
      const sink: Program = startProgram({ name: "access log sink", command: first, args: [...rest, ...node], log, env, cwd: projectRoot });
      const answer = () => JSON.parse(sink.output().trim().split("\n").at(-1) ?? "") as AccessLogAnswer;
      try {
        await waitFor("the sink", async () => answer());
        await use(answer);
      } finally {
        await sink.stop();
      }
    }

    it(
      "send the requests that they ask for, within two seconds, and no others",
      () =>
        withSink(async (answer) => {
          const inForce = await meshes().apply({ policies: [failed], settings: withAgent });
          expect(inForce.status("failed")).toMatchObject({ state: "ACCEPTED" });
          await meshes().request({ host: reviews });
          expect(answer().entries).toEqual([]);

          const headers = { "x-debug": "on", authorization: "Bearer secret" };
          await meshes().request({ host: reviews, headers, count: 1 });
          const start = performance.now();
          await waitFor("an entry", async () => answer().entries.length > 0, { timeoutMs: SEEN_MS, everyMs: 50 });
          console.log(`an entry was seen ${Math.round(performance.now() - start)} ms after the answer`);
          expect(answer().entries).toMatchObject([
            {
              logName: "accesslog.failed.gloo-mesh",
              direction: "outbound",
              proxy: { namespace: "bookinfo" },
              status: 200,
              requestHeaders: { "x-debug": "on" },
            },
          ]);
          expect(JSON.stringify(answer())).not.toContain("secret");
        }),
      TIMEOUT_MS,
    );

    it(
      "cost no request while no agent is there, nor where their cluster is not known yet",
      async () => {
        await meshes().apply({ policies: [failed], settings: withAgent });
        const headers = { "x-debug": "on" };
        expect((await meshes().request({ host: reviews, headers, count: 50 })).status).toEqual({ "200": 50 });
        // As when its filter is written before that of the cluster.
        const { items } = await meshes().apply({ policies: [failed], settings: withAgent });
        const loggers = items.filter(({ kind, metadata }) => kind === "EnvoyFilter" && metadata.name !== "gloo-mesh-agent");
        expect(loggers.length).toBeGreaterThan(0);
        const own = loggers.map(({ apiVersion, kind, metadata: { name, namespace = "" }, spec }) => ({
          apiVersion,
          kind,
          metadata: { name, namespace },
          spec,
        }));
        await meshes().apply({ own: { "cluster-1": own as readonly AnyResource[] } });
        expect((await meshes().request({ host: reviews, headers, count: 50 })).status).toEqual({ "200": 50 });
      },
      TIMEOUT_MS,
    );
  });
}
