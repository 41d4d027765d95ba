import { createRequest, createRoot, issueClientCertificate } from "@isthmus/certificates";
import { MAX_OUTCOMES_BYTES, parseWasmOutcomes, type WasmOutcome, wasmOutcomesText } from "@isthmus/dataplane";
import { systemClock } from "@isthmus/plane";
import { replicaKeys, startReplicaPort } from "@isthmus/relay";
import { eventually } from "@isthmus/testing/eventually";
import { afterEach, expect, it } from "vitest";
import { answerReplica, replicaClient } from "../src/replicas.ts";
import { startOtherOutcomes, WASM_OUTCOMES_TOPIC } from "../src/wasmReplicas.ts";

const log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const stop = new AbortController();
const ended: Promise<void>[] = [];
afterEach(async () => {
  stop.abort(new Error("the test is over"));
  await Promise.all(ended);
});

function outcome(pod: string, more: WasmOutcome["outcome"] = { state: "ACCEPTED", version: "v1" }): WasmOutcome {
  return { pod: { namespace: "shop", name: pod, workloadName: "web" }, filter: "wasm.one", outcome: more };
}

it("of other replicas are known to the one that leads, and to no other", async () => {
  const root = await createRoot({ commonName: "root", now: Date.now() });
  const { request, key } = await createRequest("east");
  const certificate = await issueClientCertificate(root, request, { dnsNames: ["east"], now: Date.now() });
  const keys = replicaKeys({ load: async () => ({ certificate, key, root: root.certificate }), clock: systemClock, log });
  await keys.reload();
  let there = [outcome("web-1")];
  const answer = answerReplica({ [WASM_OUTCOMES_TOPIC]: () => wasmOutcomesText(there) });
  const port = startReplicaPort({ host: "127.0.0.1", port: 0, name: "agent-2", keys, answer, clock: systemClock, log }, stop.signal);
  const others = () => [{ name: "agent-2", addresses: ["127.0.0.1"] }];
  const replicas = replicaClient({ others, keys, port: await port.listening, allowance: { loopback: true }, log });
  const leadership = { isLeader: true };
  let changes = 0;
  const changed = () => {
    changes += 1;
  };
  const started = startOtherOutcomes({ replicas, leadership, changed, everyMs: 20, clock: systemClock }, stop.signal);
  ended.push(port.ended, started.ended);
  await eventually(() => expect(started.outcomes).toEqual([outcome("web-1")]));
  expect(changes).toBe(1);
  there = [outcome("web-1", { state: "REFUSED", version: "v2", error: "no module" }), outcome("web-2", { state: "PENDING" })];
  await eventually(() => expect(started.outcomes).toEqual(there));
  expect(changes).toBe(2);
  leadership.isLeader = false;
  await eventually(() => expect(started.outcomes).toEqual([]));
});

it("are bounded, and what is none is refused", () => {
  const long = Array.from({ length: 20_000 }, (_, i) => outcome(`web-${i}`, { state: "REFUSED", version: "v1", error: "x".repeat(5_000) }));
  const body = wasmOutcomesText(long);
  expect(body.length).toBeLessThanOrEqual(MAX_OUTCOMES_BYTES);
  expect(parseWasmOutcomes(body)[0]?.outcome).toEqual({ state: "REFUSED", version: "v1", error: "x".repeat(512) });
  const bytes = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));
  for (const wrong of [
    {},
    [1],
    [{}],
    [{ ...outcome("web-1"), outcome: { state: "ACCEPTED" } }],
    [{ ...outcome("web-1"), filter: "x".repeat(2_000) }],
  ])
    expect(() => parseWasmOutcomes(bytes(wrong))).toThrow("no list of what became of Wasm filters");
});
