import { create, toBinary } from "@bufbuild/protobuf";
import { type Resource, type ResourceRef, refOf, SortedMap } from "@isthmus/core";
import { RegisterRequestSchema, RegisterResponseSchema } from "../src/gen/relay/v1/registration_pb.ts";
import { ConnectRequestSchema, ConnectResponseSchema } from "../src/gen/relay/v1/relay_pb.ts";
import { type NoticeItem, noticeItems, withItems } from "../src/session/notices.ts";
import { rejectionMessage } from "../src/session/wire.ts";
import { deployment, KINDS, service, virtualService } from "./sessionFleet.ts";
import { sessionPair } from "./sessionPair.ts";

const CLUSTER = "cluster-1";
const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";

/** Conversations that use everything that the wire can say, to be recorded. */
export function converse(): Readonly<Record<string, unknown>> {
  return { session: session(), parts: parts(), notices: notices(), registration: registration() };
}

function session() {
  const pair = sessionPair([...KINDS, "batch/Job"]);
  const record = recorder(pair);
  pair.put(service(CLUSTER, "reviews", { spec: { ports: [{ port: 9080 }] } }));
  pair.put(service(CLUSTER, "ratings"));
  pair.put(deployment(CLUSTER, "reviews-v1"));
  pair.agentDo({
    type: "observed",
    observation: {
      put: [],
      remove: [],
      withheld: [{ ref: refOf(deployment(CLUSTER, "odd")), code: "Malformed", message: "spec is required" }],
      traces: [TRACE],
    },
  });
  pair.want([virtualService(CLUSTER, "a", { spec: { weight: 1 } }), virtualService(CLUSTER, "b")]);
  record.run();
  pair.synced(KINDS, ["batch/Job"]);
  record.run();
  pair.remove(refOf(service(CLUSTER, "ratings")));
  pair.want([virtualService(CLUSTER, "b")], [TRACE]);
  record.run([{ ref: refOf(virtualService(CLUSTER, "b")), code: "Conflict", message: "VirtualService b.bookinfo: is not ours" }]);
  pair.tick();
  record.run();
  const epoch = pair.epoch;
  pair.down.push(create(ConnectResponseSchema, { epoch, body: { case: "resync", value: { kinds: ["/Service"] } } }));
  pair.up.push(create(ConnectRequestSchema, { epoch, body: { case: "resync", value: {} } }));
  record.run();
  pair.serverDo({ type: "ask", query: { topic: "logs", body: new TextEncoder().encode("last 2 lines") } });
  record.run();
  pair.agentDo({ type: "answered", epoch: pair.epoch, id: 1, reply: { body: new TextEncoder().encode("one\ntwo") } });
  record.run();
  pair.serverDo({ type: "drain", reconnectAfterMs: 5_000 });
  record.run();
  return record.result();
}

/** What a server tells beside what it wants. */
function notices() {
  const pair = sessionPair(KINDS);
  const record = recorder(pair);
  pair.synced(KINDS);
  record.run();
  const status = (state: string) => [{ ...service(CLUSTER, "reviews"), status: { state } }];
  const tell = (put: readonly Resource[], remove: readonly ResourceRef[]) => {
    const items = noticeItems({ put, remove });
    told = withItems(told, items);
    pair.serverDo({ type: "tell", all: told, items });
    record.run();
  };
  let told = SortedMap.empty<NoticeItem>();
  tell(status("ACCEPTED"), []);
  tell(status("FAILED"), []);
  tell([], [refOf(service(CLUSTER, "reviews"))]);
  pair.tick();
  record.run();
  return record.result();
}

