import { afterEach, expect, it } from "vitest";
import { accessLogClient, type LoggedRequest } from "../src/index.ts";
import { type RunningSink, startSink } from "./runningSink.ts";

const proxy = { cluster: "cluster-1", namespace: "bookinfo", pod: "reviews-v1-abc", workload: "reviews-v1", address: "10.0.0.7" };
const request: LoggedRequest = {
  startMs: 1_700_000_000_250,
  durationMs: 12.5,
  upstreamCluster: "outbound|9080||ratings.bookinfo.svc.cluster.local",
  downstreamAddress: "10.0.0.7",
  upstreamAddress: "10.0.0.9",
  method: "GET",
  authority: "ratings:9080",
  path: "/ratings/0",
  status: 503,
  statusDetails: "no_healthy_upstream",
  flags: ["noHealthyUpstream"],
  requestId: "one",
  requestBytes: 10,
  responseBytes: 20,
};

let running: RunningSink | undefined;
const podsAt = (address: string) =>
  address === "127.0.0.1" || address === "10.0.0.7" ? [{ namespace: "bookinfo", name: "reviews-v1-abc", workloadName: "reviews-v1" }] : [];
afterEach(() => running?.stop());

it("entries of a proxy arrive as they were, on one stream, and as those of its pod", async () => {
  running = await startSink(podsAt);
  const client = accessLogClient(`127.0.0.1:${running.port}`);
  client.send(proxy, "failed", [request]);
  client.send(proxy, "failed", [{ ...request, requestId: "two" }]);
  await expect.poll(() => running?.sink.query({}).entries.length).toBe(2);
  expect(running.sink.query({}).entries.find(({ requestId }) => requestId === "one")).toEqual({
    time: "2023-11-14T22:13:20.250Z",
    protocol: "http",
    logName: "failed",
    direction: "outbound",
    proxy: { namespace: "bookinfo", workloadName: "reviews-v1", podName: "reviews-v1-abc" },
    verified: true,
    source: { namespace: "bookinfo", name: "reviews-v1", podName: "reviews-v1-abc" },
    destination: { namespace: "bookinfo", name: "ratings", address: "10.0.0.9" },
    method: "GET",
    authority: "ratings:9080",
    path: "/ratings/0",
    status: 503,
    statusDetails: "no_healthy_upstream",
    flags: [{ code: "UH", meaning: expect.stringContaining("no healthy endpoint") }],
    durationMs: 12.5,
    requestId: "one",
    receivedBytes: 10,
    sentBytes: 20,
  });
  expect(running.sink.metrics().find(({ name }) => name === "gloo_mesh_access_log_streams")?.value).toBe(1);
  client.close();
  await expect.poll(() => running?.sink.metrics().find(({ name }) => name === "gloo_mesh_access_log_streams")?.value).toBe(0);
});

it("what nobody takes is lost, and the next one who listens there gets what comes then", async () => {
  running = await startSink(podsAt);
  const { port } = running;
  const client = accessLogClient(`127.0.0.1:${port}`);
  client.send(proxy, "failed", [request]);
  await expect.poll(() => running?.sink.query({}).entries.length).toBe(1);
  await running.stop();
  client.send(proxy, "failed", [request]);
  running = await startSink(podsAt, { port });
  await expect
    .poll(() => {
      client.send(proxy, "failed", [{ ...request, requestId: "later" }]);
      return running?.sink.query({}).entries.some(({ requestId }) => requestId === "later");
    })
    .toBe(true);
  client.close();
});
