import { CODE_CLASSES, edgeKey, noSignals, OTHER_EDGES, SIGNAL_AT, type TrafficEdge } from "@isthmus/core";
import { describe, expect, it } from "vitest";
import type { EdgeSignals, ProxyTraffic } from "../src/proxySignals.ts";
import { MOST_ANSWER_BYTES, parseTrafficAnswer, trafficAnswerText } from "../src/traffic/trafficAnswer.ts";
import { type TrafficCounter, trafficCounter } from "../src/traffic/trafficCounter.ts";

const OK = SIGNAL_AT.codes + CODE_CLASSES.indexOf("2xx");
const EDGE: TrafficEdge = {
  sourceNamespace: "shop",
  sourceWorkload: "web",
  namespace: "books",
  service: "reviews",
  workload: "v1",
  cluster: "",
};
const ROUND = { targets: 1, scraped: 1 };

type EdgeCount = readonly [requests: number, edge?: Partial<TrafficEdge>];

function edges(...rows: readonly EdgeCount[]): ReadonlyMap<string, EdgeSignals> {
  return new Map(
    rows.map(([requests, more]) => {
      const edge = { ...EDGE, ...more };
      const signals = noSignals();
      signals[OK] = requests;
      return [edgeKey(edge), { edge, signals }];
    }),
  );
}

const sent = (...rows: readonly EdgeCount[]): ProxyTraffic => ({ sent: edges(...rows), received: new Map(), refused: 0 });
const pod = (name: string, { namespace = "shop", workload = "web", isNew = false } = {}) => ({
  key: `${namespace}/${name}`,
  namespace,
  workload,
  isNew,
});

function counting(options: { readonly mostKept?: number; readonly forgotten?: (edges: number) => void } = {}) {
  let time = 0;
  const counter = trafficCounter({ epoch: "e", now: () => time, ...options });
  const requests = (answer: ReturnType<TrafficCounter["answer"]>) =>
    Object.fromEntries(answer.edges.map(({ edge, signals }) => [`${edge.sourceWorkload}>${edge.service}`, signals[OK]]));
  return {
    counter,
    requests,
    pass(ms: number, keys = ["shop/a"]) {
      time += ms;
      counter.endRound(new Set(keys), ROUND);
    },
  };
}