/** Desired sets, acknowledgements and answers in several messages, as they come when they are large. */
function parts() {
  const pair = sessionPair(KINDS);
  const record = recorder(pair);
  pair.synced(KINDS);
  record.run();
  const wanted = ["a", "b", "c"].map((name) => virtualService(CLUSTER, name));
  pair.want(wanted);
  pair.flushServer();
  const [whole] = pair.down.splice(0);
  if (whole?.body.case !== "down") throw new Error("a desired set was expected");
  const { upserts } = whole.body.value;
  pair.down.push(
    ...upserts.map((body, i) =>
      create(ConnectResponseSchema, {
        epoch: whole.epoch,
        body: { case: "down", value: { revision: 1, part: i + 1, last: i + 1 === upserts.length, complete: true, upserts: [body] } },
      }),
    ),
  );
  record.run([], false);
  const rejected = wanted.slice(0, 2).map((resource) => rejectionMessage({ ref: refOf(resource), code: "Failed", message: "timeout" }));
  pair.up.push(
    ...rejected.map((rejection, i) =>
      create(ConnectRequestSchema, {
        epoch: whole.epoch,
        body: { case: "ack", value: { revision: 1, part: i + 1, last: i === 1, rejected: [rejection] } },
      }),
    ),
  );
  pair.serverDo({ type: "ask", query: { topic: "logs", body: new Uint8Array() } });
  record.run([], false);
  pair.up.push(
    ...["one", "two"].map((text, i) =>
      create(ConnectRequestSchema, {
        epoch: whole.epoch,
        body: { case: "answer", value: { id: 1, part: i + 1, last: i === 1, body: new TextEncoder().encode(text) } },
      }),
    ),
  );
  record.run([], false);
  return record.result();
}

function registration() {
  const request = create(RegisterRequestSchema, {
    token: "token",
    certificateRequest: "request in PEM",
    clusterName: CLUSTER,
    clusterUid: "uid",
  });
  const response = create(RegisterResponseSchema, { certificateChain: "chain in PEM", root: "root in PEM" });
  return {
    request: Buffer.from(toBinary(RegisterRequestSchema, request)).toString("base64"),
    response: Buffer.from(toBinary(RegisterResponseSchema, response)).toString("base64"),
  };
}

/** Delivers messages in turn, and writes down each of them. */
function recorder(pair: ReturnType<typeof sessionPair>) {
  const frames: { from: string; body: string; base64: string }[] = [];
  return {
    run(rejected: Parameters<typeof pair.acknowledge>[0] = [], acknowledges = true) {
      let isBusy = true;
      while (isBusy) {
        isBusy = [pair.flushAgent(), pair.flushServer()].includes(true);
        const [up] = pair.up;
        if (up !== undefined)
          frames.push({
            from: "agent",
            body: up.body.case ?? "",
            base64: Buffer.from(toBinary(ConnectRequestSchema, up)).toString("base64"),
          });
        const [down] = pair.down;
        pair.deliverUp();
        if (down !== undefined)
          frames.push({
            from: "server",
            body: down.body.case ?? "",
            base64: Buffer.from(toBinary(ConnectResponseSchema, down)).toString("base64"),
          });
        if (down !== undefined) pair.deliverDown();
        isBusy = [isBusy, up !== undefined, down !== undefined, acknowledges && pair.acknowledge(rejected)].includes(true);
      }
    },
    result() {
      const server = pair.serverEffects.flatMap((effect): unknown[] => {
        if (effect.type === "observed") return [{ observed: effect.observation }];
        if (effect.type === "synced")
          return [{ synced: [...effect.complete].map(([kind, keys]) => [kind, [...keys]]), unserved: [...effect.unserved] }];
        if (effect.type === "acknowledged") return [{ acknowledged: effect.acknowledgement }];
        if (effect.type === "answered")
          return [{ answered: "error" in effect.reply ? effect.reply.error : Buffer.from(effect.reply.body).toString("utf8") }];
        return [];
      });
      const agent = pair.agentEffects.flatMap((effect): unknown[] => {
        if (effect.type === "deliver") return [{ desired: effect.desired }];
        if (effect.type === "told") return [{ told: effect.notices }];
        if (effect.type === "ask") return [{ asked: effect.query.topic }];
        if (effect.type === "drain") return [{ drain: effect.reconnectAfterMs }];
        return [];
      });
      return { frames, server, agent };
    },
  };
}
