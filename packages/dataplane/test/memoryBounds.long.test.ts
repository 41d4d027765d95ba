import { create } from "@bufbuild/protobuf";
import { edgeKey, noSignals, SIGNAL_AT, type TrafficEdge } from "@isthmus/core";
import { heldBy, longText, MEBIBYTE } from "@isthmus/testing";
import { expect, test } from "vitest";
import { accessLogStream } from "../src/accessLogs/accessLogStream.ts";
import { entryStore } from "../src/accessLogs/entryStore.ts";
import { CONTROL_PLANE_COUNTERS } from "../src/controlPlaneSignals.ts";
import { expositionParser } from "../src/exposition.ts";
import { DiscoveryRequestSchema } from "../src/gen/envoy/service/discovery/v3/discovery_pb.ts";
import { PROXY_METRICS, proxySignals } from "../src/proxySignals.ts";
import { fleetTraffic } from "../src/traffic/fleetTraffic.ts";
import { trafficCounter } from "../src/traffic/trafficCounter.ts";
import { extensionConfigStream } from "../src/wasm/extensionConfigStream.ts";
import { introduction, message } from "./messages.ts";

/** What a name of Kubernetes may have. */
const NAME = "n".repeat(253);
const named = (i: number) => `${i}-`.padEnd(250, "n");

// Each is filled with the longest texts that it takes, beyond its bound. What is allowed is twice what the bound says.

test("entries of access logs, their log names and claimed pods", async () => {
  const bytes = 4 * MEBIBYTE;
  const held = await heldBy(() => {
    const store = entryStore({ entriesPerProxy: 50, proxies: 5_000, bytes }, () => undefined);
    const parts = {
      entriesPerProxy: 50,
      podsAt: () => [],
      introduced: () => undefined,
      dropped: () => undefined,
      now: () => 0,
      keep: store.add,
    };
    const streams = Array.from({ length: 60 }, (_, i) => {
      const take = accessLogStream("10.0.0.7", parts);
      take(message([], { ...introduction(`pod-${i}`, { logName: longText(i, 100_000), workload: longText(i, 100_000) }) }));
      for (let part = 0; part < 2; part++) {
        const request = {
          path: `/${longText(part, 20_000)}`,
          authority: longText(part, 14_000),
          requestHeaders: { a: longText(part, 20_000) },
        };
        take(message(Array.from({ length: 10 }, () => ({ request, response: { responseCode: 200 } }))));
      }
      return take;
    });
    expect(store.bytes).toBeGreaterThan(bytes / 2);
    return [store, streams];
  });
  expect(held).toBeLessThan(2 * bytes);
});

test("names that proxies ask filters for, and their words about them", async () => {
  const streams = 10;
  // 64 names, and 64 errors of 1,024 letters.
  const bytes = streams * 64 * (253 + 1_024);
  const held = await heldBy(() =>
    Array.from({ length: streams }, (_, i) => {
      const stream = extensionConfigStream();
      const resourceNames = Array.from({ length: 64 }, (_, name) => named(name));
      const node = {
        id: `sidecar~10.0.0.7~pod-${i}.${NAME}~${longText(i)}`,
        metadata: { WORKLOAD_NAME: longText(i), OWNER: `${longText(i)}/a` },
      };
      stream.receive(create(DiscoveryRequestSchema, { node, resourceNames }));
      const config = { version: "1", config: new Uint8Array(1) };
      stream.next(new Map(resourceNames.map((name) => [name, config])));
      const errorDetail = { message: longText(i) };
      stream.receive(create(DiscoveryRequestSchema, { resourceNames, responseNonce: "1", errorDetail }));
      expect([...stream.outcomes().values()].every(({ state }) => state === "REFUSED")).toBe(true);
      return stream;
    }),
  );
  expect(held).toBeLessThan(2 * bytes + MEBIBYTE);
});

