import { Duplex } from "node:stream";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { Client, type ClientDuplexStream, credentials, Metadata } from "@grpc/grpc-js";
import { refOf } from "@isthmus/core";
import { afterEach, expect, test } from "vitest";
import { type ConnectRequest, ConnectRequestSchema, type ConnectResponse, ConnectResponseSchema } from "../src/gen/relay/v1/relay_pb.ts";
import { DEFAULT_AUTHORITY } from "../src/index.ts";
import { type ConnectCall, serveStream } from "../src/transport/serverStream.ts";
import { connectMethod } from "../src/transport/serviceDefinition.ts";
import { startTurns } from "../src/transport/turns.ts";
import { type RealServer, realServer, TOKEN, until } from "./realRelay.ts";
import { service, virtualService, wantedSet } from "./sessionFleet.ts";

const CLUSTER = "cluster-1";
const stops: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

/** An agent that reads nothing until the test says so, over a real socket with HTTP/2's smallest usual window. */
async function deafAgent(server: RealServer) {
  const client = new Client(server.address, credentials.createSsl(Buffer.from(server.identity.root)), {
    "grpc.ssl_target_name_override": DEFAULT_AUTHORITY,
    "grpc.default_authority": DEFAULT_AUTHORITY,
    "grpc-node.flow_control_window": 65_535,
  });
  const metadata = new Metadata();
  metadata.set("x-cluster-id", CLUSTER);
  metadata.set("x-cluster-uid", "uid");
  metadata.set("authorization", `Bearer ${TOKEN}`);
  const { path, requestSerialize, responseDeserialize } = connectMethod;
  const call: ClientDuplexStream<ConnectRequest, ConnectResponse> = client.makeBidiStreamRequest(
    path,
    requestSerialize,
    responseDeserialize,
    metadata,
  );
  call.on("error", () => undefined);
  stops.push(() => {
    call.cancel();
    client.close();
  });
  const say = (body: MessageInitShape<typeof ConnectRequestSchema>["body"]) =>
    call.write(create(ConnectRequestSchema, { epoch: 1n, ...(body === undefined ? {} : { body }) }));
  say({ case: "hello", value: { protocolVersion: 1, instance: "deaf", clusterUid: "uid" } });
  await until(() => server.events.length > 0, "the agent is connected");
  return { call, say };
}

async function tlsServer(): Promise<RealServer> {
  const server = await realServer({ clientCertificates: false });
  stops.push(server.stop);
  return server;
}

function counted({ link }: RealServer, name: string, type: string): number {
  return link.metrics().find((metric) => metric.name === name && metric.labels["type"] === type)?.value ?? 0;
}

/** The value once it has stopped growing. */
async function settled(value: () => number): Promise<number> {
  for (let before = -1, quiet = 0; ; before = value()) {
    quiet = value() === before ? quiet + 1 : 0;
    if (quiet === 10) return before;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

test("what an agent that does not read is to be sent waits in the outbox, not as written messages", async () => {
  const server = await tlsServer();
  const { call, say } = await deafAgent(server);
  say({ case: "syncComplete", value: { kinds: [], unserved: [] } });
  await until(() => server.synced.has(CLUSTER), "the cluster is synced");
  const text = "x".repeat(90_000);
  const objects = Array.from({ length: 1_400 }, (_, i) => virtualService(CLUSTER, `large-${i}`, { spec: { text } }));
  const evidenceOf = () => ({ reason: "InputChanged", inputs: [refOf(service(CLUSTER, "x"))] }) as const;
  server.link.setDesired(CLUSTER, wantedSet(objects), { evidenceOf });
  await settled(() => counted(server, "relay_server_messages_sent_total", "down"));
  // On a busy machine it may still grow: both are read at once.
  const sent = counted(server, "relay_server_messages_sent_total", "down");
  const [waiting] = server.link.metrics().filter(({ name }) => name === "relay_server_outbox_objects");
  // 126 MB are desired. Sockets of both ends take some of it: on Linux their buffers grow to 36 MB, and 54 have been seen on a busy machine.
  // Two messages may wait behind them.
  expect(sent).toBeLessThan(800);
  expect(waiting?.value).toBe(objects.length - sent);

  const names = new Set<string>();
  call.on("data", ({ body }: ConnectResponse) => {
    if (body.case === "down") for (const { ref } of body.value.upserts) names.add(ref?.name ?? "");
  });
  await until(() => names.size === objects.length, "everything has come");
});

/** A call whose messages reach its socket when the test says so. */
function slowCall() {
  const writing: (() => void)[] = [];
  const duplex = new Duplex({ objectMode: true, read: () => undefined, write: (_message, _encoding, done) => void writing.push(done) });
  const call = Object.assign(duplex, { cancelled: false, sendMetadata: () => undefined });
  return { call: call as unknown as ConnectCall, writing };
}

test("an agent that talks and does not read is not listened to for ever", async () => {
  const { call, writing } = slowCall();
  let received = 0;
  let drained = 0;
  const hints: boolean[] = [];
  serveStream(call, {
    peerOf: async () => ({ clusterName: CLUSTER, address: "nowhere", authentication: "none" }),
    greeting: async () => new Metadata(),
    refusal: () => ({ code: 2, details: "", metadata: new Metadata() }),
    accept: (_, stream) => ({
      received() {
        received++;
        hints.push(stream.send(create(ConnectResponseSchema, { body: { case: "upAck", value: { seq: received } } })));
      },
      drained: () => void drained++,
      ended: () => undefined,
    }),
    turns: startTurns(),
  });
  const total = 1_000;
  for (let seq = 1; seq <= total; seq++) call.push(create(ConnectRequestSchema, { body: { case: "up", value: { seq } } }));
  await settled(() => received);
  expect(received).toBe(64);
  // From the second on the link is asked to hold back what can wait.
  expect(hints.slice(0, 3)).toEqual([true, false, false]);

  // The agent reads: all is heard, and the link hears that there is room again.
  while (received < total || writing.length > 0) {
    writing.shift()?.();
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(received).toBe(total);
  expect(drained).toBeGreaterThan(0);
});

test("an agent that says more than there is time for is listened to when its turn comes, and to its end", async () => {
  const { call } = slowCall();
  const jobs: (() => void)[] = [];
  const heard: string[] = [];
  serveStream(call, {
    peerOf: async () => ({ clusterName: CLUSTER, address: "nowhere", authentication: "none" }),
    greeting: async () => new Metadata(),
    refusal: () => ({ code: 2, details: "", metadata: new Metadata() }),
    accept: () => ({
      received: ({ body }) => void heard.push(body.case === "up" ? String(body.value.seq) : ""),
      drained: () => undefined,
      ended: ({ reason }) => void heard.push(reason),
    }),
    turns: { take: (job) => void jobs.push(job) },
  });
  for (const seq of [1, 2, 3]) call.push(create(ConnectRequestSchema, { body: { case: "up", value: { seq } } }));
  call.push(null);
  await settled(() => jobs.length);
  expect([jobs.length, heard, call.isPaused()]).toEqual([1, [], true]);
  for (const expected of ["1", "2", "3", "the agent ended the connection"]) {
    jobs.shift()?.();
    expect(heard.at(-1)).toBe(expected);
    await settled(() => jobs.length);
  }
  expect(heard).toHaveLength(4);
});