describe("traffic of a cluster", () => {
  it("counts from the first scrape, and a pod that came later from its beginning", () => {
    const { counter, pass, requests } = counting();
    counter.proxy(pod("a"), sent([1000]), true);
    pass(30_000);
    counter.proxy(pod("a"), sent([1007]), true);
    counter.proxy(pod("b", { isNew: true }), sent([3]), true);
    pass(30_000, ["shop/a", "shop/b"]);
    const answer = counter.answer({});
    expect(requests(answer)).toEqual({ "web>reviews": 10 });
    expect(answer).toMatchObject({ epoch: "e", sequence: 1, spanMs: 60_000, ageMs: 0, ...ROUND });
  });

  it("counts all of a counter that began again, and loses nothing when a pod is gone", () => {
    const { counter, pass, requests } = counting();
    counter.proxy(pod("a"), sent([100]), true);
    counter.proxy(pod("a"), sent([110]), true);
    counter.proxy(pod("a"), sent([4]), true);
    pass(30_000, []);
    expect(requests(counter.answer({}))).toEqual({ "web>reviews": 14 });
  });

  it("does not count twice what an incomplete scrape left out", () => {
    const { counter, pass, requests } = counting();
    counter.proxy(pod("a"), sent([100], [50, { service: "details" }]), true);
    counter.proxy(pod("a"), sent([101]), false);
    counter.proxy(pod("a"), sent([101], [52, { service: "details" }]), true);
    pass(1);
    expect(requests(counter.answer({}))).toEqual({ "web>reviews": 1, "web>details": 2 });
  });

  it("counts a request where it was sent, and where it arrived only if nobody scrapes the sender", () => {
    const { counter, pass, requests } = counting();
    const received = (count: number): ProxyTraffic => ({
      sent: new Map(),
      received: edges([count], [count, { sourceWorkload: "cron" }], [count, { sourceNamespace: "", sourceWorkload: "" }]),
      refused: 0,
    });
    const reviews = pod("r", { namespace: "books", workload: "v1" });
    for (const count of [0, 5]) {
      counter.proxy(pod("a"), sent([count]), true);
      counter.proxy(reviews, received(count), true);
      pass(30_000, ["shop/a", "books/r"]);
    }
    expect(requests(counter.answer({}))).toEqual({ "web>reviews": 5, "cron>reviews": 5, ">reviews": 5 });
  });

  it("counts what a workload sends once in the round in which it comes, whichever end is read first", () => {
    const { counter, pass, requests } = counting();
    const reviews = pod("r", { namespace: "books", workload: "v1" });
    const received = (count: number): ProxyTraffic => ({ sent: new Map(), received: edges([count]), refused: 0 });
    counter.proxy(reviews, received(0), true);
    pass(30_000, ["books/r"]);
    counter.startRound(new Set(["shop/web"]));
    counter.proxy(reviews, received(5), true);
    counter.proxy(pod("a", { isNew: true }), sent([5]), true);
    pass(30_000, ["books/r", "shop/a"]);
    expect(requests(counter.answer({}))).toEqual({ "web>reviews": 5 });
  });

  it("sends again what did not arrive, and nothing twice that did", () => {
    const { counter, pass, requests } = counting();
    counter.proxy(pod("a"), sent([0]), true);
    counter.proxy(pod("a"), sent([5]), true);
    pass(30_000);
    counter.answer({});
    counter.proxy(pod("a"), sent([8]), true);
    pass(30_000);
    const again = counter.answer({ received: { epoch: "another", sequence: 1 } });
    expect(requests(again)).toEqual({ "web>reviews": 8 });
    expect(again.spanMs).toBe(60_000);
    expect(counter.answer({ received: { epoch: "e", sequence: again.sequence } })).toMatchObject({ edges: [], spanMs: 0 });
  });

  it("forgets what nobody asks for within five minutes", () => {
    const { counter, pass } = counting();
    counter.proxy(pod("a"), sent([0]), true);
    for (let round = 1; round <= 11; round++) {
      counter.proxy(pod("a"), sent([round]), true);
      pass(30_000);
    }
    expect(counter.answer({})).toMatchObject({ edges: [], spanMs: 0 });
  });

  it("is bounded: a namespace with very many edges takes no room from others, and its sum is right", () => {
    const { counter, pass } = counting();
    const crowd = Array.from({ length: 7_000 }, (_, i): EdgeCount => [1, { service: `s${i}` }]);
    const evil = (count: number) => pod(`e${count}`, { namespace: "evil", isNew: true });
    for (let at = 0; at < crowd.length; at += 500) counter.proxy(evil(at), sent(...crowd.slice(at, at + 500)), true);
    counter.proxy(pod("a", { isNew: true }), sent([1, { service: "late" }]), true);
    pass(1);
    const answer = counter.answer({});
    expect(answer.edges.length).toBe(5_001);
    expect(answer.edges.some(({ edge }) => edge.service === "late")).toBe(true);
    const other = answer.edges.find(({ edge }) => edge.service === OTHER_EDGES);
    expect([other?.edge.sourceNamespace, other?.signals[OK]]).toEqual(["evil", 2_001]);
    const text = trafficAnswerText(answer);
    expect(text.length).toBeLessThan(MOST_ANSWER_BYTES);
    expect(parseTrafficAnswer(new TextEncoder().encode(text))).toEqual(answer);
  });

  it("remembers proxies of each namespace, however many edges those of another have, and says how many it forgets", () => {
    const forgotten: number[] = [];
    const { counter, pass, requests } = counting({ mostKept: 100, forgotten: (edges) => forgotten.push(edges) });
    const keys = ["shop/a", "shop/b", ...Array.from({ length: 5 }, (_, i) => `evil/e${i}`)];
    const invented = Array.from({ length: 20 }, (_, i): EdgeCount => [1, { sourceNamespace: "evil", service: `s${i}` }]);
    for (const count of [0, 5, 7]) {
      for (let i = 0; i < 5; i++) counter.proxy(pod(`e${i}`, { namespace: "evil" }), sent(...invented), true);
      counter.proxy(pod("a"), sent([count]), true);
      counter.proxy(pod("b"), sent([count, { service: "details" }]), true);
      pass(1, keys);
    }
    expect(requests(counter.answer({}))).toEqual({ "web>reviews": 7, "web>details": 7 });
    // One of five gives way in the first round, and finds no room in those that follow.
    expect(forgotten).toEqual([20, 20, 20]);
  });

  it("shows a control plane however many pods of another namespace look like one, and forgets those that are gone", () => {
    const { counter, pass } = counting();
    const counts = (pushes: number) => ({ proxies: 7, counts: Float64Array.from([pushes, 0, 0, 0, 0]) });
    const evil = Array.from({ length: 60 }, (_, i) => pod(`istiod-${i}`, { namespace: "evil", workload: `istiod-${i}`, isNew: true }));
    const istiod = pod("istiod-1", { namespace: "istio-system", workload: "istiod" });
    for (const one of evil) counter.controlPlane(one, counts(1));
    for (const pushes of [100, 103]) {
      counter.controlPlane(istiod, counts(pushes));
      for (const one of evil) counter.controlPlane(one, counts(1));
    }
    pass(1, [istiod.key, ...evil.map(({ key }) => key)]);
    const { controlPlanes } = counter.answer({});
    expect(controlPlanes).toContainEqual({ namespace: "istio-system", workload: "istiod", proxies: 7, counts: [3, 0, 0, 0, 0] });
    expect(controlPlanes).toHaveLength(50);
    pass(1, [istiod.key]);
    expect(counter.answer({}).controlPlanes.map(({ namespace }) => namespace)).toEqual(["istio-system"]);
  });

  it("has room again when proxies are gone", () => {
    const forgotten: number[] = [];
    const { counter, pass, requests } = counting({ mostKept: 1, forgotten: (edges) => forgotten.push(edges) });
    counter.proxy(pod("old"), sent([1]), true);
    counter.proxy(pod("a"), sent([1]), true);
    pass(1);
    for (const count of [2, 5]) counter.proxy(pod("a"), sent([count]), true);
    pass(1);
    expect([requests(counter.answer({})), forgotten]).toEqual([{ "web>reviews": 3 }, [1]]);
  });
});