test("labels of what proxies have counted", async () => {
  const mostKept = 4_000;
  // "About 60 MB" for 100,000.
  const bytes = mostKept * 600;
  const held = await heldBy(() => {
    const counter = trafficCounter({ epoch: "e", now: () => 0, mostKept });
    for (let pod = 0; pod < 40; pod++) {
      const signals = proxySignals({ namespace: `team-${pod % 4}`, workload: `web-${pod}` }, 500);
      const parser = expositionParser(PROXY_METRICS, signals.take, { bytes: 8 * MEBIBYTE, samples: 10_000 });
      // Each line is a part of a text of 64 KiB.
      const lines = Array.from({ length: 120 }, (_, i) => {
        const labels = `destination_workload="${named(i)}",destination_workload_namespace="${named(pod)}",destination_service_name="${named(i)}"`;
        return `istio_requests_total{reporter="source",${labels},destination_service_namespace="a",response_code="200",filler="${"x".repeat(10_000)}"} ${i + 1}`;
      });
      const text = Buffer.from(`${lines.join("\n")}\n`);
      for (let from = 0; from < text.length; from += 65_536) parser.write(text.subarray(from, from + 65_536));
      parser.end();
      const key = `team-${pod % 4}/pod-${pod}`;
      const traffic = signals.traffic();
      expect(traffic.sent.size).toBe(120);
      counter.proxy({ key, namespace: `team-${pod % 4}`, workload: `web-${pod}`, isNew: false }, traffic, true);
    }
    return counter;
  });
  expect(held).toBeLessThan(2 * bytes);
});

test("edges of the fleet", async () => {
  const most = 2_000;
  // "Each takes 5 KB", and at the most six long names.
  const bytes = most * (5_000 + 7 * 253);
  const held = await heldBy(() => {
    const traffic = fleetTraffic(most);
    const signals = noSignals();
    signals[SIGNAL_AT.codes] = 1;
    for (let cluster = 0; cluster < 4; cluster++) {
      const edges = Array.from({ length: 1_000 }, (_, i) => {
        const edge: TrafficEdge = {
          sourceNamespace: named(i),
          sourceWorkload: NAME,
          namespace: NAME,
          service: NAME,
          workload: NAME,
          cluster: NAME,
        };
        expect(edgeKey(edge).length).toBeGreaterThan(1_000);
        return { edge, signals };
      });
      const about = { epoch: "e", sequence: 1, ageMs: 0, spanMs: 60_000, targets: 1, scraped: 1, controlPlanes: [] };
      traffic.take(`cluster-${cluster}`, { ...about, edges }, 3_600_000);
    }
    expect(traffic.edges).toBe(most);
    return traffic;
  });
  expect(held).toBeLessThan(2 * bytes);
});

test("edges that an agent is still to answer with, and pods of control planes", async () => {
  // 5,000 edges, 1,000 that stand for others, and what is known of proxies (see above), each with six names.
  const mostKept = 2_000;
  const bytes = (5_000 + 1_000) * (6 * 253 + 600) + mostKept * 600;
  const held = await heldBy(() => {
    const counter = trafficCounter({ epoch: "e", now: () => 0, mostKept });
    for (let namespace = 0; namespace < 1_200; namespace++) {
      const sent = new Map(
        Array.from({ length: 10 }, (_, i) => {
          const edge: TrafficEdge = {
            sourceNamespace: named(namespace),
            sourceWorkload: named(i),
            namespace: NAME,
            service: named(i),
            workload: longText(i, 253),
            cluster: NAME,
          };
          const signals = noSignals();
          signals[SIGNAL_AT.codes] = 1;
          return [edgeKey(edge), { edge, signals }] as const;
        }),
      );
      const key = `${named(namespace)}/pod`;
      counter.proxy({ key, namespace: named(namespace), workload: "web", isNew: true }, { sent, received: new Map(), refused: 0 }, true);
      const plane = { key, namespace: named(namespace), workload: longText(namespace, 253), isNew: true };
      counter.controlPlane(plane, { proxies: 1, counts: new Float64Array(CONTROL_PLANE_COUNTERS.length) });
    }
    counter.endRound(new Set(Array.from({ length: 1_200 }, (_, namespace) => `${named(namespace)}/pod`)), { targets: 1, scraped: 1 });
    return counter;
  });
  expect(held).toBeLessThan(2 * bytes);
});