describe("an answer", () => {
  const answer = { epoch: "e", sequence: 1, ageMs: 0, spanMs: 30_000, targets: 1, scraped: 1, edges: [], controlPlanes: [] };
  const row = ["a", "b", "c", "d", "e", "", ...noSignals()];
  it.each([
    ["no JSON", "{"],
    ["null", "null"],
    ["too much", JSON.stringify({ ...answer, more: "x".repeat(MOST_ANSWER_BYTES) })],
    ["what is too deep", `{"edges":${"[".repeat(100_000)}${"]".repeat(100_000)}}`],
    ["too many edges", JSON.stringify({ ...answer, edges: Array.from({ length: 6_001 }, () => row) })],
    ["too few numbers", JSON.stringify({ ...answer, edges: [row.slice(1)] })],
    ["a name with a line break", JSON.stringify({ ...answer, edges: [["a\nb", ...row.slice(1)]] })],
    ["a name that ends a label", JSON.stringify({ ...answer, edges: [['a"} 1', ...row.slice(1)]] })],
    ["a negative number", JSON.stringify({ ...answer, edges: [[...row.slice(0, -1), -1]] })],
    ["a number that is none", `{"epoch":"e","sequence":1e999,"edges":[],"controlPlanes":[]}`],
    ["an epoch that is too long", JSON.stringify({ ...answer, epoch: "e".repeat(65) })],
  ])("with %s is none", (_, text) => {
    expect(() => parseTrafficAnswer(new TextEncoder().encode(text))).toThrow(/^the agent's answer /);
  });

  it("says when nothing is scraped", () => {
    expect(parseTrafficAnswer(new TextEncoder().encode('{"off":true}'))).toBeUndefined();
  });
});
